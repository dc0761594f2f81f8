import type { NatsCluster } from '../nats.ts'

/** What befalls the servers of the lane. */
export interface NatsFault {
  name: string
  /** How long it lasts, by what is committed meanwhile. Default: 3. */
  seconds?: number
  begin(nats: NatsCluster): Promise<unknown>
  end(nats: NatsCluster): Promise<unknown>
}

const all = [0, 1, 2]

/** With SIGKILL, together. */
const killed = (name: string, nodes: readonly number[]): NatsFault => ({
  name,
  begin: (nats) => Promise.all(nodes.map(nats.kill)),
  end: (nats) => Promise.all(nodes.map(nats.start)),
})

/** They lose what they have stored, too. */
export const allWiped: NatsFault = {
  ...killed('all, wiped', all),
  async end(nats) {
    await Promise.all(all.map(nats.wipe))
    await Promise.all(all.map(nats.start))
  },
}

export const natsFaults: readonly NatsFault[] = [
  ...all.map((index) => killed(`node ${index + 1}`, [index])),
  killed('two of three', [0, 1]),
  killed('all', all),
  allWiped,
]

export async function strike(nats: NatsCluster, fault: NatsFault, meanwhile: () => Promise<void>): Promise<void> {
  await fault.begin(nats)
  await meanwhile()
  await fault.end(nats)
  await nats.ready()
}
