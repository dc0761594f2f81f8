import { isPins, pinNames, type Pins } from '../embed.ts'
import { CommandError } from './output.ts'

/** What `name=value` after `name=value` pins together. */
export const parsePins = (texts: readonly string[]): Pins => texts.reduce<Pins>(addPin, {})

const texts: readonly string[] = ['currency', 'buyer_id', 'buyer_external_identifier', 'merchant_account_id']

function addPin(before: Pins, text: string): Pins {
  const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(text) ?? []
  if (!pinNames.some((known) => known === name)) {
    throw new CommandError(`--pin: write name=value. What can be pinned: ${pinNames.join(', ')}.`)
  }
  const pins: unknown = { ...before, [name]: texts.includes(name) ? value : parseJson(value) }
  if (isPins(pins)) return pins
  throw new CommandError(
    name.startsWith('buyer') && (before.buyer_id ?? before.buyer_external_identifier) !== undefined
      ? '--pin: a buyer is pinned by one name.'
      : `--pin: that is not what ${name} can be. Examples: amount=1299, currency=EUR, 'metadata={"order":"4711"}'.`,
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
