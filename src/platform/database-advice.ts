/** What an error of PostgreSQL, or of the way to it, means and what mends it, as the end of "The database …"; undefined where nobody knows. */
export function databaseAdvice(error: Error): string | undefined {
  const { code = '', syscall, path } = error as NodeJS.ErrnoException
  const { message } = error
  if (code === 'ENOENT' && syscall === 'open') {
    return `cannot be reached: ${path} cannot be read. Correct "sslrootcert" in DATABASE_URL.`
  }
  if (code === 'ECONNREFUSED' || code === 'ENOENT') {
    return 'cannot be reached: nothing listens there. Start PostgreSQL, or correct DATABASE_URL.'
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return 'cannot be reached: there is no such host. Correct DATABASE_URL.'
  }
  if (/timeout exceeded when trying to connect/.test(message) || code === 'ETIMEDOUT') {
    return 'does not answer. Check the host and port in DATABASE_URL, and firewalls in between.'
  }
  if (/^57P0[123]$/.test(code)) return `takes nobody (${message}). It starts or stops: wait, or look at its log.`
  if (/no pg_hba.conf entry .* no encryption$/.test(message)) {
    return `lets nobody in like this (${message}). If it wants TLS, add "?sslmode=verify-full" to DATABASE_URL; otherwise a line to pg_hba.conf.`
  }
  if (/does not support SSL/.test(message)) {
    return 'does not speak TLS. Switch it on there ("ssl = on"), or take "sslmode" out of DATABASE_URL.'
  }
  if (/CERT|VERIFY_LEAF|ALTNAME/.test(code)) {
    return `has a certificate that is not trusted (${message}). Add "&sslrootcert=FILE" with its authority to DATABASE_URL, and use the host's name that is in it.`
  }
  if (code.startsWith('28') || /SASL/.test(message)) {
    return `refuses the user name or password (${message}). Correct DATABASE_URL.`
  }
  if (code === '3D000') return 'does not exist. Create it ("createdb"), or correct DATABASE_URL.'
  if (code === '42P01' || code === '3F000') return 'has no Florin tables yet. Run "florin migrate".'
  if (code === '42501') return `does not let this user do that (${message}). Use a user that may, in DATABASE_URL.`
  if (code === '53300') return 'has no free connections. Close some, or raise its max_connections.'
  return undefined
}
