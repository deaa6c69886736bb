import { createMemoryOfHeap, type Kube, type Memory, sayShare, weightOf } from '../../../adapters/kube/index.ts'
import { ConfigMaps, type GitOpsDeployment, keyOf, refFromKey, Secrets } from '../../../api/index.ts'
import type { Variables } from '../../../engines/render/index.ts'
import { type Clock, Failure, isFailure, seconds } from '../../../std/index.ts'
import { intervalOf } from '../schedule/interval.ts'
import { tenantOf } from './targets.ts'

export type VariableReader = ReturnType<typeof createVariableReader>

/** Of one deployment. */
interface Kept {
  /** The generation and commit for which they were read; `undefined` when they are to be read again. */
  version: string | undefined
  /** The versions of the ConfigMaps and Secrets then. */
  sources: string
  at: number
  variables: Variables
  /** The values of Secrets before the last change. */
  before: ReadonlySet<string>
  /** And all that did. */
  secrets: ReadonlySet<string>
  bytes: number
  /** Of the values where they stand in objects: each may stand in a thousand. */
  inObjects: number
}

/** Not sooner after a change than this: what a deployment applies may be what its variables come from. Milliseconds. */
export const SOURCES_PACE = seconds(1)

/** For what the deployments of each namespace read: with a program's heap of 512 MiB, 16 MiB for one and 64 for all. */
export const createVariableMemory = (): Memory => createMemoryOfHeap({ all: 8, each: 32 })

/** The values of `spec.variables`, kept until the spec, the commit or the version of a source changes or an interval is over. */
export function createVariableReader(
  kube: Kube,
  clock: Clock,
  memory: Memory,
  versionsOf: (deployment: GitOpsDeployment) => readonly string[] = () => [],
) {
  const kept = new Map<string, Kept>()
  const keep = (
    { metadata }: GitOpsDeployment,
    { variables, bytes, at, version, sources = '' }: Found & { at: number; version?: string; sources?: string },
  ) => {
    const { namespace = '' } = metadata
    const last = kept.get(keyOf(metadata))
    const before = formerSecrets(last, variables.secrets)
    const sum = bytes + weightOf([...before])
    if (!memory.take(namespace, sum - (last?.bytes ?? 0), !last)) throw noRoom(namespace, memory)
    const secrets = new Set([...(variables.secrets ?? []), ...before])
    const inObjects = last?.inObjects ?? 0
    kept.set(keyOf(metadata), { version, sources, at, variables, before, secrets, bytes: sum, inObjects })
  }
  const put = (key: string, characters: number) => {
    const known = kept.get(key)
    if (!known) return
    const { namespace = '' } = refFromKey(key)
    if (!memory.take(namespace, characters - known.inObjects, known.inObjects === 0)) throw noRoom(namespace, memory)
    known.inObjects = characters
  }
  const drop = (key: string): undefined => {
    const { bytes = 0, inObjects = 0 } = kept.get(key) ?? {}
    memory.giveBack(refFromKey(key).namespace ?? '', bytes + inObjects)
    kept.delete(key)
  }
  return {
    async of(deployment: GitOpsDeployment, commitId: string): Promise<Variables | undefined> {
      const { metadata, spec } = deployment
      const key = keyOf(metadata)
      if (!spec.variables) return drop(key)
      const version = JSON.stringify([metadata.uid, metadata.generation, commitId])
      const sources = versionsOf(deployment).join(' ')
      const last = kept.get(key)
      // What changes while it is read is younger than what was read.
      const at = clock.now()
      const age = at - (last?.at ?? 0)
      const isSame = last?.version === version && (last.sources === sources || age < SOURCES_PACE)
      if (isSame && age < intervalOf(spec.interval)) return last.variables
      const { variables, bytes } = await read(deployment, spec.variables, kube)
      const counted = { ...variables, put: (characters: number) => put(key, characters) }
      keep(deployment, { variables: counted, bytes, at, version, sources })
      return counted
    },
    /** Knows `secretsOf`, if that can be: for a deployment whose values are needed only to hide them. Tells whether it does. */
    async learn(deployment: GitOpsDeployment): Promise<boolean> {
      const { metadata, spec } = deployment
      if (!spec.variables || kept.has(keyOf(metadata))) return true
      try {
        const at = clock.now()
        keep(deployment, { ...(await read(deployment, spec.variables, kube)), at })
        return true
      } catch {
        return false
      }
    },
    /** The values that came from Secrets, those before the last change included: objects may still have them. The same set until it changes. */
    secretsOf: (key: string): ReadonlySet<string> | undefined => kept.get(key)?.secrets,
    forget(key: string): void {
      const known = kept.get(key)
      if (known) known.version = undefined
    },
    drop,
  }
}

/** Those that were there before these, which may be the same as last time. */
function formerSecrets(last: Kept | undefined, now: ReadonlySet<string> = new Set()): ReadonlySet<string> {
  if (!last) return new Set()
  const { secrets = new Set() } = last.variables
  const isSame = secrets.size === now.size && [...now].every((secret) => secrets.has(secret))
  return isSame ? last.before : secrets
}

const noRoom = (namespace: string, memory: Memory): Failure =>
  new Failure(
    'too-large',
    `spec.variables: there is no room for them beside those of the other GitOpsDeployments of namespace ${namespace} (${sayShare(memory)} at most, where they stand in objects included, and less while other namespaces have much)`,
    {
      reason: 'VariablesTooLarge',
      remedy: 'Name smaller ConfigMaps and Secrets, or fewer; it is tried again when there is room.',
    },
  )

/** The sources of one deployment may have so much in sum. */
const MOST_BYTES = 2 ** 20

type Wanted = NonNullable<GitOpsDeployment['spec']['variables']>

interface Found {
  variables: Variables
  /** Of what was read. */
  bytes: number
}

/** The values of `spec.variables` as they are now. */
export const readVariables = async (deployment: GitOpsDeployment, kube: Kube): Promise<Variables | undefined> =>
  deployment.spec.variables && (await read(deployment, deployment.spec.variables, kube)).variables

/** With the rights of the tenant's service account alone: the operator's own would open every Secret. */
async function read(deployment: GitOpsDeployment, { from = [], values, strict }: Wanted, kube: Kube): Promise<Found> {
  const asTenant = kube.as(tenantOf(deployment))
  const all = new Map<string, string>()
  const secrets = new Set<string>()
  let bytes = 0
  for (const [index, source] of from.entries()) {
    const field = `spec.variables.from[${index}]`
    const found = await readOne(asTenant, deployment.metadata.namespace ?? '', source, field)
    bytes += weightOf(found)
    if (bytes > MOST_BYTES) throw tooLarge(source, field, bytes)
    for (const [name, value] of Object.entries(found)) {
      all.set(name, value)
      if (source.kind === 'Secret') secrets.add(value)
    }
  }
  for (const [name, value] of Object.entries(values ?? {})) all.set(name, value)
  return { variables: { values: all, strict: strict ?? true, secrets }, bytes }
}

const tooLarge = ({ kind, name }: Source, field: string, bytes: number): Failure =>
  new Failure(
    'too-large',
    `${field}: with ${kind} ${name} the variables have ${bytes} bytes; ${MOST_BYTES} are the most of one GitOpsDeployment`,
    {
      reason: 'VariablesTooLarge',
      remedy: `Leave that ${kind} out, or name one that holds nothing but what the manifests need.`,
    },
  )

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
