import type { Florin } from '@florin/sdk'
import { nameOperation } from '../../../src/http/operation-names.ts'
import type { Route } from '../../../src/http/route.ts'

const camel = (part: string) => part.replaceAll(/-(\w)/g, (_match, letter: string) => letter.toUpperCase())

type Method = (...args: unknown[]) => unknown

/** The method of an operation; undefined when the client has none. */
export function methodOf(florin: Florin, of: Route): Method | undefined {
  const names = nameOperation(of).map(camel)
  const [last = ''] = names.splice(-1)
  type Node = Record<string, unknown> | undefined
  const group = names.reduce<Node>((node, name) => node?.[name] as Node, florin as unknown as Node)
  const method = group?.[last]
  return typeof method === 'function' ? (method.bind(group) as Method) : undefined
}
