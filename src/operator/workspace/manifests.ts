import type { Kube } from '../../adapters/kube/index.ts'
import {
  apiVersionOf,
  type ConfigMap,
  ConfigMaps,
  groupsOfUser,
  isDeleting,
  type Kind,
  type KubeObject,
  labels,
  refOf,
  type Workspace,
} from '../../api/index.ts'
import { Failure, type FailureCode, isRecord } from '../../std/index.ts'
import { groupOf } from './desired/index.ts'
import { holds } from './drift.ts'
import { own, taken } from './foreign.ts'

/** Why a devfile's Kubernetes objects are not applied. */
export const MANIFEST_REASONS = {
  unknownKind: 'ManifestKindUnknown',
  elsewhere: 'ManifestElsewhere',
  notAllowed: 'OwnerNotAllowed',
  cannotAsk: 'OwnerRightsUnknown',
} as const

/** Whoever could do all of these is given nothing by the workspace. */
const VERBS = ['create', 'patch', 'delete']
const REVIEWS = 'authorization.k8s.io/v1'

export interface ManifestWork {
  kube: Kube
  workspace: Workspace
  manifests: readonly KubeObject[]
  /** The ConfigMap that lists what was made, without its content. */
  book: KubeObject
  manager: string
}

/** What was made, so that it is found again: the kind of an object says where it lies. */
interface Line {
  kind: Kind
  name: string
}

/** Brings the objects of a devfile about, and takes away those that left it. They are in the book before they are made. */
export async function applyManifests(work: ManifestWork): Promise<string[]> {
  const { kube, workspace, manifests, book, manager } = work
  const live = await own(kube, workspace, ConfigMaps, book)
  const before = linesIn(live)
  if (before.length === 0 && manifests.length === 0) return []
  const wanted = await Promise.all(manifests.map(async (object) => ({ object, kind: await kindOf(work, object) })))
  for (const { object, kind } of wanted) await checkRights(work, object, kind)

  const lines = wanted.map(({ object, kind }) => ({ kind, name: object.metadata.name }))
  const gone = before.filter((line) => !lines.some((each) => keyOf(each) === keyOf(line)))
  const write = (content: readonly Line[]) => kube.apply(ConfigMaps, bookOf(book, content), { manager, force: true })
  if (lines.some((line) => !before.some((each) => keyOf(each) === keyOf(line)))) await write([...gone, ...lines])
  const changed: string[] = []
  for (const { object, kind } of wanted)
    if (await applyOne(work, kind, object)) changed.push(`${kind.kind} ${object.metadata.name}`)
  for (const line of gone) {
    await removeOne(work, line)
    changed.push(`${line.kind.kind} ${line.name} (deleted)`)
  }
  if (gone.length > 0) await write(lines)
  return changed
}

const keyOf = ({ kind, name }: Line): string => `${apiVersionOf(kind)} ${kind.kind} ${name}`

async function kindOf({ kube, book }: ManifestWork, { apiVersion, kind, metadata }: KubeObject): Promise<Kind> {
  const refuse = (code: FailureCode, reason: string, message: string, remedy: string) =>
    new Failure(code, `${kind} ${metadata.name} of the devfile: ${message}`, { reason, remedy })
  const found = await kube.resolve(apiVersion, kind)
  if (!found)
    throw refuse(
      'not-found',
      MANIFEST_REASONS.unknownKind,
      `the target has no ${apiVersion} ${kind}`,
      'Correct it, or have its CustomResourceDefinition installed.',
    )
  const { namespace } = book.metadata
  if (!found.namespaced || metadata.namespace !== namespace)
    throw refuse(
      'invalid',
      MANIFEST_REASONS.elsewhere,
      `it is not in namespace ${namespace}, the only one that the workspace has`,
      'Leave it out, or leave out its metadata.namespace.',
    )
  return found
}

/** The rights of the person whose workspace it is, in the target. The operator's own are never lent to anybody. */
async function checkRights(work: ManifestWork, object: KubeObject, kind: Kind): Promise<void> {
  const { spec } = work.workspace
  const what = `${kind.kind} ${object.metadata.name} of the devfile`
  const { owner } = spec
  const answers = owner ? await Promise.all(VERBS.map((verb) => isAllowed(work, { owner, verb, kind, object }))) : []
  const missing = VERBS.filter((_, i) => !answers[i])
  if (missing.length === 0) return
  const { namespace } = object.metadata
  throw new Failure(
    'forbidden',
    `${what}: its owner ${owner ?? '(nobody)'} may not ${missing.join(', ')} ${kind.plural} in namespace ${namespace} of the target`,
    {
      reason: MANIFEST_REASONS.notAllowed,
      remedy: 'Leave it out, or have them bound to a Role that allows it, by name: rights that come by a group are not seen.',
    },
  )
}

interface Question {
  owner: string
  verb: string
  kind: Kind
  object: KubeObject
}

async function isAllowed({ kube }: ManifestWork, { owner, verb, kind, object }: Question): Promise<boolean> {
  const { name, namespace } = object.metadata
  const resourceAttributes = { namespace, verb, group: groupOf(object), version: kind.version, resource: kind.plural, name }
  const spec = { user: owner, groups: groupsOfUser(owner), resourceAttributes }
  const review = { apiVersion: REVIEWS, kind: 'LocalSubjectAccessReview', metadata: { namespace }, spec }
  try {
    const answer = await kube.post<unknown>(`/apis/${REVIEWS}/namespaces/${namespace}/localsubjectaccessreviews`, review)
    return isRecord(answer) && isRecord(answer.status) && answer.status.allowed === true
  } catch (thrown) {
    const failure = Failure.from(thrown)
    if (failure.code !== 'forbidden') throw failure
    throw new Failure('forbidden', `nobody knows what ${owner} may do in the target: its credentials may not ask`, {
      reason: MANIFEST_REASONS.cannotAsk,
      remedy: `Let them create localsubjectaccessreviews of authorization.k8s.io in namespace ${namespace}, or leave out the kubernetes components of the devfile.`,
      cause: failure,
    })
  }
}

async function applyOne({ kube, workspace, manager }: ManifestWork, kind: Kind, object: KubeObject): Promise<boolean> {
  const live = await kube.get(kind, refOf(object))
  if (live && !isMadeFor(workspace, live)) throw taken(kind, object)
  if (live && holds(object, live)) return false
  await kube.apply(kind, object, { manager, force: true })
  return true
}

const isMadeFor = ({ metadata }: Workspace, object: KubeObject): boolean =>
  object.metadata.labels?.[labels.workspaceManifest] === metadata.uid

/** Whether it is still there. */
async function removeOne(
  { kube, workspace, book }: Pick<ManifestWork, 'kube' | 'workspace' | 'book'>,
  line: Line,
): Promise<boolean> {
  const ref = { name: line.name, namespace: book.metadata.namespace }
  const live = await kube.get(line.kind, ref)
  if (!live || !isMadeFor(workspace, live)) return false
  if (isDeleting(live)) return true
  return (await kube.delete(line.kind, ref, { uid: live.metadata.uid, propagation: 'Background' })) === 'terminating'
}

/** Removes all of them at the workspace's end; what is still there, in words. */
export async function removeManifests(work: Pick<ManifestWork, 'kube' | 'workspace' | 'book'>): Promise<string[]> {
  const { kube, workspace, book } = work
  const live = await kube.get(ConfigMaps, refOf(book))
  const lines = live?.metadata.labels?.[labels.workspaceUid] === workspace.metadata.uid ? linesIn(live) : []
  const left = await Promise.all(
    lines.map(async (line) => ((await removeOne(work, line)) ? [`${line.kind.kind} ${line.name}`] : [])),
  )
  return left.flat()
}

const KEY = 'objects'
/** No devfile has so many; what a tenant's server gives for the list may. */
const MOST_LINES = 500

const bookOf = (book: KubeObject, lines: readonly Line[]): ConfigMap => ({ ...book, data: { [KEY]: JSON.stringify(lines) } })

function linesIn(book: ConfigMap | undefined): Line[] {
  try {
    const lines: unknown = JSON.parse(book?.data?.[KEY] ?? '[]')
    return Array.isArray(lines) ? lines.slice(0, MOST_LINES).filter(isLine) : []
  } catch {
    return []
  }
}

const isLine = (value: unknown): value is Line =>
  isRecord(value) &&
  typeof value.name === 'string' &&
  isRecord(value.kind) &&
  ['group', 'version', 'kind', 'plural'].every(textIn(value.kind))

const textIn = (record: Record<string, unknown>) => (field: string) => typeof record[field] === 'string'
