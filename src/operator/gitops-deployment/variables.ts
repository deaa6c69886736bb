import type { Kube } from '../../adapters/kube/index.ts'
import { ConfigMaps, type GitOpsDeployment, keyOf, Secrets } from '../../api/index.ts'
import type { Variables } from '../../engines/gitops/index.ts'
import { type Clock, Failure, isFailure } from '../../std/index.ts'
import { intervalOf } from './interval.ts'
import { tenantOf } from './targets.ts'

/** The values of `spec.variables`, kept until the spec or the commit changes or an interval is over. */
export interface VariableReader {
  of(deployment: GitOpsDeployment, commitId: string): Promise<Variables | undefined>
  forget(key: string): void
}

export function createVariableReader(kube: Kube, clock: Clock): VariableReader {
  const known = new Map<string, { version: string; at: number; variables: Variables }>()
  return {
    async of(deployment, commitId) {
      const { metadata, spec } = deployment
      if (!spec.variables) return
      const version = JSON.stringify([metadata.uid, metadata.generation, commitId])
      const last = known.get(keyOf(metadata))
      if (last?.version === version && clock.now() - last.at < intervalOf(spec.interval)) return last.variables
      const variables = await read(deployment, spec.variables, kube.as(tenantOf(deployment)))
      known.set(keyOf(metadata), { version, at: clock.now(), variables })
      return variables
    },
    forget: (key) => void known.delete(key),
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
