import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { root } from '../src/cli/repository.ts'

/* The examples as programs: what they say in a terminal. Their pages are looked at in test/browser. */

function start(example: string, environment: Record<string, string>) {
  const child: ChildProcess = spawn(process.execPath, [join(root, 'examples', example, 'server.ts')], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const ended = once(child, 'close') as Promise<[number]>
  return {
    /** All of it, when it has ended. */
    outcome: async () => ({ code: (await ended)[0], said }),
    async hears(pattern: RegExp): Promise<string> {
      for (;;) {
        const [found] = pattern.exec(said) ?? []
        if (found !== undefined) return found
        await Promise.race([once(child.stdout ?? child, 'data'), once(child.stderr ?? child, 'data')])
      }
    },
  }
}

test.each(['shop', 'webhook-receiver'])(
  'the %s says when its port is taken, and how to take another',
  async (example) => {
    const taken = createServer()
    await once(taken.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void taken.close())
    const port = String((taken.address() as AddressInfo).port)
    const key = join(root, 'package.json')
    const { code, said } = await start(example, { PORT: port, PRIVATE_KEY_FILE: key }).outcome()
    expect([code, said]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(
          `^Port ${port} is in use by another program. Choose another: PORT=\\d+ npm run example:${example}\n$`,
        ),
      ),
    ])
  },
)

test('the receiver prints why it refuses a webhook', async () => {
  const receiver = start('webhook-receiver', { PORT: '0', WEBHOOK_SECRET: 'whsec_c2VjcmV0' })
  const [url = ''] = (await receiver.hears(/http:\S+\/hooks/)).split(' ')
  const headers = {
    'webhook-id': 'x',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': 'v1,AAAA',
  }
  expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(400)
  await receiver.hears(/refused: No signature fits\. Is this the secret of the subscription/)
})
