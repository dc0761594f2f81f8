import fc from 'fast-check'
import { end, StepCommand, Story } from './commands.ts'
import { anyStep, type CreateStep, createStep, type Step } from './steps.ts'
import type { World } from './world.ts'

const mostCommands = 40

/** Nothing of an earlier sequence is left, also not of one that failed. */
const wipe = [
  'idempotency_keys',
  'transaction_events',
  'refunds',
  'captures',
  'attempts',
  'transaction_approvals',
  'transaction_instruments',
  'transactions',
  'sandbox_approvals',
  'sandbox_notifications',
  'sandbox_card_operations',
  'sandbox_card_payments',
  'event_queue',
  'events',
  'audit_logs',
]
  .map((table) => `delete from ${table}`)
  .join(';')

export interface RunOptions {
  sequences: number
  seed: number
  /** To one sequence of an earlier run. */
  path?: string
  /** Whether a difference is made short, which takes a while. */
  isShortened?: boolean
  onSequence?: (commands: number) => void
}

export interface RunResult {
  sequences: number
  commands: number
  /** How requests ended, by kind. */
  endings: Record<string, number>
  /** The shortest sequence that shows the difference, and what it is. */
  difference: string | undefined
}

/** One sequence from nothing to long after its last step. Throws with the first difference. */
async function play(world: World, first: CreateStep, rest: Iterable<fc.AsyncCommand<Story, World>>): Promise<Story> {
  await world.admin.query(wipe)
  const story = new Story()
  world.errors.length = 0
  world.late.length = 0
  world.now = Date.now()
  story.model.now = world.now
  await new StepCommand(first).run(story, world)
  await fc.asyncModelRun(() => ({ model: story, real: world }), rest)
  await end(story, world)
  return story
}

/** A sequence that was written down. */
export const playSteps = (world: World, [first, ...rest]: readonly [CreateStep, ...Step[]]) =>
  play(
    world,
    first,
    rest.map((step) => new StepCommand(step)),
  )

/** Sequences on one world, one after the other, up to the first difference, which is made short. */
export async function runModel(world: World, options: RunOptions): Promise<RunResult> {
  const { sequences, seed, path, isShortened = true, onSequence } = options
  let count = 0
  let commands = 0
  const endings: Record<string, number> = {}
  const rest = fc.commands([anyStep.map((step) => new StepCommand(step))], { maxCommands: mostCommands, size: 'max' })
  const property = fc.asyncProperty(createStep, rest, async (first, steps) => {
    const story = await play(world, first, steps)
    count += 1
    commands += story.commands
    for (const [ending, times] of story.endings) endings[ending] = (endings[ending] ?? 0) + times
    onSequence?.(story.commands)
  })
  const details = await fc.check(property, {
    numRuns: sequences,
    seed,
    endOnFailure: !isShortened,
    ...(path !== undefined && { path }),
  })
  return { sequences: count, commands, endings, difference: details.failed ? describe(details) : undefined }
}

type Failure = Pick<
  fc.RunDetails<unknown>,
  'errorInstance' | 'counterexample' | 'counterexamplePath' | 'seed' | 'numRuns'
>

function describe({ errorInstance: error, counterexample, counterexamplePath, seed, numRuns }: Failure): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const steps = fc.stringify(counterexample)
  return `seed ${seed}, path ${String(counterexamplePath)}, after ${numRuns} sequences\n${steps}\n${text}`
}
