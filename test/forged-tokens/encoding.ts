import { alphabet, bearer, type Cast, type Forgery } from './forgery.ts'
import { bytesOf, claims, decode, encode, headerOf, type Signer, signText, split, token } from './tokens.ts'

export function* oversized({ ec, rsa }: Cast): Generator<Forgery> {
  for (const signer of [ec, rsa]) {
    for (const length of [8_193, 8_194, 8_200, 9_000, 12_000, 15_000]) {
      yield bearer(`${length} characters`, ofLength(signer, length))
      yield bearer(`${length} of A`, 'A'.repeat(length))
      yield bearer(`${length} of dots`, '.'.repeat(length))
    }
    const scopes = Array.from({ length: 200 }, (_, index) => `${'s'.repeat(40)}${index}`)
    yield bearer('many scopes', token(signer, headerOf(signer), claims({ scopes })))
  }
}

/** A good token of this length, or one character more where base64 has no such length. */
export function ofLength(signer: Signer, length: number): string {
  const header = encode(headerOf(signer))
  const signatureLength = signer.alg === 'RS512' ? 512 : 176
  const room = length - header.length - signatureLength - 2
  const bytes = Math.floor((3 * (room - 1)) / 4) + 1
  const iss = 'i'.repeat(bytes - bytesOf(claims({ iss: '' })).length)
  return token(signer, headerOf(signer), claims({ iss }))
}

/** Other spellings of the same bytes. Those of the signature need no key: a lenient reader takes each for the good token. */
export function* nonCanonical({ ec, rsa }: Cast): Generator<Forgery> {
  for (const signer of [ec, rsa]) {
    for (const pad of ['', ' ', '  ']) {
      const header = encode(`${JSON.stringify(headerOf(signer))}${pad}`)
      for (const morePad of ['', ' ', '  ']) {
        const payload = encode(`${JSON.stringify(claims())}${morePad}`)
        const signature = signer.sign(`${header}.${payload}`).toString('base64url')
        for (const [what, one, two] of [
          ...spareBits(header).map((text) => ['header', text, payload] as const),
          ...spareBits(payload).map((text) => ['payload', header, text] as const),
        ]) {
          yield bearer(`spare bits of the ${what}, unsigned`, `${one}.${two}.${signature}`)
          if (signer === rsa || pad !== morePad)
            yield bearer(`spare bits of the ${what}, signed`, signText(signer, `${one}.${two}`))
        }
        for (const [what, one, two] of [
          ['header', `${header}${'='.repeat((4 - (header.length % 4)) % 4 || 1)}`, payload],
          ['payload', header, `${payload}${'='.repeat((4 - (payload.length % 4)) % 4 || 1)}`],
          ...(header.length % 4 === 0 ? [['lone character', `${header}A`, payload] as const] : []),
        ] as const) {
          yield bearer(`${what} padded, unsigned`, `${one}.${two}.${signature}`)
          yield bearer(`${what} padded, signed`, signText(signer, `${one}.${two}`))
        }
        yield* respelled(`${header}.${payload}`, signature)
      }
    }
  }
}

/** Every other last character that decodes to the same bytes. */
function spareBits(segment: string): string[] {
  const bytes = decode(segment)
  return alphabet
    .split('')
    .map((character) => segment.slice(0, -1) + character)
    .filter((text) => text !== segment && decode(text).equals(bytes))
}

function* respelled(input: string, signature: string): Generator<Forgery> {
  const standard = signature.replaceAll('-', '+').replaceAll('_', '/')
  const middle = Math.floor(signature.length / 2)
  if (standard !== signature) yield bearer('standard alphabet', `${input}.${standard}`)
  for (const tail of ['=', '==', '====', 'A', 'AA', '+', '/', '.', '~', '%3D', '\t', '\u00a0', ',', ';']) {
    yield bearer(`signature and ${JSON.stringify(tail)}`, `${input}.${signature}${tail}${tail === '\t' ? 'A' : ''}`)
  }
  for (const inside of ['=', '*', '!', '\t', '%', '\u00ff', '"', '\\', '+', ':', '@']) {
    const broken = signature.slice(0, middle) + inside + signature.slice(middle)
    yield bearer(`${JSON.stringify(inside)} in the signature`, `${input}.${broken}`)
    yield bearer(`${JSON.stringify(inside)} before the signature`, `${input}.${inside}${signature}`)
    yield bearer(`${JSON.stringify(inside)} before the token`, `${inside}${input}.${signature}`)
  }
}

/** All arrangements of up to three segments, and the good three with one or two more anywhere among them. */
export function* segments({ known }: Cast): Generator<Forgery> {
  for (const { token: good } of known) {
    const parts = [...split(good), '', 'AAAA']
    const more = (shapes: readonly string[][]) => shapes.flatMap((shape) => parts.map((part) => [...shape, part]))
    const inserted = (shape: readonly string[]) =>
      [...shape, ''].flatMap((_, at) => parts.map((part) => shape.toSpliced(at, 0, part)))
    const [one, four] = [more([[]]), inserted(split(good))]
    for (const shape of [...one, ...more(one), ...more(more(one)), ...four, ...four.flatMap(inserted)]) {
      const text = shape.join('.')
      if (text !== good) yield bearer(`${shape.length} segments`, text)
    }
    for (const dot of [':', ',', '\u00b7', '%2E', '']) yield bearer('no dots', good.replaceAll('.', dot))
  }
}
