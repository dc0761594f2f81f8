import { renameSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { writeHeapSnapshot } from 'node:v8'

/**
 * Loaded into a process under test with `--import`: on SIGUSR2 it collects garbage and writes what is still alive to
 * HEAP_SNAPSHOT_PATH. HEAP_SNAPSHOT_PLANT, as JSON and turned around, is kept alive at the end of a long string and written
 * to the output, to be found in both.
 */
const path = process.env['HEAP_SNAPSHOT_PATH'] ?? ''
const plant = JSON.parse((process.env['HEAP_SNAPSHOT_PLANT'] ?? '""').split('').reverse().join('')) as string
const planted = { kept: 'x'.repeat(5_000) + plant }

async function write(): Promise<void> {
  // Finalisers and weak references need a few rounds, with turns of the event loop in between.
  for (let round = 0; round < 5; round += 1) {
    await globalThis.gc?.({ type: 'major', execution: 'async' })
    await turn()
  }
  // With numbers: a card number that came as one is a secret too.
  writeHeapSnapshot(`${path}.part`, { exposeNumericValues: true })
  renameSync(`${path}.part`, path)
}

process.on('SIGUSR2', () => void write())
Object.assign(globalThis, { [Symbol('planted')]: planted })
process.stdout.write(`planted ${plant}\n`)
