export { passesLuhn } from '../platform/luhn.ts'
