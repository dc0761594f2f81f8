import { signToken } from '../sign-token.ts'
import { halves, order, toBytes } from '../forged-tokens/signatures.ts'

/** So many tokens of other bytes with the same claims: signed again and again, and each signature's own twin (r, n - s). */
export async function twinsOf(
  privateKeyPem: string,
  claims: Record<string, unknown>,
  count: number,
): Promise<string[]> {
  const signed: string[] = []
  for (let index = 0; index < Math.ceil(count / 2); index += 1) {
    signed.push(await signToken({ privateKeyPem, scopes: ['embed'], claims }))
  }
  return signed.flatMap((token) => [token, mirrored(token)]).slice(0, count)
}

function mirrored(token: string): string {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const [r, s] = halves(Buffer.from(signature, 'base64url'))
  return [header, payload, Buffer.concat([toBytes(r), toBytes(order - s)]).toString('base64url')].join('.')
}
