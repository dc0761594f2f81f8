import { payerCodes } from './payer-codes.ts'
import { setupCodes } from './setup-codes.ts'

/** `error_code` of transactions, captures, voids and refunds. */
export const paymentCodes = { ...payerCodes, ...setupCodes }
