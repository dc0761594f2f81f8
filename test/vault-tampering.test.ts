import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { VaultError, type SecretReference } from '../src/vault/client.ts'
import { useDatabase } from './database.ts'
import { makeCardNumber, useVault } from './vault.ts'

const database = useDatabase()
const vault = useVault(database)
const size = Number(process.env['VAULT_TAMPERED_ROWS'] ?? 500)
let cards: { reference: SecretReference; number: string }[] = []

beforeEach(async () => {
  await database.query('truncate vault.secrets')
  cards = Array.from({ length: size }, (_, index) => ({
    reference: { merchantAccountId: index % 2 === 0 ? 'left' : 'right', id: randomUUID() },
    number: makeCardNumber(),
  }))
  await Promise.all(cards.map(({ reference, number }) => vault.client().storeCard(reference, number)))
})

/** What every card gives when it is read: its own number, nothing, an error, or something it should never give. */
async function readAll(references: readonly SecretReference[], field: 'number' | 'replacement' = 'number') {
  const outcomes = { right: 0, absent: 0, refused: 0, wrong: 0 }
  await Promise.all(
    references.map(async (reference, index) => {
      try {
        const number = await vault.client().readCard(reference, field)
        if (number === undefined) outcomes.absent += 1
        else if (number === cards[index]?.number) outcomes.right += 1
        else outcomes.wrong += 1
      } catch (error) {
        if (!(error instanceof VaultError)) throw error
        outcomes.refused += 1
      }
    }),
  )
  return outcomes
}

const references = () => cards.map(({ reference }) => reference)
const allRefused = { right: 0, absent: 0, refused: size, wrong: 0 }

test('untouched, every card is right', async () => {
  expect(await readAll(references())).toEqual({ right: size, absent: 0, refused: 0, wrong: 0 })
})

test('ciphertexts that changed places between rows open for nobody', async () => {
  await database.query(`
    with shifted as (
      select merchant_account_id, id, coalesce(lead(sealed) over w, first_value(sealed) over w) as sealed
      from vault.secrets window w as (order by id rows between unbounded preceding and unbounded following)
    )
    update vault.secrets set sealed = shifted.sealed from shifted where secrets.id = shifted.id`)
  expect(await readAll(references())).toEqual(allRefused)
})

test('rows that were handed to another account open for neither', async () => {
  await database.query(`
    update vault.secrets set merchant_account_id = case merchant_account_id when 'left' then 'right' else 'left' end`)
  expect(await readAll(references())).toEqual({ right: 0, absent: size, refused: 0, wrong: 0 })
  const swapped = references().map(({ merchantAccountId, id }) => ({
    merchantAccountId: merchantAccountId === 'left' ? 'right' : 'left',
    id,
  }))
  expect(await readAll(swapped)).toEqual(allRefused)
})

test('a number does not open as a replacement, nor can it be applied as one', async () => {
  await database.query("update vault.secrets set field = 'replacement'")
  expect(await readAll(references(), 'replacement')).toEqual(allRefused)
  const [first] = references()
  if (first) await expect(vault.client().applyReplacement(first)).rejects.toThrow(VaultError)
})

test('a row that was given another id does not open', async () => {
  await database.query('update vault.secrets set id = (reverse(replace(id::text, $1, $2)))::uuid', ['-', ''])
  const moved = references().map(({ merchantAccountId, id }) => {
    const hex = id.replaceAll('-', '').split('').toReversed().join('')
    return { merchantAccountId, id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') }
  })
  expect(await readAll(moved)).toEqual(allRefused)
})

test('one bit is enough: no row with a flipped one opens', async () => {
  await database.query(`
    with chosen as (select id, (random() * (length(sealed) * 8 - 1))::integer as bit from vault.secrets)
    update vault.secrets set sealed = set_bit(sealed, bit, 1 - get_bit(sealed, bit)) from chosen where secrets.id = chosen.id`)
  expect(await readAll(references())).toEqual(allRefused)
})

test('a row that names a key that does not exist does not open', async () => {
  await database.query('update vault.secrets set key_version = 77')
  expect(await readAll(references().slice(0, 50))).toMatchObject({ refused: 50 })
})
