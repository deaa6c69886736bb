import {
  annotations,
  finalizers,
  hasFinalizer,
  isDeleting,
  labels,
  type Namespace,
  Namespaces,
  refOf,
  type SpaceRequest,
  SpaceRequests,
  withoutFinalizer,
} from '../../api/index.ts'
import { type ControllerContext, type Next, settled } from '../../engines/controller/index.ts'
import { minutes, unlessFailed } from '../../std/index.ts'
import { type CredentialServices, withdrawPrivate } from './credentials.ts'
import { byRequest, uidOf } from './namespace.ts'
import { MANAGER } from './pieces.ts'
import type { Site } from './site.ts'
import { terminating, unableToTerminate } from './status.ts'

/** A namespace that takes longer than this to go is said to hang. */
const PATIENCE = minutes(2)
/** How often what hangs is looked at again, so that the message stays true. */
const LOOK_AGAIN = minutes(1)

/** The request is going: its namespace goes first, and nothing of it is left when the finalizer comes off. */
export async function cleanUp(request: SpaceRequest, services: CredentialServices): Promise<Next> {
  if (!hasFinalizer(request, finalizers.spaceRequest)) return settled()
  const { site, context } = services
  const { kube, clock } = context
  const left = await namespacesOf(request, site)
  if (left.length === 0) {
    await withdrawPrivate(services, request)
    return release(request, kube)
  }

  for (const { metadata } of left.filter((namespace) => !isDeleting(namespace))) {
    await site.kube.delete(Namespaces, { name: metadata.name }, { uid: metadata.uid })
  }
  const names = left.map(({ metadata }) => metadata.name).join(', ')
  const since = Date.parse(request.metadata.deletionTimestamp ?? '')
  const patience = since + PATIENCE - clock.now()
  return patience > 0
    ? settled({ recheck: patience, status: terminating(request, `namespace ${names} is being deleted`) })
    : settled({ recheck: LOOK_AGAIN, status: unableToTerminate(request, whatHangs(names, await whole(left, site.kube))) })
}

/** That nothing is left is asked for live: a namespace that the cache does not show yet would stay behind for ever. */
async function namespacesOf(request: SpaceRequest, { namespaces, kube }: Site): Promise<Namespace[]> {
  const known = namespaces.by(byRequest, uidOf(request))
  return known.length > 0 ? known : kube.list(Namespaces, { labels: `${labels.spaceRequestUid}=${uidOf(request)}` })
}

/** With their status, which the cache does not keep. */
async function whole(namespaces: Namespace[], kube: ControllerContext['kube']): Promise<Namespace[]> {
  const found = await Promise.all(namespaces.map((namespace) => kube.get(Namespaces, refOf(namespace))))
  return found.filter((namespace) => namespace !== undefined)
}

/** The agent was deleted, and with it the way to its cluster. The request does not hang on that; what is left is told. */
export async function leaveBehind(request: SpaceRequest, { kube, events }: ControllerContext): Promise<Next> {
  if (!hasFinalizer(request, finalizers.spaceRequest)) return settled()
  const names = request.status?.namespaceAccess?.map(({ name }) => name) ?? []
  if (names.length > 0)
    events.record(request, {
      type: 'Warning',
      reason: 'LeftBehind',
      message: `Agent ${request.metadata.annotations?.[annotations.agent]} is gone, and namespace ${names.join(', ')} stays in its cluster; delete it there`,
    })
  return release(request, kube)
}

async function release(request: SpaceRequest, kube: ControllerContext['kube']): Promise<Next> {
  const patch = withoutFinalizer(request, finalizers.spaceRequest)
  // Gone is what we want.
  await unlessFailed(kube.patch(SpaceRequests, refOf(request), patch, { manager: MANAGER }), 'not-found')
  return settled()
}

/** The namespace controller says in conditions what it cannot remove. */
function whatHangs(names: string, left: Namespace[]): string {
  const hangs = left
    .flatMap(({ status }) => status?.conditions ?? [])
    .filter(({ status, message }) => status === 'True' && message)
    .map(({ message }) => message)
  const why = hangs.length > 0 ? hangs.join(' ') : 'The API server does not say what holds it.'
  return `namespace ${names} is still there 2 minutes after its deletion began. ${why} Remove what hangs there, or its finalizers.`
}
