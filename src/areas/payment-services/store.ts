import { type PageRequest, type PageRows, readPage } from '../../page.ts'
import { type Accounts, within } from '../../platform/accounts.ts'
import { type Db, read } from '../../platform/postgres.ts'
import { all, sql } from '../../platform/sql.ts'
import type { Acceptance, FieldState, PaymentServiceStatus, Switches } from './rules.ts'
import type { MerchantProfile } from './schema.ts'

/** What can be set, beside the position. */
export interface ServiceSettings extends Acceptance, FieldState, Switches {
  display_name: string
  merchant_profile: MerchantProfile | null
}

export interface PaymentServiceRow extends ServiceSettings {
  merchant_account_id: string
  id: string
  definition_id: string
  method: string
  status: PaymentServiceStatus
  position: number
  is_deleted: boolean
  version: number
  created_at: Date
  updated_at: Date
}

/** What a payment needs to know of a service. */
export type RoutedRow = Pick<
  PaymentServiceRow,
  | 'merchant_account_id'
  | 'id'
  | 'definition_id'
  | 'method'
  | 'display_name'
  | 'fields'
  | 'secret_names'
  | 'three_d_secure_enabled'
  | 'settlement_reporting_enabled'
>

const columns = sql`
  merchant_account_id, id, definition_id, method, display_name, active, status, position, accepted_currencies,
  accepted_countries, fields, reporting_fields, secret_names, payment_method_tokenization_enabled, network_tokens_enabled,
  open_loop, settlement_reporting_enabled, three_d_secure_enabled, merchant_profile, is_deleted, version, created_at,
  updated_at`
const routedColumns = sql`
  merchant_account_id, id, definition_id, method, display_name, fields, secret_names, three_d_secure_enabled,
  settlement_reporting_enabled`

/** Undefined also when it is deleted. */
export async function findPaymentService(
  db: Db,
  accounts: Accounts,
  id: string,
): Promise<PaymentServiceRow | undefined> {
  const [row] = await read<PaymentServiceRow>(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from payment_services
      where ${visible(sql`merchant_account_id`)} and id = ${id} and not is_deleted`,
  )
  return row
}

export function listPaymentServiceRows(
  db: Db,
  accounts: Accounts,
  { method, deleted }: { method: string | undefined; deleted: boolean },
  page: PageRequest,
): Promise<PageRows<PaymentServiceRow>> {
  const matches = method === undefined ? sql`true` : sql`method = ${method}`
  return readPage(db, accounts, page, {
    columns,
    from: sql`payment_services`,
    where: (visible) => sql`${visible(sql`merchant_account_id`)} and is_deleted = ${deleted} and ${matches}`,
    id: sql`id`,
    account: sql`merchant_account_id`,
  })
}

/** Who is asked about the payments of an account before they go anywhere. */
export interface GuardRow {
  id: string
  definition_id: string
  reviews_enabled: boolean
}

/** Active ones that take the currency, and the country if one is given; in the order in which they are tried. */
export function findUsableRows(
  db: Db,
  accounts: Accounts,
  {
    method,
    currency,
    country,
    id,
  }: { method: string; currency: string; country: string | null; id?: string | undefined },
): Promise<(RoutedRow & { anti_fraud: GuardRow | null })[]> {
  const narrower = [
    ...(country === null ? [] : [sql`${country} = any(accepted_countries)`]),
    ...(id === undefined ? [] : [sql`id = ${id}`]),
  ]
  return read(
    db,
    accounts,
    (visible) => sql`
      select ${routedColumns}, (
          select json_build_object('id', guard.id, 'definition_id', guard.definition_id, 'reviews_enabled', guard.reviews_enabled)
          from anti_fraud_services as guard where guard.merchant_account_id = payment_services.merchant_account_id and guard.active
        ) as anti_fraud
      from payment_services
      where ${visible(sql`merchant_account_id`)} and active and not is_deleted and method = ${method}
        and ${currency} = any(accepted_currencies) and ${all(narrower)}
      order by position, id`,
  )
}

/** Whatever became of it. */
export async function findRoutedRow(db: Db, accounts: Accounts, id: string): Promise<RoutedRow | undefined> {
  const [row] = await read<RoutedRow>(
    db,
    accounts,
    (visible) => sql`
      select ${routedColumns} from payment_services where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}

type NewRow = Omit<PaymentServiceRow, 'position' | 'is_deleted' | 'version' | 'updated_at'> & {
  position: number | null
}

/** Without a position it comes after the last one. Two that are made at once may share one; then the older goes first. */
export async function insertPaymentService(db: Db, row: NewRow): Promise<PaymentServiceRow> {
  const [inserted] = await db.run<PaymentServiceRow>(sql`
    insert into payment_services (merchant_account_id, id, definition_id, method, display_name, active, status, position,
      accepted_currencies, accepted_countries, fields, reporting_fields, secret_names, payment_method_tokenization_enabled,
      network_tokens_enabled, open_loop, settlement_reporting_enabled, three_d_secure_enabled, merchant_profile, created_at,
      updated_at)
    values (${row.merchant_account_id}, ${row.id}, ${row.definition_id}, ${row.method}, ${row.display_name}, ${row.active},
      ${row.status}, coalesce(${row.position}::integer, (
        select least(coalesce(max(position)::bigint, 0) + 1, 2147483647)::integer from payment_services
        where merchant_account_id = ${row.merchant_account_id} and not is_deleted
      )),
      ${row.accepted_currencies}, ${row.accepted_countries}, ${JSON.stringify(row.fields)},
      ${JSON.stringify(row.reporting_fields)}, ${row.secret_names}, ${row.payment_method_tokenization_enabled},
      ${row.network_tokens_enabled}, ${row.open_loop}, ${row.settlement_reporting_enabled}, ${row.three_d_secure_enabled},
      ${toJson(row.merchant_profile)}, ${row.created_at}, ${row.created_at})
    returning ${columns}`)
  if (!inserted) throw new Error('a payment service was not inserted')
  return inserted
}

/** Undefined when it is not there within reach, or not any more as it was read. */
export async function updatePaymentServiceRow(
  db: Db,
  accounts: Accounts,
  { id, version }: { id: string; version: number },
  settings: ServiceSettings & { position: number },
  updatedAt: Date,
): Promise<PaymentServiceRow | undefined> {
  const [updated] = await db.run<PaymentServiceRow>(sql`
    update payment_services
    set display_name = ${settings.display_name},
      active = ${settings.active},
      position = ${settings.position},
      accepted_currencies = ${settings.accepted_currencies},
      accepted_countries = ${settings.accepted_countries},
      fields = ${JSON.stringify(settings.fields)},
      reporting_fields = ${JSON.stringify(settings.reporting_fields)},
      secret_names = ${settings.secret_names},
      payment_method_tokenization_enabled = ${settings.payment_method_tokenization_enabled},
      network_tokens_enabled = ${settings.network_tokens_enabled},
      open_loop = ${settings.open_loop},
      settlement_reporting_enabled = ${settings.settlement_reporting_enabled},
      three_d_secure_enabled = ${settings.three_d_secure_enabled},
      merchant_profile = ${toJson(settings.merchant_profile)},
      version = version + 1,
      updated_at = ${updatedAt}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and version = ${version} and not is_deleted
    returning ${columns}`)
  return updated
}

/** Marks it; undefined when there is none within reach, or it is deleted already. */
export async function deletePaymentServiceRow(
  db: Db,
  accounts: Accounts,
  id: string,
  deletedAt: Date,
): Promise<PaymentServiceRow | undefined> {
  const [deleted] = await db.run<PaymentServiceRow>(sql`
    update payment_services
    set is_deleted = true, secret_names = '{}', version = version + 1, updated_at = ${deletedAt}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and not is_deleted
    returning ${columns}`)
  return deleted
}

const toJson = (value: object | null) => (value ? JSON.stringify(value) : null)
