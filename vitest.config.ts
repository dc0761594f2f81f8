import { existsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // A pooler is the one thing npm cannot bring; CI installs it.
    exclude: existsSync('/usr/sbin/pgbouncer') ? [] : ['test/pooler/**'],
    globalSetup: ['test/global-setup.ts'],
    // Far beyond what they need: how busy the machine is must not decide.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Many suites wait for processes of their own, so two of them fit on two cores.
    maxWorkers: 2,
  },
})
