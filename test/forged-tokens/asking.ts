import { Agent, request } from 'node:http'
import { afterAll } from 'vitest'
import type { TestApi } from '../api.ts'

interface Reply {
  status: number
  body: string
  challenge: string | undefined
}

export type Ask = (authorization: string | undefined) => Promise<Reply>

/** Asks the api for its roles with an Authorization header as it is given, over at most 24 connections. */
export function useAsking(api: TestApi): { ask: Ask; askAll: typeof askAll } {
  const agent = new Agent({ keepAlive: true, maxSockets: 24 })
  afterAll(() => agent.destroy())

  function ask(authorization: string | undefined): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const headers = authorization === undefined ? {} : { authorization }
      request(`${api.url()}/roles?limit=1`, { agent, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: Buffer.concat(chunks).toString(),
            challenge: response.headers['www-authenticate'],
          }),
        )
      })
        .on('error', reject)
        .end()
    })
  }

  async function askAll(authorizations: readonly (string | undefined)[]): Promise<Reply[]> {
    const replies: Reply[] = []
    const waiting = authorizations.entries()
    const work = async () => {
      for (const [index, authorization] of waiting) replies[index] = await ask(authorization)
    }
    await Promise.all(Array.from({ length: 24 }, work))
    return replies
  }

  return { ask, askAll }
}
