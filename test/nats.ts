import { afterAll, beforeAll } from 'vitest'
import { type NatsCluster, startNatsCluster } from '../scripts/nats-cluster.ts'

export type { NatsCluster }

/** A cluster of its own: ports, folders, and what dies in it. Who starts it stops it. */
export const startNats = startNatsCluster

/** This test file's own cluster. */
export function useNats(): () => NatsCluster {
  let cluster: NatsCluster | undefined
  beforeAll(async () => {
    cluster = await startNats()
  })
  afterAll(() => cluster?.stop())
  return () => {
    if (!cluster) throw new Error('the cluster starts with the tests')
    return cluster
  }
}

/** How first attempts may go. */
export const lanes = ['rows', 'NATS'] as const
export type LaneName = (typeof lanes)[number]

/** For suites that hold for either: the servers of the lane, where it has some. */
export const useLane = (lane: LaneName): (() => NatsCluster | undefined) =>
  lane === 'rows' ? () => undefined : useNats()
