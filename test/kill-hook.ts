import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { onFailpoint } from '../src/platform/failpoint.ts'

/**
 * Loaded before an api (`node --import`). KILL_ORDER names a file that may say at which points, and with how many requests there, the process
 * kills itself; until all have come the first ones wait. CLOCK_AHEAD_MS makes it an api of a later time. PLANT rewrites sources as they are
 * loaded, to show that a mistake there is noticed.
 */
export interface KillOrder {
  points: readonly string[]
  requests: number
}

export interface PlantedBug {
  file: string
  from: string
  to: string
}

const { KILL_ORDER: orderFile, CLOCK_AHEAD_MS: ahead, PLANT: plant } = process.env

function readOrder(): KillOrder | undefined {
  try {
    return JSON.parse(readFileSync(orderFile ?? '', 'utf8')) as KillOrder
  } catch {
    return undefined
  }
}

if (orderFile) {
  let waiting = 0
  onFailpoint(async (name) => {
    const order = readOrder()
    if (!order?.points.includes(name)) return
    waiting += 1
    if (waiting >= order.requests) process.kill(process.pid, 'SIGKILL')
    await new Promise(() => undefined)
  })
}

if (ahead) {
  const SystemDate = Date
  globalThis.Date = class extends SystemDate {
    constructor(...args: [] | [number]) {
      if (args.length === 0) super(SystemDate.now() + Number(ahead))
      else super(...args)
    }
    static override now = () => SystemDate.now() + Number(ahead)
  } as DateConstructor
}

if (plant) {
  const bugs = JSON.parse(plant) as readonly PlantedBug[]
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const bug = bugs.find(({ file }) => url.endsWith(file))
      if (!bug) return loaded
      const source = Buffer.from((loaded.source ?? '') as Uint8Array | string).toString()
      if (!source.includes(bug.from)) throw new Error(`nothing to plant in ${bug.file}`)
      return { ...loaded, source: source.replace(bug.from, () => bug.to) }
    },
  })
}
