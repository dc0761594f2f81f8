import { Florin, FlorinConnectionError } from '@florin/sdk'
import { expect, test } from 'vitest'
import { caught } from './caught.ts'
import { startServer } from './server.ts'

test('the page that explains an error is named', async () => {
  const body = JSON.stringify({ type: 'error', code: 'not_found', status: 404, message: 'x', details: [] })
  await using server = await startServer((_request, response) =>
    response.writeHead(404, { link: '</other>; rel="next", </docs/errors/not_found>; rel="help"' }).end(body),
  )
  const error = await caught(new Florin({ baseUrl: server.url, token: 'x' }).buyers.get('x'))
  expect(error.docsUrl).toBe(`${server.url}/docs/errors/not_found`)
})

test('an answer that is not of Florin is said to be so, without its text', async () => {
  await using server = await startServer((_request, response) =>
    response.writeHead(404).end('<h1>4111111111111111</h1>'),
  )
  const error = await caught(new Florin({ baseUrl: server.url, token: 'x' }).buyers.get('x'))
  expect([error.code, error.status]).toEqual(['unexpected_answer', 404])
  expect(error.message).not.toContain('4111')
})

test('a redirect is not followed', async () => {
  await using server = await startServer((request, response) =>
    request.url === '/elsewhere' ? response.end('{}') : response.writeHead(307, { location: '/elsewhere' }).end(),
  )
  const error = await caught(new Florin({ baseUrl: server.url, token: 'x' }).buyers.get('x'))
  expect([error.code, error.status]).toEqual(['unexpected_answer', 307])
})

test('no connection is an error of its own, with the reason', async () => {
  const server = await startServer(() => undefined)
  await server[Symbol.asyncDispose]()
  const florin = new Florin({ baseUrl: server.url, token: 'x', maxRetries: 0 })
  const error: unknown = await florin.buyers
    .list()
    .page()
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(FlorinConnectionError)
  expect((error as Error).message).toContain('ECONNREFUSED')
})

test.each(['', '.', '..'])('an id of %j is refused before anything is sent', (id) => {
  expect(() => new Florin({ baseUrl: 'http://127.0.0.1', token: 'x' }).buyers.delete(id)).toThrow('is not an id')
})

test('a path cannot lead the token to another host', () => {
  const florin = new Florin({ baseUrl: 'http://127.0.0.1', token: 'x', fetch: () => Promise.reject(new Error('sent')) })
  expect(() => florin.request({ method: 'GET', path: '.example.com/buyers' })).toThrow('path must begin with /')
})

test('an id cannot lead to another path', async () => {
  await using server = await startServer((request, response) => response.end(JSON.stringify({ url: request.url })))
  const answer: unknown = await new Florin({ baseUrl: `${server.url}/florin/`, token: 'x' }).buyers.get('../a?b#c')
  expect(answer).toEqual({ url: '/florin/buyers/..%2Fa%3Fb%23c' })
})
