import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { answerError, badBody } from './errors.ts'

/** Requests that the HTTP parser itself refuses never reach a route; they still get a body that says what is wrong. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (socket.destroyed || !socket.writable) return
  const messages: Record<string, string> = {
    HPE_HEADER_OVERFLOW: 'The headers are larger than 16 KiB',
    ERR_HTTP_REQUEST_TIMEOUT: 'The request was not complete within the time limit',
  }
  const answer = answerError(badBody(messages[error.code ?? ''] ?? 'The request is not valid HTTP'))
  const body = JSON.stringify(answer.body)
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nconnection: close\r\nx-request-id: ${randomUUID()}\r\nlink: ${answer.headers['link']}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
