import { algorithmConfusion, noneSpellings, otherUseOfTheRightKey, smallerCurves } from './algorithms.ts'
import { duplicateMembers, wrongClaims, wrongJson, wrongTimes } from './claims.ts'
import { editedHeaders, editedPayloads } from './edits.ts'
import { nonCanonical, oversized, segments } from './encoding.ts'
import type { Cast, Forgery } from './forgery.ts'
import { garbageHeaders, headerMembers, jweShapes } from './headers.ts'
import { embeddedKeys, foreignKeys, kidInjections, revokedPairs, unknownKids } from './keys.ts'
import { cutSignatures, degenerateSignatures, derSignatures, flippedSignatures } from './signatures.ts'

/** Each class with the least number of forgeries it must have: a class cannot quietly become empty. */
export const classes = {
  'algorithm confusion': [algorithmConfusion, 1_500],
  'none in every spelling': [noneSpellings, 400],
  'other algorithm of the right key': [otherUseOfTheRightKey, 70],
  'smaller curves': [smallerCurves, 80],
  'foreign key': [foreignKeys, 60],
  'unknown kid': [unknownKids, 200],
  'kid injection': [kidInjections, 350],
  'header member': [headerMembers, 300],
  'embedded key': [embeddedKeys, 400],
  'wrong times': [wrongTimes, 120],
  'wrong claims': [wrongClaims, 130],
  'wrong JSON': [wrongJson, 100],
  'duplicate members': [duplicateMembers, 70],
  oversized: [oversized, 20],
  'not canonical': [nonCanonical, 800],
  segments: [segments, 500],
  'JWE and JSON': [jweShapes, 100],
  'flipped signature': [flippedSignatures, 4_000],
  'cut signature': [cutSignatures, 1_000],
  'degenerate signature': [degenerateSignatures, 200],
  'DER signature': [derSignatures, 150],
  'edited payload': [editedPayloads, 2_000],
  'edited header': [editedHeaders, 1_300],
  'revoked key pair': [revokedPairs, 80],
  'garbage header': [garbageHeaders, 80],
} satisfies Record<string, [make: (cast: Cast) => Generator<Forgery>, atLeast: number]>

export type ClassName = keyof typeof classes

export interface Entry extends Forgery {
  className: ClassName
}

/** Every authorization differs from every other. */
export function forge(cast: Cast): Entry[] {
  const unique = new Map<string | undefined, Entry>()
  for (const [className, [make]] of Object.entries(classes) as [ClassName, (typeof classes)[ClassName]][]) {
    for (const { what, authorization } of make(cast)) {
      // As HTTP reads it: blanks around a value are not part of it.
      const value = authorization?.replaceAll(/^[ \t]+|[ \t]+$/g, '')
      if (!unique.has(value)) unique.set(value, { className, what, authorization: value })
    }
  }
  return [...unique.values()]
}
