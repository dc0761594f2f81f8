import { runCommandLine } from '../cli/program.ts'

if (import.meta.main) await runCommandLine(process.argv.slice(2))
