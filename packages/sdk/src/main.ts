export * from './core.ts'
export * from './generated/groups.ts'
export { List } from './pages.ts'
export { verifyWebhook, type WebhookRequest, WebhookVerificationError } from './webhook.ts'
