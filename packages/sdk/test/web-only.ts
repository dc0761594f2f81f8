import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { createContext, type Module, SourceTextModule } from 'node:vm'

/*
 * Runs the sources of the SDK where there is nothing of Node, only what the web has: no process, no Buffer, no require, no node: modules. Needs
 * --experimental-vm-modules, so it is a process of its own. Arguments: base URL, private key in PEM, a delivery as JSON. Prints what came of it.
 */
const [, , baseUrl, privateKey, delivery] = process.argv

const web = { crypto, fetch, Headers, Response, URL, URLSearchParams, TextEncoder, TextDecoder, atob, btoa }
const timers = { AbortController, AbortSignal, setTimeout, clearTimeout }
const print = (text: string) => process.stdout.write(`${text}\n`)
const context = createContext({ ...web, ...timers, print, baseUrl, privateKey, delivery })

const loaded = new Map<string, Module>()
function load(path: string): Module {
  const known = loaded.get(path)
  if (known) return known
  const source = stripTypeScriptTypes(readFileSync(path, 'utf8'))
  const module = new SourceTextModule(source, { context, identifier: path })
  loaded.set(path, module)
  return module
}

const use = `
import { Florin, verifyWebhook } from './main.ts'
const florin = new Florin({ baseUrl, privateKey })
const { id } = await florin.buyers.create({ display_name: 'Ada' })
const found = []
for await (const buyer of florin.buyers.list({ limit: 1 })) found.push(buyer.id)
let code
try { await florin.buyers.get('01900000-0000-7000-8000-000000000000') } catch (error) { code = error.code }
let seen
for await (const event of florin.events.feed({ position: '01900000-0000-7000-8000-000000000000', wait: 30 })) {
  if (event.target.id === id) { seen = event.name; break }
}
const event = await verifyWebhook(JSON.parse(delivery))
print(JSON.stringify({ isFound: found.includes(id), code, seen, event: event.name, process: typeof process, Buffer: typeof Buffer }))
`
const sources = join(import.meta.dirname, '../src')
const main = new SourceTextModule(use, { context, identifier: join(sources, 'use.ts') })
await main.link((specifier, { identifier }) => {
  if (!specifier.startsWith('.')) throw new Error(`${identifier} imports ${specifier}`)
  return load(join(dirname(identifier), specifier))
})
await main.evaluate()
