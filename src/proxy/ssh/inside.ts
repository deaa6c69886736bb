import type { Cache, Kube } from '../../adapters/kube/index.ts'
import { isDeleting, type Pod, type Workspace } from '../../api/index.ts'
import { firstContainerOf, isMainPod, type TargetReach, withTarget, youngestPodOf } from '../../engines/lookout/index.ts'
import { Failure, isFailure } from '../../std/index.ts'
import type { RoutedWorkspace } from '../web/ports.ts'
import { titleOf } from './words.ts'

/** Where the programs of a workspace run. */
export interface Place {
  /** With the rights of the owner. */
  kube: Kube
  namespace: string
  pod: string
  container: string
}

/** Does work in the main container of a workspace. Throws sentences that are fit for people. */
export type Inside = <T>(workspace: RoutedWorkspace, work: (place: Place) => Promise<T>) => Promise<T>

interface InsideSources {
  kube: Kube
  workspaces: Pick<Cache<Workspace>, 'get'>
  reach: TargetReach
}

/** Names of the cluster itself: whoever acted as one could be a controller. */
const RESERVED = 'system:'

/**
 * Everything is done in the owner's name, whoever has logged in: a share lets a colleague use the owner's shell, through the editor as
 * well, and the proxy itself has no right to run anything.
 */
export const createInside =
  ({ kube, workspaces, reach }: InsideSources): Inside =>
  async (routed, work) => {
    const { ref, rules, uid } = routed
    const workspace = workspaces.get(ref)
    if (!workspace || workspace.metadata.uid !== uid) throw new Failure('not-found', `${titleOf(ref)} is not there any more`)
    const { owner } = rules
    if (owner === undefined || owner.startsWith(RESERVED))
      throw new Failure('forbidden', `${titleOf(ref)} has no owner in whose name anything could run`)
    const theirs = kube.as({ user: owner, groups: [] })
    try {
      return await withTarget(theirs, workspace, reach, async (target, namespace) => {
        const isMeant = (each: Pod) => isMainPod(each) && !isDeleting(each)
        const pod = await youngestPodOf(workspace, { target, home: namespace }, undefined, isMeant)
        const container = pod && firstContainerOf(pod)
        if (!container) throw new Failure('not-found', `${titleOf(ref)} has no pod yet`, { remedy: 'Try again in a moment.' })
        return work({ kube: target, namespace, pod: pod.metadata.name, container })
      })
    } catch (thrown) {
      if (isFailure(thrown, 'forbidden', 'unauthorized')) throw lacking(routed, owner, thrown)
      throw thrown
    }
  }

/** The API server's sentence names the right that is missing. */
const lacking = ({ ref }: RoutedWorkspace, owner: string, cause: Failure): Failure =>
  new Failure('forbidden', `${owner}, whose ${titleOf(ref)} is, may run nothing where it runs: ${cause.message}`, {
    remedy:
      'Ask the platform engineers for a class whose spaces are the owners’, or for the right to read the credentials of its target.',
    cause,
  })
