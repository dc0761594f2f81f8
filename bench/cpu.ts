import { readdirSync, readFileSync } from 'node:fs'

// Linux counts in hundredths of a second, whatever its timer does.
const msPerTick = 10

interface Usage {
  parent: number
  /** Ticks of the process itself. */
  own: number
  /** Ticks of its children that have ended. */
  ended: number
}

function usageOf(pid: number): Usage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in brackets may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const at = (position: number) => Number(fields[position - 3])
    return { parent: at(4), own: at(14) + at(15), ended: at(16) + at(17) }
  } catch {
    return undefined
  }
}

/** CPU milliseconds that a process has spent so far, with its threads. */
export const cpuOf = (pid: number): number => (usageOf(pid)?.own ?? 0) * msPerTick

/** The same with its children, also those that have ended. */
export function cpuOfFamily(pid: number): number {
  for (;;) {
    const before = usageOf(pid)
    let ticks = (before?.own ?? 0) + (before?.ended ?? 0)
    for (const name of readdirSync('/proc')) {
      const usage = /^\d+$/.test(name) ? usageOf(Number(name)) : undefined
      if (usage?.parent === pid) ticks += usage.own
    }
    // One that ended meanwhile may be in neither sum.
    if (usageOf(pid)?.ended === before?.ended) return ticks * msPerTick
  }
}
