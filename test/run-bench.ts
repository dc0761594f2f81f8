import { execFile } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** A bench or proof in a process of its own: how it ends, the line it reports in, and what it says meanwhile. */
export function runBench(
  args: readonly string[],
): Promise<{ code: unknown; report: Record<string, unknown>; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) => {
      const report = JSON.parse(stdout.trim().split('\n').at(-1) || '{}') as Record<string, unknown>
      resolve({ code: error?.code ?? 0, report, stderr })
    })
  })
}
