import { parseArgs } from 'node:util'
import { checkTarget } from '../src/webhooks/addresses.ts'
import { createOutbound, OutboundError } from '../src/webhooks/outbound.ts'
import { hostileTargets } from '../test/hostile-targets.ts'
import { rebind } from '../test/rebinding.ts'
import { note } from './rig.ts'

/** URLs that try to lead where no webhook may go, when they are given and when they are called; and hosts whose addresses change all the time. */
const { values: options } = parseArgs({
  options: { tries: { type: 'string', default: '10000' }, help: { type: 'boolean', default: false } },
})
if (options.help) {
  console.log(`npm run proof:webhook-addresses -- [--tries 10000]

--tries  connections to a host whose name server answers differently each time

Example: npm run proof:webhook-addresses -- --tries 300`)
  process.exit(0)
}
const floors = { urls: 300 }

const rules = { allowLoopback: false }
const accepted = hostileTargets.filter((url) => checkTarget(url, rules) === undefined)
const outbound = createOutbound({ ...rules, resolve: () => Promise.resolve(['127.0.0.1']) })
const called = await Promise.allSettled(
  hostileTargets.map((url) => outbound.post({ url, headers: {}, body: '{}', deadlineMs: 5_000, wantsBody: false })),
)
outbound.close()
const refused = called.filter(
  (call) =>
    call.status === 'rejected' && call.reason instanceof OutboundError && call.reason.kind === 'forbidden_address',
).length
const urls = new Set(hostileTargets).size
note(`${urls} hostile URLs: ${accepted.length} accepted, ${called.length - refused} called`)

const { connections, outcomes, tries } = await rebind({ ...rules, tries: Number(options.tries) })
const passed =
  urls >= floors.urls &&
  accepted.length === 0 &&
  refused === called.length &&
  connections === 0 &&
  tries === Number(options.tries)
console.log(
  JSON.stringify({
    proof: 'webhook-addresses',
    hostile_urls: urls,
    hostile_urls_accepted: accepted.length,
    hostile_urls_called: called.length - refused,
    rebinding_tries: tries,
    outcomes,
    connections_to_forbidden_addresses: connections,
    passed,
  }),
)
process.exitCode = passed ? 0 : 1
