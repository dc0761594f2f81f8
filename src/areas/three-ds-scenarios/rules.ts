import type { ErrorDetail } from '../../errors.ts'

interface Outcome {
  authentication: { transaction_status: string }
  result?: object | null | undefined
}

interface Settings {
  conditions?: { card_number?: string | null | undefined } | null | undefined
  outcome?: Outcome | null | undefined
}

/** Everything that is wrong with a scenario beyond its shape. */
export function scenarioProblems(
  { conditions, outcome }: Settings,
  isTestNumber: (number: string) => boolean,
): ErrorDetail[] {
  const number = conditions?.card_number
  return [
    ...(number && !isTestNumber(number)
      ? [problem('/conditions/card_number', 'unknown', 'Must be one of the test numbers in docs/sandbox.md')]
      : []),
    ...(outcome ? resultProblems(outcome) : []),
  ]
}

function resultProblems({ authentication, result }: Outcome): ErrorDetail[] {
  const isChallenge = authentication.transaction_status === 'C'
  if (isChallenge === Boolean(result)) return []
  return isChallenge
    ? [problem('/outcome/result', 'missing', 'A challenge (C) needs its result')]
    : [problem('/outcome/result', 'conflict', 'Only a challenge (C) has a result')]
}

const problem = (pointer: string, type: string, message: string): ErrorDetail => ({
  location: 'body',
  pointer,
  message,
  type: `value_error.${type}`,
})
