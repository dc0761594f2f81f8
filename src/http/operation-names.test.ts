import { expect, test } from 'vitest'
import { nameOperation } from './operation-names.ts'
import { routes } from './routes.ts'

const nameOf = (id: string) => routes.filter((route) => route.id === id).map((route) => nameOperation(route).join(' '))

test('an operation is named by its path and what it does', () => {
  expect(nameOf('listTransactions')).toEqual(['transactions list'])
  expect(nameOf('createRefund')).toEqual(['transactions refunds create'])
  expect(nameOf('captureTransaction')).toEqual(['transactions capture'])
  expect(nameOf('rotateWebhookSecret')).toEqual(['webhook-subscriptions rotate-secret'])
  expect(nameOf('listBuyerPaymentMethods')).toEqual(['buyers payment-methods list'])
  expect(nameOf('activateGiftCard')).toEqual(['gift-cards activate'])
})

test('no two operations have the same name, and none is a group of others', () => {
  const names = routes.map((route) => nameOperation(route).join(' '))
  expect(new Set(names).size).toBe(names.length)
  expect(names.filter((name) => names.some((other) => other.startsWith(`${name} `)))).toEqual([])
  expect(names.filter((name) => name.split(' ').length < 2)).toEqual([])
})
