import { Agent, get } from 'node:http'
import { percentiles } from '../rig.ts'

/** One caller with one connection, who waits for each answer. */
export interface Client {
  ask(query: string): Promise<Answer>
  close(): void
}

export interface Answer {
  status: number
  ms: number
  text: string
}

export interface Page {
  items: unknown[]
  next_cursor: string | null
}

export function createClient(port: number, token: string, account: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { authorization: `Bearer ${token}`, 'x-service-merchant-account-id': account }
  return {
    ask: (query) =>
      new Promise((resolve, reject) => {
        const start = performance.now()
        const request = get({ port, host: '127.0.0.1', path: `/transactions?${query}`, agent, headers }, (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.once('error', reject)
          response.once('end', () => {
            const ms = performance.now() - start
            resolve({ status: response.statusCode ?? 0, ms, text: Buffer.concat(chunks).toString() })
          })
        })
        request.once('error', reject)
      }),
    close: () => agent.destroy(),
  }
}

export const pageOf = ({ text }: Answer): Page => JSON.parse(text) as Page

export interface Timing {
  p50: number
  p99: number
}

/** Asked a few times before, and then as often as said. */
export async function timeQuery(client: Client, query: string, times: number): Promise<Timing & { last: Answer }> {
  const wanted = await client.ask(query)
  if (wanted.status !== 200) throw new Error(`${query} was answered with ${wanted.status}: ${wanted.text}`)
  await client.ask(query)
  await client.ask(query)
  const answers: number[] = []
  let last = wanted
  for (let count = 0; count < times; count += 1) {
    last = await client.ask(query)
    answers.push(last.ms)
  }
  const { p50, p99 } = percentiles(answers)
  return { p50, p99, last }
}
