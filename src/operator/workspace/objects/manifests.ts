import type { Kube } from '../../../adapters/kube/index.ts'
import {
  apiVersionOf,
  type ConfigMap,
  ConfigMaps,
  groupOf,
  groupsOfUser,
  type Kind,
  type KubeObject,
  labels,
  refOf,
  typeMetaOf,
  type Workspace,
} from '../../../api/index.ts'
import type { Piece } from '../../../engines/apply/index.ts'
import { Failure, type FailureCode, isRecord } from '../../../std/index.ts'
import { MANIFEST_REASONS } from './apply-failure.ts'
import { MANAGER, manifestsOf, objectsOf } from './owned.ts'

/** To somebody who could do all of these, the workspace gives nothing new. */
const VERBS = ['create', 'patch', 'delete']
const REVIEWS = 'authorization.k8s.io/v1'

export interface ManifestWork {
  kube: Kube
  workspace: Workspace
  manifests: readonly KubeObject[]
  /** The ConfigMap that lists what was made, without its content. */
  objectList: KubeObject
}

/** An object that was made, so that it is found again: its kind says where it lies. */
interface Line {
  kind: Kind
  name: string
}

/** Brings the objects of a devfile about, and takes away those that left it. They are in the list before they are made. */
export async function applyManifests(work: ManifestWork): Promise<string[]> {
  const { kube, workspace, manifests, objectList } = work
  const before = linesIn(await objectsOf(workspace, kube).find(ConfigMaps, objectList))
  if (before.length === 0 && manifests.length === 0) return []
  const wanted = await Promise.all(manifests.map(async (object) => ({ object, kind: await kindOf(work, object) })))
  for (const piece of wanted) await checkRights(work, piece)

  const own = manifestsOf(workspace, kube)
  const lines = wanted.map(({ object, kind }) => ({ kind, name: object.metadata.name }))
  const gone = before.filter((line) => !lines.some((each) => keyOf(each) === keyOf(line)))
  const write = (content: readonly Line[]) =>
    kube.apply(ConfigMaps, objectListOf(objectList, content), { manager: MANAGER, force: true })
  if (lines.some((line) => !before.some((each) => keyOf(each) === keyOf(line)))) await write([...gone, ...lines])
  const changed: string[] = []
  for (const piece of wanted) if (await own.apply(piece)) changed.push(`${piece.kind.kind} ${piece.object.metadata.name}`)
  for (const line of gone) {
    await own.remove(pieceOf(line, objectList))
    changed.push(`${line.kind.kind} ${line.name} (deleted)`)
  }
  if (gone.length > 0) await write(lines)
  return changed
}

const keyOf = ({ kind, name }: Line): string => `${apiVersionOf(kind)} ${kind.kind} ${name}`

const pieceOf = ({ kind, name }: Line, { metadata: { namespace } }: KubeObject): Piece => ({
  kind,
  object: { ...typeMetaOf(kind), metadata: { name, ...(namespace && { namespace }) } },
})

async function kindOf({ kube, objectList }: ManifestWork, { apiVersion, kind, metadata }: KubeObject): Promise<Kind> {
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
  const { namespace } = objectList.metadata
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
async function checkRights(work: ManifestWork, { kind, object }: Piece): Promise<void> {
  const { owner } = work.workspace.spec
  const what = `${kind.kind} ${object.metadata.name} of the devfile`
  const answers = owner ? await Promise.all(VERBS.map((verb) => isAllowed(work, owner, verb, { kind, object }))) : []
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

async function isAllowed({ kube }: ManifestWork, owner: string, verb: string, { kind, object }: Piece): Promise<boolean> {
  const { name, namespace } = object.metadata
  const { version, plural: resource } = kind
  const resourceAttributes = { namespace, verb, group: groupOf(object.apiVersion), version, resource, name }
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

/** Removes all of them at the workspace's end; what is still there, in words. */
export async function removeManifests({ kube, workspace, objectList }: Omit<ManifestWork, 'manifests'>): Promise<string[]> {
  const live = await kube.get(ConfigMaps, refOf(objectList))
  const lines = live?.metadata.labels?.[labels.workspaceUid] === workspace.metadata.uid ? linesIn(live) : []
  const own = manifestsOf(workspace, kube)
  const isLeft = await Promise.all(lines.map((line) => own.remove(pieceOf(line, objectList))))
  return lines.filter((_, at) => isLeft[at]).map((line) => `${line.kind.kind} ${line.name}`)
}

const KEY = 'objects'
/** No devfile has so many; what a tenant's server gives for the list may. */
const MOST_LINES = 500

const objectListOf = (objectList: KubeObject, lines: readonly Line[]): ConfigMap => ({
  ...objectList,
  data: { [KEY]: JSON.stringify(lines) },
})

function linesIn(objectList: ConfigMap | undefined): Line[] {
  try {
    const lines: unknown = JSON.parse(objectList?.data?.[KEY] ?? '[]')
    return Array.isArray(lines) ? lines.slice(0, MOST_LINES).filter(isLine) : []
  } catch {
    return []
  }
}

const isLine = (value: unknown): value is Line =>
  isRecord(value) &&
  hasTexts(value, ['name']) &&
  isRecord(value.kind) &&
  hasTexts(value.kind, ['group', 'version', 'kind', 'plural'])

const hasTexts = (record: Record<string, unknown>, fields: readonly string[]): boolean =>
  fields.every((field) => typeof record[field] === 'string')
