import type { Kube } from '../adapters/kube/index.ts'
import {
  annotations,
  type GitOpsDeployment,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  nameOf,
  type Ref,
  refOf,
  syncRunOf,
} from '../api/index.ts'
import { Failure } from '../std/index.ts'

interface DeploymentRequest {
  /** In the name of the person who does it. */
  kube: Kube
  ref: Ref
  uid: string
  /** One of its history; empty for the newest. */
  revision: string
  /** Milliseconds since the epoch. */
  now: number
}

type DeploymentAction = (deployment: GitOpsDeployment, request: DeploymentRequest) => Promise<unknown>

/** By the last part of the path. The API server decides whether this person may. */
const ACTIONS: Readonly<Record<string, DeploymentAction>> = {
  /** As `berth sync`: one that is manual is synchronised by a run only. */
  async sync(deployment, { kube, uid, now }) {
    refuseSuspended(deployment)
    if (deployment.spec.type === 'manual') return kube.create(GitOpsDeploymentSyncRuns, syncRunOf(deployment, 'sync'))
    return kube.patch(GitOpsDeployments, refOf(deployment), {
      metadata: { uid, annotations: { [annotations.sync]: new Date(now).toISOString() } },
    })
  },
  /** As `berth diff`. The operator deletes the run ten minutes after its answer. */
  diff: (deployment, { kube, revision }) =>
    kube.create(GitOpsDeploymentSyncRuns, syncRunOf(deployment, 'diff', { dryRun: true, ...known(deployment, revision) })),
  async rollback(deployment, { kube, revision }) {
    refuseSuspended(deployment)
    if (deployment.spec.type !== 'manual' || revision === '')
      throw new Failure('conflict', `${nameOf(deployment)} follows its branch, and the next push would undo it`, {
        remedy: 'Use `berth rollback`, which makes it manual first',
      })
    return kube.create(GitOpsDeploymentSyncRuns, syncRunOf(deployment, 'rollback', known(deployment, revision)))
  },
}

export const isDeploymentAction = (word: string): boolean => Object.hasOwn(ACTIONS, word)

export async function runDeploymentAction(word: string, request: DeploymentRequest): Promise<void> {
  const deployment = await request.kube.get(GitOpsDeployments, request.ref)
  // Another one of that name is not the one that somebody saw.
  if (!deployment || deployment.metadata.uid !== request.uid)
    throw new Failure('not-found', 'the deployment that you saw is gone')
  await ACTIONS[word]?.(deployment, request)
}

function refuseSuspended(deployment: GitOpsDeployment): void {
  if (deployment.spec.suspend)
    throw new Failure('conflict', `${nameOf(deployment)} is suspended, so nothing would be done`, {
      remedy: 'Let it go on with `berth resume`',
    })
}

/** A page offers commits of the history, and no others. */
function known({ status }: GitOpsDeployment, revision: string): { revisionID?: string } {
  if (revision === '') return {}
  if (status?.history?.some((entry) => entry.revision === revision)) return { revisionID: revision }
  throw new Failure('conflict', `commit ${revision.slice(0, 64)} is not in its history any more`, { remedy: 'Look at it first' })
}
