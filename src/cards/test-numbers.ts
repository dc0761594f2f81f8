import type { CardScheme } from '../card-schemes.ts'
import type { BinFacts, CardType } from './facts.ts'

interface TestNumber {
  number: string
  scheme: CardScheme
  additionalSchemes: readonly CardScheme[]
  cardType: CardType
  country: string
  note: string
}

/**
 * The numbers that the sandbox takes as cards: those that payment companies and schemes publish for tests, so that people
 * find the ones they know by heart. No account is behind any of them. Type, country and issuer are what the sandbox says.
 */
const published = `
4111111111111111     visa                         credit   US  the usual test card
4242424242424242     visa                         credit   US  the other usual one
4012888888881881     visa                         credit   GB  issued abroad
4222222222222        visa                         credit   US  13 digits
4000056655665556     visa                         debit    US
4013250000000000006  visa                         debit    DE  V Pay, 19 digits
4000002500001001     visa+carte-bancaire          debit    FR  co-badged
4360000001000005     visa+carte-bancaire          credit   FR  co-badged
4871049999999910     visa+bancontact              debit    BE  co-badged
4000050360000001     visa+eftpos-australia        debit    AU  co-badged
4001230000000004     visa+star                    debit    US  with a debit network of the United States
5555555555554444     mastercard                   credit   US  the usual one
2223003122003222     mastercard                   credit   US  of the 2 series
5200828282828210     mastercard                   debit    US
5105105105105100     mastercard                   prepaid  US
5555552500001001     mastercard+carte-bancaire    debit    FR  co-badged
5127880999999990     mastercard+bancontact        debit    BE  co-badged
5555050360000080     mastercard+eftpos-australia  debit    AU  co-badged
378282246310005      amex                         credit   US  the usual one
371449635398431      amex                         credit   US
370000000000002      amex                         debit    NL
6011111111111117     discover                     credit   US  the usual one
6011000990139424     discover                     credit   US
6011981111111113     discover                     debit    US
3056930009020004     diners-club                  credit   US  16 digits
36227206271667       diners-club                  credit   US  14 digits
38520000023237       diners-club                  debit    US
3566002020360505     jcb                          credit   JP  the usual one
3530111333300000     jcb                          debit    JP
6200000000000005     unionpay                     credit   CN  the usual one
6200000000000047     unionpay                     debit    CN
6205500000000000004  unionpay                     credit   CN  19 digits
8171999927660000     unionpay                     credit   CN  of the 81 series
6759649826438453     maestro                      debit    GB
6304000000000000     maestro                      debit    IE
6799990100000000019  maestro                      debit    NL  19 digits
6703444444444449     bancontact+maestro           debit    BE
5019717010103742     dankort                      debit    DK
5019555544445555     dankort                      debit    DK
5066991111111118     elo                          credit   BR
6362970000457013     elo                          debit    BR
6062828888666688     hipercard                    credit   BR
6062826786276634     hipercard                    debit    BR
2200000000000053     mir                          credit   RU
2202208311110010     mir                          debit    RU
6082015309577308     rupay                        credit   IN
6074825972083818     rupay                        debit    IN
135410014004955      uatp                         credit   US  charges an airline's customer
`

/** What a card can make the sandbox's processor do. A code alone is a refusal with it. */
export type Force =
  | 'issuer_decline'
  | 'insufficient_funds'
  | 'expired_payment_method'
  | 'incorrect_cvv'
  | 'suspected_fraud'
  | 'canceled_payment_method'
  | 'unavailable_payment_method'
  | 'unknown_payment_method'
  | 'service_error'
  | 'pending'
  | 'timeout_before'
  | 'timeout_after'
  | `${'capture' | 'void' | 'refund'}_${'pending' | 'timeout'}`
  | 'dispute'
  | 'dispute_won'

interface ForcingNumber extends TestNumber {
  forces: Force
}

const forcing: readonly [number: string, forces: Force][] = [
  ['4000000000000002', 'issuer_decline'],
  ['4000000000009995', 'insufficient_funds'],
  ['4000000000000069', 'expired_payment_method'],
  ['4000000000000127', 'incorrect_cvv'],
  ['4000000000001018', 'suspected_fraud'],
  ['4000000000001026', 'canceled_payment_method'],
  ['4000000000001034', 'unavailable_payment_method'],
  ['4000000000001042', 'unknown_payment_method'],
  ['4000000000001059', 'service_error'],
  ['4000000000002008', 'pending'],
  ['4000000000002016', 'capture_pending'],
  ['4000000000002024', 'void_pending'],
  ['4000000000002032', 'refund_pending'],
  ['4000000000003006', 'timeout_before'],
  ['4000000000003014', 'timeout_after'],
  ['4000000000003105', 'capture_timeout'],
  ['4000000000003113', 'void_timeout'],
  ['4000000000003121', 'refund_timeout'],
  ['4000000000004004', 'dispute'],
  ['4000000000004012', 'dispute_won'],
]

/**
 * What 3-D Secure says of a card where it is asked, as the standard writes it: authenticated, attempted, not authenticated, rejected,
 * unavailable, challenge. Elsewhere these are good cards, but for the challenge, without which its issuer takes no payment.
 */
export type Authentication = 'Y' | 'A' | 'N' | 'R' | 'U' | 'C'

interface AuthenticationNumber extends TestNumber {
  authentication: Authentication
}

const authenticating: readonly [number: string, authentication: Authentication][] = [
  ['4000000000005001', 'Y'],
  ['4000000000005019', 'A'],
  ['4000000000005027', 'N'],
  ['4000000000005035', 'R'],
  ['4000000000005043', 'U'],
  ['4000000000005050', 'C'],
]

/** Good cards, as far as their number goes. */
export const testNumbers: readonly TestNumber[] = published
  .trim()
  .split('\n')
  .map((line) => {
    const [number = '', schemes = '', cardType, country = '', ...note] = line.split(/ +/)
    const [scheme, ...additionalSchemes] = schemes.split('+') as [CardScheme, ...CardScheme[]]
    return { number, scheme, additionalSchemes, cardType: cardType as CardType, country, note: note.join(' ') }
  })

/** Apart from the others, so that nobody is handed one who did not ask for what it does. */
export const forcingNumbers: readonly ForcingNumber[] = forcing.map(([number, forces]) => ({
  ...madeUp(number, `forces ${forces}`),
  forces,
}))

export const authenticationNumbers: readonly AuthenticationNumber[] = authenticating.map(
  ([number, authentication]) => ({ ...madeUp(number, `3-D Secure says ${authentication}`), authentication }),
)

function madeUp(number: string, note: string): TestNumber {
  return { number, scheme: 'visa', additionalSchemes: [], cardType: 'credit', country: 'US', note }
}

const byNumber = new Map(
  [...testNumbers, ...forcingNumbers, ...authenticationNumbers].map((entry) => [entry.number, entry]),
)

export const isTestNumber = (number: string) => byNumber.has(number)

/**
 * By the whole number, not by its first digits: real banks own some of them, and a real card must not be said to come
 * from the sandbox.
 */
export function findTestFacts(number: string): BinFacts | undefined {
  const found = byNumber.get(number)
  if (!found) return undefined
  const { scheme, additionalSchemes, cardType, country } = found
  return { scheme, additionalSchemes, cardType, country, issuer: `Sandbox Bank ${country}` }
}
