import { type CoreSecret, Secrets } from '../../../api/index.ts'
import { envelope } from './envelope.ts'
import { digest, objectNameOf } from './names.ts'
import type { Plan } from './plan.ts'

/** On a copy: the state of the Secret that it was copied from. */
const SOURCE_VERSION = 'berth.dev/source-version'

/** Copies of the class's credentials for registries, for this workspace alone. */
export function pullSecretsOf(plan: Plan): CoreSecret[] {
  return (plan.pullSecrets ?? []).map(({ metadata, type = '', data = {} }) => {
    const { metadata: own, ...rest } = envelope(plan, Secrets, nameOfCopy(plan, `${metadata.namespace}/${metadata.name}/${type}`))
    const version = `${metadata.uid}/${metadata.resourceVersion}`
    return { ...rest, metadata: { ...own, annotations: { ...own.annotations, [SOURCE_VERSION]: version } }, type, data }
  })
}

const nameOfCopy = ({ workspace }: Plan, source: string): string =>
  `${objectNameOf(workspace)}-pull-${digest(source).slice(0, 8)}`
