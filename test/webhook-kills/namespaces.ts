import { execFile } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { promisify } from 'node:util'
import type { NatsFault } from './nats-faults.ts'

const run = promisify(execFile)
/** Long enough for the servers to notice and to choose other leaders. */
const seconds = 12
const ip = (line: string) => run('ip', line.split(' '))

/**
 * A network for three servers, each in a namespace of its own behind a bridge, whose connections can be cut. Linux, as root; what has the names here is
 * removed at the end.
 */
export async function makeNamespaces() {
  const name = `flr${randomBytes(3).toString('hex')}`
  const network = `10.213.${randomInt(1, 255)}`
  const nodes = [1, 2, 3].map((number) => ({
    host: `${network}.${number}`,
    namespace: `${name}-${number}`,
    link: `${name}v${number}`,
  }))
  await ip(`link add ${name} type bridge`)
  await ip(`addr add ${network}.254/24 dev ${name}`)
  await ip(`link set ${name} up`)
  for (const { host, namespace, link } of nodes) {
    await ip(`netns add ${namespace}`)
    await ip(`link add ${link} type veth peer name eth0 netns ${namespace}`)
    await ip(`link set ${link} master ${name} up`)
    await ip(`-n ${namespace} addr add ${host}/24 dev eth0`)
    await ip(`-n ${namespace} link set eth0 up`)
    await ip(`-n ${namespace} link set lo up`)
  }
  const others = (index: number) => nodes.filter((_node, other) => other !== index)
  const namespaceOf = (index: number) => nodes[index]?.namespace ?? ''

  /** Those who send reach all three; one of the three reaches neither of the others. */
  const fromServers = (index: number): NatsFault => ({
    name: `node ${index + 1} cut off from the other servers`,
    seconds,
    begin: async () => {
      for (const { host } of others(index)) await ip(`-n ${namespaceOf(index)} route add blackhole ${host}/32`)
    },
    end: async () => {
      for (const { host } of others(index)) await ip(`-n ${namespaceOf(index)} route del blackhole ${host}/32`)
    },
  })
  /** Nobody hears of it any more, and it of nobody. */
  const fromAll = (index: number): NatsFault => ({
    name: `node ${index + 1} cut off from everybody`,
    seconds,
    begin: () => ip(`link set ${nodes[index]?.link} down`),
    end: () => ip(`link set ${nodes[index]?.link} up`),
  })
  /** Each alone. */
  const everywhere: NatsFault = {
    name: 'no server reaches another',
    seconds,
    begin: async (nats) => {
      for (const index of [0, 1, 2]) await fromServers(index).begin(nats)
    },
    end: async (nats) => {
      for (const index of [0, 1, 2]) await fromServers(index).end(nats)
    },
  }
  return {
    places: nodes.map(({ host, namespace }) => ({ host, command: ['ip', 'netns', 'exec', namespace] })),
    faults: [...[0, 1, 2].map(fromServers), fromAll(0), everywhere],
    async remove(): Promise<void> {
      for (const { namespace } of nodes) await ip(`netns del ${namespace}`)
      await ip(`link del ${name}`)
    },
  }
}
