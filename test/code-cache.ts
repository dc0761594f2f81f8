import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Hundreds of processes are started that read the same modules: Node keeps what it compiled, half the time that an api takes to start. */
export const codeCache = {
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(tmpdir(), 'florin-test-code'),
}
