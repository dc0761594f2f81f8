import { existsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { codeCache } from './test/code-cache.ts'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    // A pooler and a browser are what npm cannot bring; CI installs them.
    exclude: [
      '**/node_modules/**',
      ...(existsSync('/usr/sbin/pgbouncer') ? [] : ['test/pooler/**']),
      ...(existsSync('/usr/bin/chromium') ? [] : ['test/browser/**']),
      // Mounts of its own are for root on Linux.
      ...(process.platform === 'linux' && process.getuid?.() === 0 ? [] : ['test/container/container.test.ts']),
    ],
    globalSetup: ['test/global-setup.ts'],
    env: codeCache,
    // Far beyond what they need: how busy the machine is must not decide.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // Many suites wait for processes of their own, so three of them fit on two cores.
    maxWorkers: 3,
  },
})
