import { BlockList, isIP } from 'node:net'

/** Where webhooks may go. An address that does not lead to the public internet is forbidden, however it is written. */

const reservedV4 = listOf('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
])
// Everything else of IPv6 is private, unassigned or a wrapper around an IPv4 address.
const publicV6 = listOf('ipv6', [['2000::', 3]])
const reservedV6 = listOf('ipv6', [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
])
const loopbackV4 = listOf('ipv4', [['127.0.0.0', 8]])

function listOf(family: 'ipv4' | 'ipv6', networks: readonly [address: string, prefix: number][]): BlockList {
  const list = new BlockList()
  for (const [address, prefix] of networks) list.addSubnet(address, prefix, family)
  return list
}

const isPublic = (address: string) =>
  isIP(address) === 4
    ? !reservedV4.check(address, 'ipv4')
    : isIP(address) === 6 && publicV6.check(address, 'ipv6') && !reservedV6.check(address, 'ipv6')

const isLoopback = (address: string) =>
  isIP(address) === 4 ? loopbackV4.check(address, 'ipv4') : isIP(address) === 6 && address === '::1'

export interface TargetRules {
  /** For development: this machine may be called too, and without TLS. */
  allowLoopback: boolean
}

/** Without TLS nobody but this machine is called. */
export function mayDial(address: string, protocol: string, { allowLoopback }: TargetRules): boolean {
  if (allowLoopback && isLoopback(address)) return true
  return protocol === 'https:' && isPublic(address)
}

/** These lead to this machine without anybody being asked (RFC 6761). */
export const isLocalName = (hostname: string) => /^(.+\.)?localhost\.?$/.test(hostname)

/** The address in the host of a URL that names no host. */
export function literalOf({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) === 0 ? undefined : bare
}

/** Why events cannot go there. A host that nobody knows yet is fine: what it leads to is looked at with every connection. */
export function checkTarget(text: string, rules: TargetRules): string | undefined {
  // Parsers disagree about these, and the one of URL drops some.
  if (/[\s\p{Cc}\\]/u.test(text)) return 'Must not have spaces, control characters or backslashes'
  if (!URL.canParse(text)) return 'Must be an absolute URL'
  const url = new URL(text)
  const address = literalOf(url)
  const isLocal = isLocalName(url.hostname) || (address !== undefined && isLoopback(address))
  const isLocalAllowed = isLocal && rules.allowLoopback
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocalAllowed)) return 'Must begin with https://'
  if (url.username !== '' || url.password !== '') {
    return 'Must not have a user or password; set authentication instead'
  }
  if (url.port === '0') return 'Must not have the port 0'
  const isForbidden = address === undefined ? isLocal && !isLocalAllowed : !mayDial(address, url.protocol, rules)
  return isForbidden ? 'Must lead to the public internet, not to a private or reserved address' : undefined
}
