import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '../../platform/log.ts'
import { connectNats } from '../../platform/nats.ts'
import type { Secret } from '../../platform/secret.ts'
import { causeOf } from '../api-client.ts'
import type { Settings } from './configuration.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const patienceMs = 3_000

/** Whether clients find this service at the address that they are told. */
export async function checkPublicUrl({ publicUrl }: Settings): Promise<Finding[]> {
  if (publicUrl === undefined) return []
  const wrong = await fetch(`${publicUrl}/openapi.json`, {
    signal: AbortSignal.timeout(patienceMs),
    redirect: 'error',
  }).then(
    async (response) => {
      if (!response.ok) return `answers ${response.status}`
      const body: unknown = await response.json().catch(() => undefined)
      const isFlorin = typeof body === 'object' && body !== null && 'openapi' in body
      return isFlorin ? undefined : 'is another service'
    },
    (error: unknown) => `does not answer (${causeOf(error)})`,
  )
  if (wrong === undefined) return [ok('public url', publicUrl)]
  return [
    problem('public url', {
      message: `${publicUrl}/openapi.json ${wrong}`,
      why: 'It is in links that clients and buyers follow.',
      fix: 'Correct FLORIN_PUBLIC_URL, or the name, the certificate or the proxy behind it. "curl -v" on that address shows which.',
    }),
  ]
}

export async function checkNats({ natsUrl, eventStreamUrl }: Settings): Promise<Finding[]> {
  const wanted: [name: string, setting: string, url: Secret, without: string][] = []
  if (natsUrl) wanted.push(['nats lane', 'NATS_URL', natsUrl, 'Webhooks are sent from PostgreSQL alone meanwhile.'])
  if (eventStreamUrl) {
    wanted.push(['event stream', 'FLORIN_EVENT_STREAM_URL', eventStreamUrl, 'Events wait in PostgreSQL meanwhile.'])
  }
  return await Promise.all(
    wanted.map(async ([check, setting, url, why]) =>
      (await isReached(url, setting))
        ? ok(check, 'NATS answers')
        : warning(check, {
            message: `NATS cannot be reached at ${setting}`,
            why,
            fix: `Start its servers, or correct ${setting}: host, port, user and password. See docs/runbooks/nats.md.`,
          }),
    ),
  )
}

async function isReached(url: Secret, setting: string): Promise<boolean> {
  const log = createLog({ level: 'silent', process: 'doctor', onScrub: () => undefined })
  const nats = connectNats({ url: url.reveal(), setting, name: 'florin doctor', log })
  try {
    for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(50)) {
      if (nats.isConnected()) return true
    }
    return false
  } finally {
    await nats.close()
  }
}
