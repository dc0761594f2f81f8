import { createPrivateKey, type KeyObject } from 'node:crypto'
import { devFiles, readIfPresent, shortPath } from './dev-folder.ts'
import { CommandError } from './output.ts'

/** The key in a file that signs tokens, in PEM (PKCS #8); without a path, the one that `florin dev` made. */
export async function readPrivateKey(path: string | undefined): Promise<string> {
  const file = path ?? devFiles().privateKey
  const pem = await readIfPresent(file)
  if (pem === undefined) {
    throw new CommandError(
      path === undefined
        ? `There is no key here yet (${shortPath(file)}). Start "florin dev" once, or name a key with --key FILE; "florin keys create" makes one.`
        : `There is no file ${path}. "florin keys create --name NAME --out ${path}" makes a key pair.`,
    )
  }
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    throw new CommandError(`${shortPath(file)} is not a private key in PEM without a passphrase ("BEGIN PRIVATE KEY").`)
  }
  if (key.asymmetricKeyType !== 'rsa' && key.asymmetricKeyDetails?.namedCurve !== 'secp521r1') {
    throw new CommandError(`${shortPath(file)} is neither an RSA key nor an EC key of the curve P-521.`)
  }
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}
