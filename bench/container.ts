import { proveContainer } from '../test/container/prove.ts'
import { note } from './rig.ts'

/** The steps of deploy/Containerfile executed in empty folders, and the services of deploy/compose.yaml started from what they leave. */
if (process.argv.includes('--help')) {
  console.log(`npm run proof:container

Needs root on Linux, for mounts of its own, and a registry of packages.

Example: npm run proof:container`)
  process.exit(0)
}
const report = await proveContainer(note)
const passed =
  report.payment_status === 'capture_succeeded' &&
  report.listed === report.payment_status &&
  report.test_files.length === 0 &&
  report.written_outside.length === 0 &&
  report.wrong_password.includes('password authentication failed') &&
  Object.values(report.processes).every(({ uid, exit_code }) => uid !== '0' && exit_code === 0)
console.log(
  JSON.stringify({ proof: 'container', read_only_root: report.written_outside.length === 0, ...report, passed }),
)
process.exitCode = passed ? 0 : 1
