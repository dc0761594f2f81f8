import { type Config, ConfigError } from '../../platform/config.ts'
import type { KeyProvider } from '../key-provider.ts'
import { awsKmsKeyProvider } from './aws-kms.ts'
import { fileKeyProvider } from './file.ts'
import { transitKeyProvider } from './transit.ts'

export type KeyProviderConfig = Config<
  | 'keyProvider'
  | 'keyFile'
  | 'transitUrl'
  | 'transitToken'
  | 'transitKey'
  | 'awsRegion'
  | 'awsAccessKeyId'
  | 'awsSecretAccessKey'
  | 'awsKmsKeyId'
  | 'awsKmsEndpoint'
>

export function openKeyProvider(config: KeyProviderConfig): KeyProvider {
  const problems: string[] = []
  const need = (env: string, value: string | undefined): string => {
    if (value === undefined) problems.push(`${env} is not set: FLORIN_KEY_PROVIDER=${config.keyProvider} needs it`)
    return value ?? ''
  }
  const open = providerOf(config, need)
  if (problems.length > 0) throw new ConfigError(problems)
  return open()
}

function providerOf(config: KeyProviderConfig, need: (env: string, value: string | undefined) => string) {
  switch (config.keyProvider) {
    case 'file': {
      const path = need('FLORIN_KEY_FILE', config.keyFile)
      return () => fileKeyProvider(path)
    }
    case 'transit': {
      const url = need('FLORIN_TRANSIT_URL', config.transitUrl)
      const token = need('FLORIN_TRANSIT_TOKEN', config.transitToken?.reveal())
      const key = need('FLORIN_TRANSIT_KEY', config.transitKey)
      return () => transitKeyProvider({ url, token, key })
    }
    case 'aws-kms': {
      const region = need('FLORIN_AWS_REGION', config.awsRegion)
      const accessKeyId = need('FLORIN_AWS_ACCESS_KEY_ID', config.awsAccessKeyId)
      const secretAccessKey = need('FLORIN_AWS_SECRET_ACCESS_KEY', config.awsSecretAccessKey?.reveal())
      const keyId = need('FLORIN_AWS_KMS_KEY_ID', config.awsKmsKeyId)
      const endpoint = config.awsKmsEndpoint
      return () => awsKmsKeyProvider({ region, accessKeyId, secretAccessKey, keyId, endpoint })
    }
  }
}
