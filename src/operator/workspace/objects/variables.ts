import { type Kube, orBegunAnew, weightOf } from '../../../adapters/kube/index.ts'
import { annotations, type CoreSecret, type KubeObject, labels, Secrets, type Workspace, YES } from '../../../api/index.ts'
import { Failure, recordIn, timestamp } from '../../../std/index.ts'
import type { FrozenVariables } from '../desired/index.ts'
import { digest } from '../desired/names.ts'
import { VARIABLE_REASONS } from './apply-failure.ts'
import { type Heir, type Inheritance, inherit, isInherited, type Value, whyNot } from './inheritance.ts'
import { MANAGER, objectsOf } from './owned.ts'

const MOST = 256
/** The API server takes a little more; the rest of the Secret needs it. */
const MOST_BYTES = 1_000_000
/** Of the Secrets that are inherited from, as they are in memory: some of it may be overridden or left out. */
const MOST_READ = 3 * MOST_BYTES
/** Several workspaces may look for their variables at once. */
const MOST_PAGE = 2 * 2 ** 20

/** Changes when variables are to be frozen again; empty when that was never asked for. */
export const refreshOf = ({ metadata }: Workspace): string => metadata.annotations?.[annotations.refreshVariables] ?? ''

/** Part of the Secret's name. */
export const markOf = (workspace: Workspace): string => {
  const refresh = refreshOf(workspace)
  return refresh && digest(refresh).slice(0, 8)
}

/** The variables that were frozen already, as far as the status knows. */
export function rememberedVariables(workspace: Workspace): FrozenVariables | undefined {
  const { variables } = workspace.status ?? {}
  return variables && (variables.refresh ?? '') === refreshOf(workspace).slice(0, LONGEST_REFRESH) ? variables : undefined
}

const LONGEST_REFRESH = 1024

export interface Freezing {
  workspace: Workspace
  /** The Secret without its content. */
  frame: KubeObject
  /** Where the workspace runs, and where it and its variables are described. */
  target: Kube
  home: Kube
  heir: Heir
  now: number
}

/**
 * What is frozen for the workspace; it is frozen now if it is not yet. The Secret in the target is the record: a crash between
 * it and the status changes nothing.
 */
export async function freeze(freezing: Freezing): Promise<FrozenVariables> {
  const { workspace, frame, target, now } = freezing
  const remembered = rememberedVariables(workspace)
  // Of none there is no Secret; what could be inherited by now is for the next refresh.
  if (remembered && !remembered.list?.length) return remembered
  const there = await objectsOf(workspace, target).find(Secrets, frame)
  if (there) return { ...headOf(workspace, there.metadata.creationTimestamp ?? timestamp(now)), ...namesIn(there) }
  const { values, list, leftOut } = await gathered(freezing)
  const record = { list, ...(leftOut.length > 0 && { leftOut }) }
  if (values.length > 0) await target.create(Secrets, secretOf(frame, values, record), { manager: MANAGER })
  return { ...headOf(workspace, timestamp(now)), ...record }
}

function headOf(workspace: Workspace, frozenAt: string): Pick<FrozenVariables, 'frozenAt' | 'refresh'> {
  const refresh = refreshOf(workspace).slice(0, LONGEST_REFRESH)
  return { frozenAt, ...(refresh && { refresh }) }
}

type Names = Pick<FrozenVariables, 'list' | 'leftOut'>

const secretOf = ({ metadata, ...rest }: KubeObject, values: readonly Value[], record: Names): CoreSecret => ({
  ...rest,
  metadata: { ...metadata, annotations: { ...metadata.annotations, [annotations.variables]: JSON.stringify(record) } },
  type: 'Opaque',
  immutable: true,
  data: Object.fromEntries(values.map(({ name, data }) => [name, data])),
})

/** Where somebody has taken the record away, the keys are what is left of it. */
function namesIn({ metadata, data = {} }: CoreSecret): Names {
  const names = recordIn(metadata.annotations?.[annotations.variables] ?? '')
  if (isNames(names)) return names
  return { list: Object.keys(data).map((name) => ({ name, type: 'environment', level: 'workspace' })) }
}

const isNames = (value: Record<string, unknown> | undefined): value is Names => Array.isArray(value?.list)

async function gathered({ workspace, home, heir }: Freezing): Promise<Inheritance> {
  const mine = await ownValues(workspace, home)
  const inheritance = inherit(mine, await secretsFor(heir, workspace.metadata.namespace, home), heir)
  const bytes = inheritance.values.reduce((sum, value) => sum + bytesOf(value), 0)
  if (inheritance.values.length <= MOST && bytes <= MOST_BYTES) return inheritance
  throw tooMuch(
    `the workspace has ${inheritance.values.length} variables with ${bytes} bytes`,
    `${MOST} with ${MOST_BYTES} bytes`,
  )
}

const bytesOf = ({ data }: Value): number => Buffer.byteLength(data, 'base64')

const tooMuch = (what: string, most: string): Failure => {
  const remedy =
    'Leave some out where they are inherited from, or make the workspace again with fewer; put large files into the project or the image.'
  return new Failure('invalid', `${what}; ${most} are the most`, { reason: VARIABLE_REASONS.tooMuch, remedy })
}

/** One after the other, for each may lie in another Secret of a megabyte. */
async function ownValues(workspace: Workspace, home: Kube): Promise<Value[]> {
  const values: Value[] = []
  let bytes = 0
  for (const variable of workspace.spec.variables ?? []) {
    const { name, type = 'environment' } = variable
    const value: Value = { name, type, level: 'workspace', data: await encoded(workspace, variable, home) }
    const why = whyNot(value)
    if (why) throw notAllowed(name, why)
    values.push(value)
    bytes += bytesOf(value)
    if (bytes > MOST_BYTES) throw tooMuch(`spec.variables has ${bytes} bytes up to "${value.name}"`, `${MOST_BYTES}`)
  }
  return values
}

/**
 * The Secrets from which the workspace inherits, one after the other and no more than it may have: people who write Secrets of the
 * namespace decide how many there are and how large.
 */
async function secretsFor(heir: Heir, namespace: string | undefined, home: Kube): Promise<CoreSecret[]> {
  const secrets: CoreSecret[] = []
  let bytes = 0
  for (const name of await namesFor(heir, namespace, home)) {
    const secret = await home.get(Secrets, { name, namespace })
    if (!secret) continue
    secrets.push(secret)
    bytes += weightOf(secret.data)
    if (bytes > MOST_READ)
      throw tooMuch(`the Secrets that the workspace inherits from have ${bytes} bytes and more`, `${MOST_READ}`)
  }
  return secrets
}

async function namesFor(heir: Heir, namespace: string | undefined, home: Kube): Promise<string[]> {
  const query = { namespace, labels: labels.variablesLevel, metadataOnly: true, mostBytes: MOST_PAGE }
  return orBegunAnew(async () => {
    const names: string[] = []
    for await (const page of home.pages(Secrets, query)) {
      for (const secret of page) if (isInherited(secret, heir)) names.push(secret.metadata.name)
      if (names.length > MOST) throw tooMuch(`the workspace inherits from ${names.length} Secrets and more`, `${MOST}`)
    }
    return names
  })
}

const notAllowed = (variable: string, why: string): Failure =>
  new Failure('invalid', `spec.variables "${variable}": ${why}`, {
    reason: VARIABLE_REASONS.invalid,
    remedy: 'Make the workspace again with another name for it, or a shorter value, in spec.variables.',
  })

type Variable = NonNullable<Workspace['spec']['variables']>[number]

/** In base64, as the Secret that it comes from and the one that it goes to have it. */
async function encoded({ metadata }: Workspace, { name, value, secretKeyRef }: Variable, home: Kube): Promise<string> {
  if (!secretKeyRef) return Buffer.from(value ?? '').toString('base64')
  const found = await home.get(Secrets, { name: secretKeyRef.name, namespace: metadata.namespace })
  // Read with the operator's rights: without the consent of who may write the Secret, a Workspace would open every one.
  const allowed = found?.metadata.labels?.[labels.workspaceVariables] === YES ? found : undefined
  const text = allowed?.data?.[secretKeyRef.key]
  if (text !== undefined) return text
  throw allowed ? noKey(name, secretKeyRef) : noSecret(name, secretKeyRef)
}

type SecretKey = NonNullable<Variable['secretKeyRef']>

const noKey = (variable: string, { name, key }: SecretKey): Failure =>
  new Failure('not-found', `spec.variables "${variable}": Secret ${name} has no key "${key}"`, {
    reason: VARIABLE_REASONS.missing,
    remedy: 'Add the key; the workspace starts by itself then. Or make the workspace again with another key.',
  })

/** The same words for a Secret that is missing and one that is not for workspaces: who may not read it does not learn which. */
function noSecret(variable: string, { name }: SecretKey): Failure {
  const label = `${labels.workspaceVariables}=${YES}`
  const message = `spec.variables "${variable}": there is no Secret ${name} labelled ${label} in this namespace`
  const remedy = `Create it, or open it to workspaces: kubectl label secret ${name} ${label}; the workspace starts by itself then.`
  return new Failure('not-found', message, { reason: VARIABLE_REASONS.missing, remedy })
}
