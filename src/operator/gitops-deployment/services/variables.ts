import { createMemoryOfHeap, type Kube, type Memory, sayShare, weightOf } from '../../../adapters/kube/index.ts'
import { ConfigMaps, type GitOpsDeployment, keyOf, refFromKey, Secrets } from '../../../api/index.ts'
import type { ChartSettings, Variables } from '../../../engines/render/index.ts'
import { type Clock, createYamlReader, Failure, isFailure, isRecord, type ReadYaml, seconds } from '../../../std/index.ts'
import { intervalOf } from '../schedule/interval.ts'
import { sourcesOf } from '../watch/caches.ts'
import { tenantOf } from './targets.ts'

export type VariableReader = ReturnType<typeof createVariableReader>

/** What a deployment has read from ConfigMaps and Secrets, and what stands in its spec. */
export interface Inputs {
  variables: Variables | undefined
  /** Of `spec.source.helm.valuesFrom`. */
  values: ChartSettings['values']
  /** Texts in both that came from Secrets: they are never shown. */
  secrets: ReadonlySet<string>
}

const noInputs = (): Inputs => ({ variables: undefined, values: [], secrets: new Set() })

/** Of one deployment. */
interface Kept {
  /** The generation and commit for which they were read; `undefined` when they are to be read again. */
  version: string | undefined
  /** The versions of the ConfigMaps and Secrets then. */
  sources: string
  at: number
  inputs: Inputs
  /** The secrets before the last change. */
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

interface VariableReaderOptions {
  kube: Kube
  clock: Clock
  memory: Memory
  /** Of what the values of a deployment come from. */
  versionsOf?: (deployment: GitOpsDeployment) => readonly string[]
  yaml?: ReadYaml | undefined
}

/**
 * The values of `spec.variables` and those for a chart, kept until the spec, the commit or the version of a source changes or an interval
 * is over.
 */
export function createVariableReader({
  kube,
  clock,
  memory,
  versionsOf = () => [],
  yaml = createYamlReader(),
}: VariableReaderOptions) {
  const kept = new Map<string, Kept>()
  const keep = (
    { metadata }: GitOpsDeployment,
    { inputs, bytes, at, version, sources = '' }: Found & { at: number; version?: string; sources?: string },
  ) => {
    const { namespace = '' } = metadata
    const last = kept.get(keyOf(metadata))
    const before = formerSecrets(last, inputs.secrets)
    const sum = bytes + weightOf([...before])
    if (!memory.take(namespace, sum - (last?.bytes ?? 0), !last)) throw noRoom(namespace, memory)
    const secrets = new Set([...inputs.secrets, ...before])
    const inObjects = last?.inObjects ?? 0
    kept.set(keyOf(metadata), { version, sources, at, inputs, before, secrets, bytes: sum, inObjects })
  }
  const put = (key: string, characters: number) => {
    const known = kept.get(key)
    if (!known) return
    const { namespace = '' } = refFromKey(key)
    if (!memory.take(namespace, characters - known.inObjects, known.inObjects === 0)) throw noRoom(namespace, memory)
    known.inObjects = characters
  }
  const drop = (key: string): Inputs => {
    const { bytes = 0, inObjects = 0 } = kept.get(key) ?? {}
    memory.giveBack(refFromKey(key).namespace ?? '', bytes + inObjects)
    kept.delete(key)
    return noInputs()
  }
  return {
    async of(deployment: GitOpsDeployment, commitId: string): Promise<Inputs> {
      const { metadata, spec } = deployment
      const key = keyOf(metadata)
      if (!hasInputs(deployment)) return drop(key)
      const version = JSON.stringify([metadata.uid, metadata.generation, commitId])
      const sources = versionsOf(deployment).join(' ')
      const last = kept.get(key)
      // What changes while it is read is younger than what was read.
      const at = clock.now()
      const age = at - (last?.at ?? 0)
      const isSame = last?.version === version && (last.sources === sources || age < SOURCES_PACE)
      if (isSame && age < intervalOf(spec.interval)) return last.inputs
      const { inputs, bytes } = await read(deployment, kube, yaml)
      const variables = inputs.variables && { ...inputs.variables, put: (characters: number) => put(key, characters) }
      const counted = { ...inputs, variables }
      keep(deployment, { inputs: counted, bytes, at, version, sources })
      return counted
    },
    /** Knows `secretsOf`, if that can be: for a deployment whose values are needed only to hide them. Tells whether it does. */
    async learn(deployment: GitOpsDeployment): Promise<boolean> {
      if (!hasInputs(deployment) || kept.has(keyOf(deployment.metadata))) return true
      try {
        const at = clock.now()
        keep(deployment, { ...(await read(deployment, kube, yaml)), at })
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
function formerSecrets(last: Kept | undefined, now: ReadonlySet<string>): ReadonlySet<string> {
  if (!last) return new Set()
  const { secrets } = last.inputs
  const isSame = secrets.size === now.size && [...now].every((secret) => secrets.has(secret))
  return isSame ? last.before : secrets
}

/** Whether it has any values that may come from elsewhere. */
const hasInputs = (deployment: GitOpsDeployment): boolean =>
  deployment.spec.variables !== undefined || sourcesOf(deployment).length > 0

const noRoom = (namespace: string, memory: Memory): Failure =>
  new Failure(
    'too-large',
    `spec.variables and spec.source.helm.valuesFrom: there is no room for them beside those of the other GitOpsDeployments of namespace ${namespace} (${sayShare(memory)} at most, where they stand in objects included, and less while other namespaces have much)`,
    {
      reason: 'VariablesTooLarge',
      remedy: 'Name smaller ConfigMaps and Secrets, or fewer; it is tried again when there is room.',
    },
  )

/** The sources of one deployment may have so much in sum. */
const MOST_BYTES = 2 ** 20

interface Found {
  inputs: Inputs
  /** Of what was read. */
  bytes: number
}

/** The values as they are now. */
export const readInputs = async (deployment: GitOpsDeployment, kube: Kube, yaml = createYamlReader()): Promise<Inputs> =>
  hasInputs(deployment) ? (await read(deployment, kube, yaml)).inputs : noInputs()

/** With the rights of the tenant's service account alone: the operator's own would open every Secret. */
async function read(deployment: GitOpsDeployment, kube: Kube, yaml: ReadYaml): Promise<Found> {
  const { metadata, spec } = deployment
  const asTenant = kube.as(tenantOf(deployment))
  const secrets = new Set<string>()
  let bytes = 0
  const readNext = async (source: Source, field: string): Promise<Record<string, string>> => {
    const found = await readOne(asTenant, metadata.namespace ?? '', source, field)
    bytes += weightOf(found)
    if (bytes > MOST_BYTES) throw tooLarge(source, field, bytes)
    return found
  }
  const all = new Map<string, string>()
  for (const [index, source] of (spec.variables?.from ?? []).entries())
    for (const [name, value] of Object.entries(await readNext(source, `spec.variables.from[${index}]`))) {
      all.set(name, value)
      if (source.kind === 'Secret') secrets.add(value)
    }
  for (const [name, value] of Object.entries(spec.variables?.values ?? {})) all.set(name, value)
  const values: { from: string; text: string }[] = []
  for (const [index, source] of (spec.source.helm?.valuesFrom ?? []).entries()) {
    const field = `spec.source.helm.valuesFrom[${index}]`
    const text = valuesIn(await readNext(source, field), source, field)
    if (text === undefined) continue
    values.push({ from: `${field}: ${source.kind} ${source.name}, key ${keyIn(source)}`, text })
    if (source.kind === 'Secret') for (const secret of await textsIn(text, yaml)) secrets.add(secret)
  }
  const variables = spec.variables && { values: all, strict: spec.variables.strict ?? true }
  return { inputs: { variables, values, secrets }, bytes }
}

const keyIn = ({ valuesKey }: ValuesSource): string => valuesKey ?? 'values.yaml'

function valuesIn(found: Record<string, string>, source: ValuesSource, field: string): string | undefined {
  const key = keyIn(source)
  const text = new Map(Object.entries(found)).get(key)
  if (text !== undefined || source.optional) return text
  throw new Failure('invalid', `${field}: ${source.kind} ${source.name} has no key ${key}`, {
    reason: 'ValuesNotFound',
    remedy: 'Name the key that holds the values in valuesKey, or add it',
  })
}

/** Every text in values from a Secret is one; how they are written is nobody's business either where that cannot be told. */
async function textsIn(text: string, yaml: ReadYaml): Promise<string[]> {
  const { documents, problem } = await yaml(text)
  const texts: string[] = problem ? [text] : []
  const look = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value)
    else if (Array.isArray(value)) value.forEach(look)
    else if (isRecord(value)) Object.values(value).forEach(look)
  }
  for (const { value } of documents ?? []) look(value)
  return texts
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

type Source = NonNullable<NonNullable<GitOpsDeployment['spec']['variables']>['from']>[number]
type ValuesSource = NonNullable<NonNullable<GitOpsDeployment['spec']['source']['helm']>['valuesFrom']>[number]

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
