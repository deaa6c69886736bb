import type { Kube } from '../../../adapters/kube/index.ts'
import { readKeys, type SopsKeys } from '../../../adapters/sops/index.ts'
import { type GitOpsDeployment, keyOf, Secrets } from '../../../api/index.ts'
import { createDecryption, type Decryption } from '../../../engines/render/index.ts'
import { type Clock, Failure, isFailure } from '../../../std/index.ts'
import { intervalOf } from '../schedule/interval.ts'
import { tenantOf } from './targets.ts'
import { SOURCES_PACE } from './variables.ts'

export type DecryptionReader = ReturnType<typeof createDecryptionReader>

/** Of one deployment. */
interface Kept {
  /** The generation for which the keys were read, with the version of their Secret; `undefined` when they are to be read again. */
  version: string | undefined
  sources: string
  at: number
  decryption: Decryption
}

/** What `spec.decryption` says, kept until the spec or the version of its Secret changes or an interval is over. */
export function createDecryptionReader(
  kube: Kube,
  clock: Clock,
  versionsOf: (deployment: GitOpsDeployment) => readonly string[] = () => [],
) {
  const kept = new Map<string, Kept>()
  return {
    async of(deployment: GitOpsDeployment): Promise<Decryption | undefined> {
      const { metadata, spec } = deployment
      const key = keyOf(metadata)
      if (!spec.decryption) {
        kept.delete(key)
        return undefined
      }
      const version = JSON.stringify([metadata.uid, metadata.generation])
      const sources = versionsOf(deployment).join(' ')
      const last = kept.get(key)
      // What changes while it is read is younger than what was read.
      const at = clock.now()
      const age = at - (last?.at ?? 0)
      const isSame = last?.version === version && (last.sources === sources || age < SOURCES_PACE)
      if (isSame && age < intervalOf(spec.interval)) return last.decryption
      const keys = await read(deployment, spec.decryption, kube)
      const isAsBefore = last?.decryption.digest === keys.digest
      const decryption = isAsBefore ? last.decryption : createDecryption(keys, last?.decryption)
      kept.set(key, { version, sources, at, decryption })
      return decryption
    },
    /** Says whether `secretsOf` is all that was ever decrypted for it: not after a restart, until a commit is brought into effect. */
    isKnown: ({ metadata, spec }: GitOpsDeployment): boolean =>
      !spec.decryption || kept.get(keyOf(metadata))?.decryption.hasOpened() === true,
    /** The values that were encrypted. The same set until it changes. */
    secretsOf: (key: string): ReadonlySet<string> | undefined => kept.get(key)?.decryption.secrets(),
    forget(key: string): void {
      const known = kept.get(key)
      if (known) known.version = undefined
    },
    drop: (key: string): void => void kept.delete(key),
  }
}

/** What `spec.decryption` says now. */
export const readDecryption = async (deployment: GitOpsDeployment, kube: Kube): Promise<Decryption | undefined> =>
  deployment.spec.decryption && createDecryption(await read(deployment, deployment.spec.decryption, kube))

type Wanted = NonNullable<GitOpsDeployment['spec']['decryption']>

/** With the rights of the tenant's service account alone: the operator's own would open every Secret. */
async function read(deployment: GitOpsDeployment, { secretRef: { name } }: Wanted, kube: Kube): Promise<SopsKeys> {
  const { namespace = '' } = deployment.metadata
  const data = await dataOf(name, namespace, kube.as(tenantOf(deployment)))
  const fields = Object.entries(data).map(([field, value]) => [field, Buffer.from(value, 'base64').toString('utf8')])
  return readKeys(Object.fromEntries(fields), `Secret ${name} (spec.decryption.secretRef)`)
}

async function dataOf(name: string, namespace: string, kube: Kube): Promise<Record<string, string>> {
  try {
    const found = await kube.get(Secrets, { namespace, name })
    if (found) return found.data ?? {}
  } catch (thrown) {
    if (!isFailure(thrown, 'forbidden')) throw thrown
    throw new Failure(
      'invalid',
      `spec.decryption.secretRef: the service account may not read Secret ${name}: ${thrown.message}`,
      {
        reason: 'DecryptionKeysForbidden',
        remedy: 'Give it the right to get that Secret',
      },
    )
  }
  throw new Failure('invalid', `spec.decryption.secretRef: there is no Secret ${name} in namespace ${namespace}`, {
    reason: 'DecryptionKeysNotFound',
    remedy: 'Create it with the private key in a field whose name ends with .agekey, or .asc for one of PGP',
  })
}
