import type { Kube } from '../../adapters/kube/index.ts'
import { ConfigMaps, type GitOpsDeployment, keyOf, Secrets } from '../../api/index.ts'
import type { Variables } from '../../engines/gitops/index.ts'
import { type Clock, Failure, isFailure } from '../../std/index.ts'
import { intervalOf } from './interval.ts'
import { tenantOf } from './targets.ts'

/** The values of `spec.variables`, kept until the spec or the commit changes or an interval is over. */
export interface VariableReader {
  of(deployment: GitOpsDeployment, commitId: string): Promise<Variables | undefined>
  /** Knows `secretsOf`, if that can be: for who needs the values only to hide them. Tells whether it does. */
  learn(deployment: GitOpsDeployment): Promise<boolean>
  /** What came from Secrets, the values that were there before a change included: objects may still have them. */
  secretsOf(key: string): ReadonlySet<string> | undefined
  forget(key: string): void
  /** The deployment is no more. */
  drop(key: string): void
}

export function createVariableReader(kube: Kube, clock: Clock): VariableReader {
  const known = new Map<string, { version: string; at: number; variables: Variables }>()
  const secrets = new Map<string, { now: ReadonlySet<string>; before: ReadonlySet<string> }>()
  const note = (key: string, now: ReadonlySet<string> = new Set()) => {
    const last = secrets.get(key) ?? { now, before: new Set<string>() }
    const isSame = last.now.size === now.size && [...now].every((secret) => last.now.has(secret))
    secrets.set(key, isSame ? last : { now, before: last.now })
  }
  return {
    async of(deployment, commitId) {
      const { metadata, spec } = deployment
      if (!spec.variables) return
      const version = JSON.stringify([metadata.uid, metadata.generation, commitId])
      const last = known.get(keyOf(metadata))
      if (last?.version === version && clock.now() - last.at < intervalOf(spec.interval)) return last.variables
      const variables = await read(deployment, spec.variables, kube.as(tenantOf(deployment)))
      known.set(keyOf(metadata), { version, at: clock.now(), variables })
      note(keyOf(metadata), variables.secrets)
      return variables
    },
    async learn(deployment) {
      const { metadata, spec } = deployment
      if (!spec.variables || secrets.has(keyOf(metadata))) return true
      try {
        note(keyOf(metadata), (await read(deployment, spec.variables, kube.as(tenantOf(deployment)))).secrets)
        return true
      } catch {
        return false
      }
    },
    secretsOf(key) {
      const { now, before } = secrets.get(key) ?? {}
      return now && before && new Set([...now, ...before])
    },
    forget: (key) => void known.delete(key),
    drop(key) {
      known.delete(key)
      secrets.delete(key)
    },
  }
}

type Wanted = NonNullable<GitOpsDeployment['spec']['variables']>

/** With the rights of the tenant's service account alone: the operator's own would open every Secret. */
async function read({ metadata }: GitOpsDeployment, { from = [], values, strict }: Wanted, kube: Kube): Promise<Variables> {
  const all = new Map<string, string>()
  const secrets = new Set<string>()
  for (const [index, source] of from.entries()) {
    const found = await readOne(kube, metadata.namespace ?? '', source, `spec.variables.from[${index}]`)
    for (const [name, value] of Object.entries(found)) {
      all.set(name, value)
      if (source.kind === 'Secret') secrets.add(value)
    }
  }
  for (const [name, value] of Object.entries(values ?? {})) all.set(name, value)
  return { values: all, strict: strict ?? true, secrets }
}

type Source = NonNullable<Wanted['from']>[number]

async function readOne(
  kube: Kube,
  namespace: string,
  { kind, name, optional }: Source,
  field: string,
): Promise<Record<string, string>> {
  try {
    const found = await kube.get(kind === 'Secret' ? Secrets : ConfigMaps, { namespace, name })
    if (found) return kind === 'Secret' ? decoded(found.data ?? {}) : (found.data ?? {})
  } catch (thrown) {
    if (!isFailure(thrown, 'forbidden')) throw thrown
    throw new Failure('invalid', `${field}: the service account may not read ${kind} ${name}: ${thrown.message}`, {
      reason: 'VariablesForbidden',
      remedy: `Give it the right to get that ${kind}`,
    })
  }
  if (optional) return {}
  throw new Failure('invalid', `${field}: there is no ${kind} ${name} in namespace ${namespace}`, {
    reason: 'VariablesNotFound',
    remedy: 'Create it, or mark it optional',
  })
}

const decoded = (data: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString('utf8')]))
