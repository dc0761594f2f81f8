import { realClocks } from '../../clocks.ts'
import { createAntiFraud, createConnectors, createGiftCards } from '../../connectors/registry.ts'
import type { RuledAction, RuleOutcome, SimulatorRule } from '../../connectors/simulator.ts'
import type { Context } from '../../context.ts'
import { laterBy, newId } from '../../ids.ts'
import type { Database } from '../../platform/postgres.ts'
import type { Vault } from '../../vault/client.ts'
import { checkTarget } from '../../webhooks/addresses.ts'
import { commandLineContext } from '../command-line-context.ts'

export interface LaneOptions {
  db: Database
  vault: Vault
  account: string
  /** Where the api is: buyers approve payments there. */
  baseUrl: string
}

/** Where one thing is done after the other, at times of the past, with providers that do as they are told. */
export interface Lane {
  ctx: Context
  /** The next things are done at this time, or right after the last one where that was later. */
  goTo(time: number): void
  /** A new story: it may be earlier than the last one. */
  begin(time: number): void
  /** What the provider says to calls of this kind until something else is said. */
  force(action: RuledAction, outcome: RuleOutcome | undefined): void
}

export function createLane({ db, vault, account, baseUrl }: LaneOptions): Lane {
  let behindMs = 0
  let rules: readonly SimulatorRule[] = []
  const now = () => new Date(Date.now() - behindMs)
  const clock = { now, newId: () => laterBy(newId(), -behindMs) }
  const sandbox = { environment: 'sandbox', db, now } as const
  const ctx: Context = {
    ...commandLineContext(db, 'florin demo'),
    ...clock,
    clocks: { ...realClocks, of: () => clock },
    vault,
    connectors: createConnectors({
      ...sandbox,
      baseUrl: () => baseUrl,
      rules: { of: () => Promise.resolve(rules), use: () => Promise.resolve(false) },
    }),
    antiFraud: createAntiFraud(sandbox),
    giftCards: createGiftCards(sandbox),
    checkTarget: (url) => checkTarget(url, { allowLoopback: true }),
    baseUrl,
    accounts: [account],
  }
  // Never ahead of real time: workers go by that.
  const begin = (time: number) => void (behindMs = Math.max(0, Date.now() - time))
  return {
    ctx,
    begin,
    goTo: (time) => begin(Math.max(time, now().getTime())),
    force(action, outcome) {
      rules = outcome ? [{ id: '', conditions: { action }, outcome, notifications: null, isCounted: false }] : []
    },
  }
}
