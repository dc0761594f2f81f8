export class TooLate extends Error {}

/** Another company's answer, or `TooLate`: the call is told when its time is over, and is not waited for whether it listens or not. */
export async function withDeadline<Answer>(
  ms: number,
  call: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const signal = AbortSignal.timeout(ms)
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new TooLate('the provider did not answer in time')), { once: true })
  })
  late.catch(() => undefined)
  return await Promise.race([call(signal), late])
}
