import type { Refusal } from '../mock-card/amounts.ts'

/** What is refused because of the buyer, or because nobody could ask. */
export const approvalRules = {
  notAuthenticated: {
    outcome: 'declined',
    error_code: 'failed_buyer_approval',
    retriable: false,
    raw_code: 'S101',
    description: 'The issuer has not authenticated the buyer',
  },
  noAnswer: {
    outcome: 'failed',
    error_code: 'failed_buyer_approval',
    retriable: false,
    raw_code: 'S102',
    description: 'The 3-D Secure server does not answer',
  },
  rejected: {
    outcome: 'declined',
    error_code: 'failed_buyer_approval',
    retriable: false,
    raw_code: 'S103',
    description: 'The buyer has not approved, or has failed the challenge',
  },
  cancelled: {
    outcome: 'failed',
    error_code: 'cancelled_buyer_approval',
    retriable: false,
    raw_code: 'S104',
    description: 'The buyer went back without an answer',
  },
  expired: {
    outcome: 'failed',
    error_code: 'incomplete_buyer_approval',
    retriable: false,
    raw_code: 'S105',
    description: 'The buyer did not answer in time',
  },
  noWayBack: {
    outcome: 'failed',
    error_code: 'missing_redirect_url',
    retriable: false,
    raw_code: 'S106',
    description: 'The buyer must approve and cannot be asked: send a redirect_url, and turn 3-D Secure on for a card',
  },
  noSuchEnrolment: {
    outcome: 'failed',
    error_code: 'unknown_payment_method',
    retriable: false,
    raw_code: 'S107',
    description: 'The buyer has not enrolled with this service',
  },
} as const satisfies Record<string, Refusal>
