import { create, equals } from '@bufbuild/protobuf'
import { type ConfigurationFile, ConfigurationFileSchema } from '../rpc/index.ts'

/** Who may reach the cluster through kas, and nothing else of the file: all that kas itself has to remember of it. */
export function accessRules({ ciAccess, userAccess }: ConfigurationFile): ConfigurationFile {
  return create(ConfigurationFileSchema, { ...(ciAccess ? { ciAccess } : {}), ...(userAccess ? { userAccess } : {}) })
}

export const isSameFile = (a: ConfigurationFile, b: ConfigurationFile): boolean => equals(ConfigurationFileSchema, a, b)
