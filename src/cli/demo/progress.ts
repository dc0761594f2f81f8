import { note } from '../output.ts'

const barWidth = 30
const lineEveryMs = 5_000
const barEveryMs = 100
const judgedAfterMs = 2_000

/** For somebody who waits: a bar on a terminal, a line every few seconds elsewhere, nothing where a program reads. */
export function startProgress(total: number, isQuiet: boolean) {
  const isTerminal = process.stderr.isTTY
  const start = performance.now()
  let last = -Infinity
  return {
    show(done: number) {
      const now = performance.now()
      if (isQuiet || now - last < (isTerminal ? barEveryMs : lineEveryMs)) return
      last = now
      const count = `${done} of ${total} transactions${timeLeft(now - start, done, total)}`
      if (!isTerminal) return note(count)
      const full = Math.floor((done / total) * barWidth)
      const bar = '█'.repeat(full) + '░'.repeat(barWidth - full)
      process.stderr.write(`\r${bar} ${count}\u001B[K`)
    },
    end: () => void (isTerminal && !isQuiet && process.stderr.write('\r\u001B[K')),
  }
}

/** Not before there is something to judge by: the first payments are the slowest. */
const timeLeft = (spentMs: number, done: number, total: number): string =>
  spentMs < judgedAfterMs ? '' : `, ${Math.ceil(((spentMs / done) * (total - done)) / 1000)} s left`
