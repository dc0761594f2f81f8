import type { TestApi } from './api.ts'

/** Gift cards of an account need a service that is active. */
export async function serveGiftCards(api: Pick<TestApi, 'request'>, account?: string): Promise<string> {
  const { status, text, body } = await api.request<{ id: string }>('POST', '/gift-card-services', {
    headers: account === undefined ? {} : { 'X-Service-Merchant-Account-ID': account },
    body: {
      gift_card_service_definition_id: 'mock-gift-card',
      display_name: 'Gift cards',
      fields: [{ key: 'api_key', value: 'any' }],
    },
  })
  if (status !== 201) throw new Error(text)
  return body.id
}
