import { type NatsCluster, startNats } from '../nats.ts'
import { makeNamespaces } from './namespaces.ts'
import { type NatsFault, natsFaults } from './nats-faults.ts'
import { makeDisk } from './power-cut.ts'

export const troubles = ['kills', 'partitions', 'power-cuts'] as const
export type Trouble = (typeof troubles)[number]

/** Servers of the lane, and what is to befall them. All but kills need Linux and root. */
export async function startTroubledNats(
  trouble: Trouble,
): Promise<{ nats: NatsCluster; faults: readonly NatsFault[]; stop(): Promise<void> }> {
  if (trouble === 'partitions') {
    const network = await makeNamespaces()
    const nats = await startNats({ places: network.places })
    return { nats, faults: network.faults, stop: () => nats.stop().then(network.remove) }
  }
  if (trouble === 'power-cuts') {
    const disk = await makeDisk()
    const nats = await startNats({ folder: disk.folder })
    await disk.settle()
    return { nats, faults: [disk.powerCut], stop: () => nats.stop().then(disk.remove) }
  }
  const nats = await startNats()
  return { nats, faults: natsFaults, stop: nats.stop }
}
