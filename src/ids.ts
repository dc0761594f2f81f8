import { v7 } from 'uuid'

/** A new id. Ids of one process ascend, and the millisecond inside is the row's `created_at`. */
export const newId = (): string => v7()

export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
}
