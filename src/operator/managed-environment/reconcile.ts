import type { Reach } from '../../adapters/kube/index.ts'
import {
  type CoreSecret,
  type GitOpsDeploymentManagedEnvironment,
  isDeleting,
  keyOf,
  type Ref,
  refOf,
  Secrets,
} from '../../api/index.ts'
import { type ControllerContext, type Next, settled } from '../../engines/controller/index.ts'
import { waitAfterFailure } from '../../engines/targets/index.ts'
import { Failure, minutes, seconds } from '../../std/index.ts'
import { tryConnection } from './connection.ts'
import { checkNamespaces, checkServiceAccount, checkUrl, kubeconfigOf } from './contract.ts'
import { connected, connectionOf, isNews, refused, statusOf, type Verdict } from './status.ts'

/** How long a verdict stands. A cluster that does not answer is asked again sooner, and less often the longer it is away. */
const STANDS = minutes(5)
const SOONEST = seconds(10)

interface Inspection {
  context: ControllerContext
  /** One that can hold credentials. */
  secret(ref: Ref): CoreSecret | undefined
  /** The last question to each cluster, and when to ask again: our own status writes wake us too, and the cluster is somebody else's. */
  asked: Map<string, { question: string; again: number }>
  reach: Reach | undefined
  /** Milliseconds after which a cluster counts as not answering. */
  patience: number
}

type Managed = GitOpsDeploymentManagedEnvironment

/** One managed environment: judge its Secret, ask its cluster, say how it went. */
export async function reconcileManagedEnvironment(managed: Managed, inspection: Inspection, signal: AbortSignal): Promise<Next> {
  if (isDeleting(managed)) return settled()

  const { asked, context } = inspection
  const key = keyOf(refOf(managed))
  const secret = await credentialsOf(managed, inspection)
  const question = questionOf(managed, secret)
  const before = asked.get(key)
  const left = (before?.again ?? 0) - context.clock.now()
  // The same question within minutes gets the same answer.
  if (before?.question === question && left > 0) return settled({ recheck: left })

  const verdict = await verdictOn(managed, secret, inspection, signal)
  const now = context.clock.now()
  const recheck = waitAfter(verdict, managed, now)
  asked.set(key, { question, again: now + recheck })
  announce(managed, verdict, context)
  return settled({ recheck, status: statusOf(verdict, managed.status, now) })
}

/** Only the two types that can hold credentials are cached; one of another type is asked for, so that it can be named. */
async function credentialsOf({ metadata, spec }: Managed, { secret, context }: Inspection): Promise<CoreSecret | undefined> {
  if (spec.credentialsSecret === '') return undefined
  const ref = { name: spec.credentialsSecret, namespace: metadata.namespace }
  return secret(ref) ?? (await context.kube.get(Secrets, ref))
}

/** Everything that the answer depends on, as far as it can be seen from here. */
const questionOf = ({ metadata }: Managed, secret: CoreSecret | undefined): string =>
  [metadata.uid, metadata.generation, secret?.metadata.uid, secret?.metadata.resourceVersion].join(' ')

async function verdictOn(
  managed: Managed,
  secret: CoreSecret | undefined,
  { reach, patience }: Inspection,
  signal: AbortSignal,
): Promise<Verdict> {
  let asked = false
  try {
    checkUrl(managed)
    checkNamespaces(managed)
    checkServiceAccount(managed)
    const kubeconfig = kubeconfigOf(managed, secret)
    asked = true
    return connected(managed.spec.apiURL, await tryConnection(managed, kubeconfig, { reach, patience, signal }))
  } catch (thrown) {
    const failure = Failure.from(thrown)
    // What is wrong with the target is the verdict; what is wrong with us is not.
    if (failure.code !== 'invalid') throw failure
    return refused(failure, asked)
  }
}

/** After a failure of the cluster: as long as it has been failing, between ten seconds and the usual five minutes. */
function waitAfter(verdict: Verdict, { status }: Managed, now: number): number {
  const soonest = verdict.connected || !verdict.asked ? STANDS : SOONEST
  return waitAfterFailure(connectionOf(status), now, { soonest, latest: STANDS })
}

function announce(managed: Managed, verdict: Verdict, { events }: ControllerContext): void {
  if (!isNews(verdict, managed.status)) return
  const { reason, message } = verdict
  events.record(managed, { type: verdict.connected ? 'Normal' : 'Warning', reason, message })
}
