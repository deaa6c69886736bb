import type { EventRecorder, Kube } from '../../../adapters/kube/index.ts'
import { Deployments, type Job, Jobs, labels, Pods, refOf, type Workspace, type WorkspaceStatus } from '../../../api/index.ts'
import { type ControllerContext, sentenceOf } from '../../../engines/controller/index.ts'
import { Failure, hours, isFailure, minutes, seconds, timestamp } from '../../../std/index.ts'
import { isThere } from '../actual-state/index.ts'
import { AFTER_STOP, afterStopJob, partOf, runsAfterStop, type WarmVolume, type WorkspacePlan } from '../desired/index.ts'
import { objectsOf } from '../objects/owned.ts'
import { markOf, rememberedVariables } from '../objects/variables.ts'
import { isObstacle } from '../place/obstacle.ts'
import { type DevfileParser, readDevfile } from '../project/devfile.ts'
import { sayLeft } from './end.ts'
import { isStopped } from './expiry.ts'

export type PostStop = NonNullable<WorkspaceStatus['postStop']>

/** A Job whose end nobody has told so long after its time is not waited for. */
const GRACE = minutes(1)
/** Its logs can be read for so long. */
const KEPT = hours(24)
/** The pods of the Job wake the workspace; this is for one that has none. */
const LOOK = seconds(15)

interface AfterStop {
  postStop?: PostStop | undefined
  /** The stop waits for it; its time is limited. */
  isUnderWay: boolean
  /** When to look again, milliseconds. */
  recheckAt?: number | undefined
}

interface Stop {
  plan: WorkspacePlan
  kube: Kube
  /** All its pods are gone. */
  isDown: boolean
  /** It is to run again. */
  isWanted: boolean
  now: number
}

/**
 * Runs the postStop commands once for each stop of a workspace that ran, and keeps their Job for a day. Whatever goes wrong with
 * them is told and ends the stop no later than their time. The Job is the record: who finds it does not make it again.
 */
export async function afterStop({ plan, isDown, isWanted, ...stop }: Stop): Promise<AfterStop> {
  const { startedAt, stoppedAt, postStop } = plan.workspace.status ?? {}
  const isDue = startedAt !== undefined && !isStopped(startedAt, stoppedAt)
  if (isDown && !isWanted && isDue && (postStop?.of !== startedAt || postStop.result === 'Running')) {
    const job = afterStopJob(plan, startedAt)
    if (job) return runJob({ job, startedAt, before: postStop?.of === startedAt ? postStop : undefined, plan, ...stop })
  }
  if (postStop?.job === undefined) return { isUnderWay: false }
  const over = Date.parse(postStop.since) + KEPT
  if (!isWanted && stop.now < over) return { isUnderWay: false, recheckAt: over }
  // A workspace that is started again does not wait for its postStop commands.
  await stop.kube.delete(Jobs, { name: postStop.job, namespace: plan.namespace }, { propagation: 'Background' })
  const { job: _, ...rest } = postStop
  if (postStop.result !== 'Running') return { postStop: rest, isUnderWay: false }
  return { postStop: { ...rest, result: 'Failed', since: timestamp(stop.now), message: CUT_SHORT }, isUnderWay: false }
}

const CUT_SHORT = 'they were ended, because the workspace was started again'

interface JobOfStop extends Omit<Stop, 'isDown' | 'isWanted'> {
  job: Job
  startedAt: string
  before: PostStop | undefined
}

async function runJob(stop: JobOfStop): Promise<AfterStop> {
  const { job, startedAt, before, kube, now } = stop
  const { name } = job.metadata
  const told = (result: PostStop['result'], message: string): PostStop => ({
    of: startedAt,
    job: name,
    result,
    since: before?.result === result ? before.since : timestamp(now),
    message,
  })
  try {
    const live = await made(stop)
    if (!live) return { postStop: told('Failed', `Job ${name} was removed before it ended`), isUnderWay: false }
    const end = endOf(live)
    if (end) return { postStop: told(...end), isUnderWay: false }
    const limit = seconds(job.spec?.activeDeadlineSeconds ?? 0) + GRACE
    const until = Date.parse(live.metadata.creationTimestamp ?? timestamp(now)) + limit
    if (now < until)
      return { postStop: told('Running', `Job ${name} runs them`), isUnderWay: true, recheckAt: Math.min(now + LOOK, until) }
    await kube.delete(Jobs, { name, namespace: job.metadata.namespace }, { propagation: 'Background' })
    return { postStop: told('Failed', `Job ${name} did not end in its time, and was removed`), isUnderWay: false }
  } catch (thrown) {
    if (isFailure(thrown, 'unavailable', 'timeout', 'cancelled', 'conflict')) throw thrown
    const { job: _, ...failed } = told('Failed', `Job ${name} could not be made: ${sentenceOf(Failure.from(thrown))}`)
    return { postStop: failed, isUnderWay: false }
  }
}

/** The Job as it is, made now if it was not yet; nothing where it was there and somebody removed it. */
function made({ job, before, kube, plan }: JobOfStop): Promise<Job | undefined> {
  const objects = objectsOf(plan.workspace, kube)
  return before ? objects.find(Jobs, job) : objects.make(Jobs, job)
}

function endOf({ metadata, status }: Job): [PostStop['result'], string] | undefined {
  const holds = (type: string) => status?.conditions?.find((each) => each.type === type && each.status === 'True')
  const where = `Job ${metadata.name} in namespace ${metadata.namespace}`
  if (holds('Complete')) return ['Succeeded', `${where} has run them`]
  const failed = holds('Failed')
  if (!failed) return undefined
  const why = failed.reason === 'DeadlineExceeded' ? 'they took longer than their time' : (failed.message ?? 'a command failed')
  return ['Failed', `${where}: ${why}. Its logs: kubectl logs job/${metadata.name} -n ${metadata.namespace} --all-containers`]
}

/** The end of its postStop commands. A failure keeps nobody from anything; it must not go unnoticed, either. */
export function tellPostStop(events: EventRecorder, workspace: Workspace, postStop: WorkspaceStatus['postStop']): void {
  const { result, message, of } = postStop ?? {}
  const before = workspace.status?.postStop
  if (message === undefined || result === 'Running' || (result === before?.result && of === before?.of)) return
  events.record(workspace, { type: result === 'Failed' ? 'Warning' : 'Normal', reason: `PostStop${result}`, message })
}

/** A workspace has one; a tenant's server may say that there are any number. */
const MOST_STOPPED = 10

interface LastStop {
  kube: Kube
  namespace: string
  volume: WarmVolume | undefined
  context: ControllerContext
  parser: DevfileParser
}

/** The stop of a workspace that is terminated while it runs, where its devfile wants something done then. */
export async function lastStop(
  workspace: Workspace,
  place: LastStop,
): Promise<{ what?: string; postStop?: PostStop | undefined }> {
  const plan = await planOf(workspace, place)
  if (!plan) return {}
  const { kube, namespace, context } = place
  const query = { namespace, labels: `${labels.workspaceUid}=${workspace.metadata.uid}` }
  for (const each of (await kube.list(Deployments, { ...query, metadataOnly: true })).slice(0, MOST_STOPPED))
    await kube.delete(Deployments, refOf(each), { uid: each.metadata.uid, propagation: 'Background' })
  const pods = (await kube.list(Pods, query)).filter((pod) => partOf(pod) !== AFTER_STOP && isThere(pod))
  if (pods.length > 0) return { what: sayLeft(pods.map(({ metadata }) => `Pod ${metadata.name}`)) }
  const now = context.clock.now()
  const { isUnderWay, postStop } = await afterStop({ plan, kube, isDown: true, isWanted: false, now })
  tellPostStop(context.events, workspace, postStop)
  return isUnderWay ? { what: `Job ${postStop?.job}`, postStop } : { postStop }
}

/** Made from what is remembered: nothing is asked for any more. */
async function planOf(workspace: Workspace, { namespace, volume, parser }: LastStop): Promise<WorkspacePlan | undefined> {
  const { status } = workspace
  const settings = status?.class?.settings
  if (!settings || status.startedAt === undefined || isStopped(status.startedAt, status.stoppedAt)) return undefined
  const read = await readDevfile(workspace, settings, { source: undefined, project: undefined, parser })
  if (isObstacle(read) || !runsAfterStop(read.devfile)) return undefined
  const variables = rememberedVariables(workspace) ?? {}
  return { workspace, settings, devfile: read.devfile, namespace, volume, variables, variablesMark: markOf(workspace) }
}
