import type { Kube } from '../../../adapters/kube/index.ts'
import { Deployments, labels, Pods, refOf, type Workspace } from '../../../api/index.ts'
import type { Workshop } from '../../../engines/controller/index.ts'
import { isThere } from '../actual-state/index.ts'
import { AFTER_STOP, type Plan, partOf, runsAfterStop, type WarmVolume } from '../desired/index.ts'
import { markOf, rememberedVariables } from '../objects/variables.ts'
import { isObstacle } from '../place/obstacle.ts'
import { type DevfileParser, readDevfile } from '../project/devfile.ts'
import { afterStop, type PostStop, tellPostStop } from './after-stop.ts'
import { sayLeft } from './end.ts'
import { isStopped } from './expiry.ts'

/** A workspace has one; a tenant's server may say that there are any number. */
const MOST_STOPPED = 10

interface Place {
  kube: Kube
  namespace: string
  volume: WarmVolume | undefined
  workshop: Workshop
  parser: DevfileParser
}

/** The stop of a workspace that is terminated while it runs, where its devfile wants something done then. */
export async function lastStop(workspace: Workspace, place: Place): Promise<{ what?: string; postStop?: PostStop | undefined }> {
  const plan = await planOf(workspace, place)
  if (!plan) return {}
  const { kube, namespace, workshop } = place
  const query = { namespace, labels: `${labels.workspaceUid}=${workspace.metadata.uid}` }
  for (const each of (await kube.list(Deployments, { ...query, metadataOnly: true })).slice(0, MOST_STOPPED))
    await kube.delete(Deployments, refOf(each), { uid: each.metadata.uid, propagation: 'Background' })
  const pods = (await kube.list(Pods, query)).filter((pod) => partOf(pod) !== AFTER_STOP && isThere(pod))
  if (pods.length > 0) return { what: sayLeft(pods.map(({ metadata }) => `Pod ${metadata.name}`)) }
  const now = workshop.clock.now()
  const { isUnderWay, postStop } = await afterStop({ plan, kube, isDown: true, isWanted: false, now })
  tellPostStop(workshop.events, workspace, postStop)
  return isUnderWay ? { what: `Job ${postStop?.job}`, postStop } : { postStop }
}

/** Made from what is remembered: nothing is asked for any more. */
async function planOf(workspace: Workspace, { namespace, volume, parser }: Place): Promise<Plan | undefined> {
  const { status } = workspace
  const settings = status?.class?.settings
  if (!settings || status.startedAt === undefined || isStopped(status.startedAt, status.stoppedAt)) return undefined
  const read = await readDevfile(workspace, settings, { source: undefined, project: undefined, parser })
  if (isObstacle(read) || !runsAfterStop(read.devfile)) return undefined
  const variables = rememberedVariables(workspace) ?? {}
  return { workspace, settings, devfile: read.devfile, namespace, volume, variables, variablesMark: markOf(workspace) }
}
