import { parseArgs } from 'node:util'
import { startNatsCluster } from './nats-cluster.ts'
import { bringNatsServer, natsVersion } from './nats-server.ts'

/** `npm run nats`: three nats-servers on this machine, for development. */
const { values: options } = parseArgs({
  options: {
    install: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(`npm run nats -- [--json] [--install]

Starts a cluster of three nats-servers ${natsVersion} on this machine, at free ports, and prints what to set. Ctrl-C stops it and removes what it
stored. The first run compiles nats-server, which needs Go.

--json     prints one line of JSON instead
--install  only sees to it that nats-server is there, and prints its path

Example: npm run nats
         NATS_URL=… npm run dev`)
  process.exit(0)
}

const note = (line: string) => void process.stderr.write(`${line}\n`)
if (options.install) {
  console.log(await bringNatsServer(note))
} else {
  await bringNatsServer(note)
  const cluster = await startNatsCluster()
  const monitoring = cluster.nodes.map(({ httpPort }) => `http://127.0.0.1:${httpPort}`)
  if (options.json)
    console.log(
      JSON.stringify({ url: cluster.url, events_url: cluster.eventsUrl, reader_url: cluster.readerUrl, monitoring }),
    )
  else {
    console.log(`NATS_URL=${cluster.url}`)
    console.log(`FLORIN_EVENT_STREAM_URL=${cluster.eventsUrl}`)
    console.log(`for a reader of the event stream: ${cluster.readerUrl}`)
    console.log(`monitoring: ${monitoring.join(' ')}`)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void cluster.stop().then(() => process.exit(0)))
  }
}
