/** Places where a test may stop the process, to show that nothing is lost there. Outside such tests they do nothing. */
let stop: ((name: string) => Promise<void>) | undefined

export const failpoint = (name: string): Promise<void> | undefined => stop?.(name)

export function onFailpoint(handler: (name: string) => Promise<void>): void {
  stop = handler
}
