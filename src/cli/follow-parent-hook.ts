import { closeSync, openSync, rmSync } from 'node:fs'

/*
 * Preloaded into every process that `florin dev` starts. However `florin dev` ends, its end of the channel closes; then
 * this process ends too, and takes the temporary folder with it that `florin dev` could not remove any more.
 */
process.on('disconnect', () => {
  // Nobody reads our log any more. The logger would try its last line on the broken pipe for ever, and we would never end.
  for (const fd of [1, 2]) {
    closeSync(fd)
    openSync('/dev/null', 'w')
  }
  const folder = process.env['DEV_TEMPORARY_FOLDER']
  if (folder) rmSync(folder, { recursive: true, force: true })
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), 6_000).unref()
  process.kill(process.pid, 'SIGTERM')
})
// A process that fails to start must be able to end although the channel is open.
process.channel?.unref()
