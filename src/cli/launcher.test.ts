import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { nodeRange, root } from './repository.ts'

test.each(['v20.20.2', 'v9.0.0', ''])('with Node.js "%s" the command says which is needed', (version) => {
  const folder = mkdtempSync(join(tmpdir(), 'florin-launcher-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'bin'))
  cpSync(join(root, 'bin/florin'), join(folder, 'bin/florin'))
  writeFileSync(join(folder, 'node'), `#!/bin/sh\n${version === '' ? 'exit 127' : `echo ${version}`}\n`)
  chmodSync(join(folder, 'node'), 0o755)
  const { status, stderr } = spawnSync(join(folder, 'bin/florin'), ['doctor'], {
    env: { PATH: `${folder}:/usr/bin:/bin` },
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(stderr).toContain(`needs Node.js ${nodeRange.replace('>=', '')} or newer, and found ${version || 'none'}`)
})
