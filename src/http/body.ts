import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { badBody } from './errors.ts'

export const bodyLimitBytes = 1024 * 1024
const maxDepth = 32

/** JSON only, and only JSON that is safe to hand on: valid UTF-8, not too deep, no prototype keys. */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // Fastify keeps the last hundred content types it has seen, with whatever a client wrote into them. It gets to see three.
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    const type = headers['content-type']
    if (type !== undefined) headers['content-type'] = knownTypeOf(type) ?? 'application/octet-stream'
    done()
  })
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: bodyLimitBytes },
    (request, buffer, done) => {
      const encoding = request.headers['content-encoding']
      if (encoding !== undefined && encoding !== 'identity') return done(badBody('The body must not be compressed'))
      try {
        done(null, parseJson(buffer as Buffer))
      } catch (error) {
        done(error as Error)
      }
    },
  )
}

/** Forms are read by pages alone, see web-pages.ts. */
const knownTypes = ['application/json', 'application/x-www-form-urlencoded']

function knownTypeOf(contentType: string): string | undefined {
  const sent = contentType.split(';', 1)[0]?.trim().toLowerCase()
  return knownTypes.find((type) => type === sent)
}
/** For routes that look at the bytes themselves, in a part of the application of their own. */
export function acceptAnything(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: bodyLimitBytes }, (_request, buffer, done) =>
    done(null, buffer),
  )
}

export function parseJson(buffer: Buffer): unknown {
  if (!isUtf8(buffer)) throw badBody('The body is not valid UTF-8')
  const text = buffer.toString('utf8')
  // Some clients send a content type with every request; without a single byte there is no body.
  if (text === '') return undefined
  if (isTooDeep(text)) throw badBody(`The body is nested deeper than ${maxDepth} levels`)
  try {
    // A reviver makes parsing several times slower, so it only looks at texts that could need it.
    return JSON.parse(text, /__proto__|constructor|\\u/.test(text) ? refusePrototypeKeys : undefined) as unknown
  } catch {
    throw badBody('The body is not valid JSON')
  }
}

function refusePrototypeKeys(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new SyntaxError('__proto__ is not allowed')
  if (key === 'constructor' && typeof value === 'object' && value !== null && 'prototype' in value) {
    throw new SyntaxError('constructor.prototype is not allowed')
  }
  return value
}

/** Counts brackets outside strings before parsing: whatever walks the value later may be recursive. */
function isTooDeep(text: string): boolean {
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index)
    if (inString) {
      if (character === 0x5c) index += 1
      else if (character === 0x22) inString = false
    } else if (character === 0x22) inString = true
    else if (character === 0x7b || character === 0x5b) {
      depth += 1
      if (depth > maxDepth) return true
    } else if (character === 0x7d || character === 0x5d) depth -= 1
  }
  return false
}
