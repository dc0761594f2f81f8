/** Schemes whose network token credentials an account can hold. */
export const tokenSchemes = ['visa', 'amex', 'mastercard', 'discover'] as const
export type TokenScheme = (typeof tokenSchemes)[number]

export interface Requestor {
  requestor_id: string | null
  app_id: string | null
}

/** What can be set on an account, beside its id. */
export interface AccountSettings {
  display_name: string
  account_updater_enabled: boolean
  account_updater_request_encryption_key: string | null
  account_updater_request_encryption_key_id: string | null
  account_updater_response_decryption_key: string | null
  account_updater_response_decryption_key_id: string | null
  over_capture_amount: number | null
  over_capture_percentage: number | null
  loon_client_key: string | null
  loon_secret_key: string | null
  loon_accepted_schemes: string[] | null
  loon_merchant_account_id: string | null
  async_network_tokens_enabled: boolean
  requestors: Record<TokenScheme, Requestor>
}

const none: Requestor = { requestor_id: null, app_id: null }

export const defaultSettings: Omit<AccountSettings, 'display_name'> = {
  account_updater_enabled: false,
  account_updater_request_encryption_key: null,
  account_updater_request_encryption_key_id: null,
  account_updater_response_decryption_key: null,
  account_updater_response_decryption_key_id: null,
  over_capture_amount: null,
  over_capture_percentage: null,
  loon_client_key: null,
  loon_secret_key: null,
  loon_accepted_schemes: null,
  loon_merchant_account_id: null,
  async_network_tokens_enabled: false,
  requestors: { visa: none, amex: none, mastercard: none, discover: none },
}

/** The settings as a request words them: flat, everything optional. */
export type SettingsPatch = Readonly<Record<string, unknown>>

/** Takes over what the patch names and leaves the rest as it is. */
export function applyPatch<Settings extends Omit<AccountSettings, 'display_name'>>(
  settings: Settings,
  patch: SettingsPatch,
): Settings {
  const changed: Record<string, unknown> = { ...settings }
  for (const name of Object.keys(settings)) if (patch[name] !== undefined) changed[name] = patch[name]
  const requestors = { ...settings.requestors }
  for (const scheme of tokenSchemes) {
    const [requestorId, appId] = [
      patch[`${scheme}_network_tokens_requestor_id`],
      patch[`${scheme}_network_tokens_app_id`],
    ]
    requestors[scheme] = {
      requestor_id: requestorId === undefined ? requestors[scheme].requestor_id : (requestorId as string | null),
      app_id: appId === undefined ? requestors[scheme].app_id : (appId as string | null),
    }
  }
  return { ...changed, requestors } as Settings
}

/** Fields that are set although another one that belongs to them is not. */
export function incompleteFields(settings: Omit<AccountSettings, 'display_name'>): string[] {
  const loon = ['loon_client_key', 'loon_secret_key', 'loon_accepted_schemes', 'loon_merchant_account_id'] as const
  const missing = loon.filter((name) => settings[name] === null)
  const incomplete: string[] = missing.length === loon.length ? [] : missing
  for (const scheme of tokenSchemes) {
    const { requestor_id, app_id } = settings.requestors[scheme]
    if (requestor_id === null && app_id !== null) incomplete.push(`${scheme}_network_tokens_requestor_id`)
    if (app_id === null && requestor_id !== null) incomplete.push(`${scheme}_network_tokens_app_id`)
  }
  return incomplete
}
