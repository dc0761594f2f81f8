/** The part of the language that deploy/Containerfile uses. Anything else is refused, so that nothing is passed over. */

export interface Stage {
  name: string
  steps: Step[]
}

export type Step =
  | { kind: 'WORKDIR'; path: string }
  | { kind: 'ENV'; values: Record<string, string> }
  | { kind: 'COPY'; from: string | undefined; sources: string[]; target: string }
  | { kind: 'RUN'; command: string }
  | { kind: 'USER'; uid: number; gid: number }
  | { kind: 'CMD' | 'HEALTHCHECK'; command: string[] }
  | { kind: 'STOPSIGNAL'; signal: NodeJS.Signals }

export function parseContainerfile(text: string): Stage[] {
  const stages: Stage[] = []
  for (const line of joinLines(text)) {
    const [, instruction = '', rest = ''] = /^(\w+)\s+(.*)$/s.exec(line) ?? []
    if (instruction === 'ARG' || instruction === 'EXPOSE') continue
    if (instruction === 'FROM') {
      const name = / AS (\w+)$/.exec(rest)?.[1] ?? String(stages.length)
      stages.push({ name, steps: [] })
      continue
    }
    const stage = stages.at(-1)
    if (!stage) throw new Error(`${instruction} before the first FROM`)
    stage.steps.push(parseStep(instruction, rest))
  }
  return stages
}

const joinLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll('\\\n', '')
    .split('\n')
    .filter((line) => line.trim() !== '')

function parseStep(instruction: string, rest: string): Step {
  switch (instruction) {
    case 'WORKDIR':
      return { kind: 'WORKDIR', path: rest }
    case 'ENV':
      return { kind: 'ENV', values: Object.fromEntries(rest.split(' ').map(parseAssignment)) }
    case 'COPY':
      return parseCopy(rest.split(' '))
    case 'RUN':
      return { kind: 'RUN', command: rest }
    case 'USER': {
      const [, uid = '', gid = ''] = /^(\d+):(\d+)$/.exec(rest) ?? []
      if (uid === '') throw new Error('USER must be two numbers: Kubernetes cannot know that a name is not root')
      return { kind: 'USER', uid: Number(uid), gid: Number(gid) }
    }
    case 'CMD':
      return { kind: 'CMD', command: JSON.parse(rest) as string[] }
    case 'HEALTHCHECK':
      return { kind: 'HEALTHCHECK', command: JSON.parse(rest.slice(rest.indexOf(' CMD ') + 5)) as string[] }
    case 'STOPSIGNAL':
      return { kind: 'STOPSIGNAL', signal: rest as NodeJS.Signals }
    default:
      throw new Error(`${instruction} is not one of the instructions that are known here`)
  }
}

function parseAssignment(text: string): [string, string] {
  const [, name = '', value = ''] = /^(\w+)=(\S+)$/.exec(text) ?? []
  if (name === '') throw new Error(`ENV ${text} is not understood`)
  return [name, value]
}

function parseCopy(words: readonly string[]): Step {
  const options = words.filter((word) => word.startsWith('--'))
  const paths = words.filter((word) => !word.startsWith('--'))
  const from = options.map((option) => /^--from=(\w+)$/.exec(option)?.[1]).find((name) => name !== undefined)
  if (options.length !== (from === undefined ? 0 : 1)) throw new Error(`COPY ${options.join(' ')} is not understood`)
  return { kind: 'COPY', from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' }
}
