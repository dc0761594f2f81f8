import type { Context } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { type PageRequest, toCollection } from '../../../page.ts'
import type { Collection } from '../../../schema.ts'
import type { ListPaymentServicesQuery, PaymentService } from '../schema.ts'
import { findPaymentService, listPaymentServiceRows } from '../store.ts'
import { present } from './present.ts'

type Reader = Pick<Context, 'db' | 'accounts' | 'baseUrl'>

export async function listPaymentServices(
  ctx: Reader,
  { method, deleted = false }: ListPaymentServicesQuery,
  page: PageRequest,
): Promise<Collection<PaymentService>> {
  const found = await listPaymentServiceRows(ctx.db, ctx.accounts, { method, deleted }, page)
  return toCollection(
    page,
    found,
    ({ id }) => id,
    (row) => present(row, ctx.baseUrl),
  )
}

export async function getPaymentService(ctx: Reader, id: string): Promise<PaymentService> {
  const row = await findPaymentService(ctx.db, ctx.accounts, id)
  if (!row) throw notFound()
  return present(row, ctx.baseUrl)
}
