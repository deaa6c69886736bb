import type { Receipt, Send } from '../../../adapters/http/index.ts'
import type { Kube } from '../../../adapters/kube/index.ts'
import { conditionOf, type GitOpsDeployment, keyOf, type Ref, Secrets } from '../../../api/index.ts'
import { type ControllerContext, sentenceOf } from '../../../engines/controller/index.ts'
import { createTally, createWorkQueue, Failure, isFailure, seconds, timestamp, waitOf } from '../../../std/index.ts'
import type { Told } from './facts.ts'
import { letterFor } from './letters.ts'
import { type CommitNews, type Notification, newsIn, resultFor, type ToldStatus } from './news.ts'
import { checkTemplate } from './template.ts'

interface NotifierOptions {
  context: Pick<ControllerContext, 'clock' | 'events' | 'log'>
  send: Send
  /** The own cluster as the tenant of a deployment. */
  asTenant: (deployment: GitOpsDeployment) => Kube
}

/** Whom it concerns. */
interface Receiver {
  deployment: GitOpsDeployment
  notification: Notification
  field: string
}

interface Notice extends Receiver {
  told: Told
  tries: number
}

/** A deployment as it was seen last. */
interface Seen extends ToldStatus {
  uid: string | undefined
  generation: number | undefined
}

/** More than this of a namespace wait only when its receivers are down: what comes then is told by an Event alone. */
const MOST_WAITING = 200
const AT_ONCE = 8
const OF_NAMESPACE = 2
const TRIES = 3
const PATIENT = { base: seconds(1), max: seconds(30), factor: 5, jitter: 0.3 }

/** By namespace. */
const groupOf = (key: string): string => key.slice(0, key.indexOf('/'))

/** Tells the world the outcomes of commits, aside: nothing waits for it, and nothing fails with it. */
export function createNotifier({ context, send, asTenant }: NotifierOptions) {
  const { clock, events, log } = context
  const seen = new Map<string, Seen>()
  const notices = new Map<string, Notice>()
  const waiting = createTally()
  const closing = new AbortController()

  const drop = (key: string) => {
    if (notices.delete(key)) waiting.add(groupOf(key), -1)
  }
  const giveUp = ({ deployment, notification, field }: Receiver, failure: Failure) => {
    const message = `${field} (${notification.kind}): ${sentenceOf(failure)}`
    log.info('notification failed', { key: keyOf(deployment.metadata), failure })
    events.record(deployment, { type: 'Warning', reason: 'NotificationFailed', message })
  }
  const work = async (key: string): Promise<void> => {
    const notice = notices.get(key)
    if (!notice) return
    try {
      await run(notice, { send, kube: asTenant(notice.deployment), signal: closing.signal })
      drop(key)
    } catch (thrown) {
      const failure = Failure.from(thrown)
      notice.tries++
      if (closing.signal.aborted) return
      if (notice.tries < TRIES && isFailure(failure, 'unavailable', 'timeout'))
        return queue.addAfter(key, waitOf(PATIENT, notice.tries - 1))
      drop(key)
      giveUp(notice, failure)
    }
  }
  // Receivers of one namespace that hang delay nobody else's.
  const queue = createWorkQueue({ clock, concurrency: AT_ONCE, each: OF_NAMESPACE, work, groupOf })

  const tell = (whole: GitOpsDeployment, news: CommitNews) => {
    const deployment = asTold(whole)
    for (const receiver of receiversOf(deployment)) {
      const result = resultFor(receiver.notification, news)
      if (!result) continue
      const { commit, since } = news
      const told = { deployment, commit, since, result, at: timestamp(clock.now()) }
      const key = `${keyOf(deployment.metadata)} ${receiver.field} ${commit.revision} ${result} ${since}`
      if (waiting.of(groupOf(key)) >= MOST_WAITING)
        giveUp(
          receiver,
          new Failure('unavailable', `more than ${MOST_WAITING} notifications of namespace ${groupOf(key)} wait`, {
            remedy: 'See in the other Events which of its receivers do not answer',
          }),
        )
      else {
        if (!notices.has(key)) waiting.add(groupOf(key), 1)
        notices.set(key, { ...receiver, told, tries: 0 })
        queue.add(key)
      }
    }
  }

  return {
    /** Looks at a deployment as it is by now; what is news is told soon. What was so when it was first seen is no news. */
    look(deployment: GitOpsDeployment): void {
      const { metadata, status = {} } = deployment
      const { uid, generation } = metadata
      const key = keyOf(metadata)
      const before = seen.get(key)
      const { lastOutcome, lastTrouble } = status
      seen.set(key, { uid, generation, lastOutcome, lastTrouble })
      if (before?.uid !== uid || before?.generation !== generation) checkSpec(deployment, giveUp)
      if (!before || before.uid !== uid) return
      const news = newsIn(before, status)
      if (news) tell(deployment, news)
    },
    forget: (ref: Ref): void => void seen.delete(keyOf(ref)),
    close(): void {
      closing.abort()
      void queue.stop()
    },
  }
}

/** What is told of it: while it waits for minutes, all else that was in this version of it would take up to a megabyte. */
function asTold({ apiVersion, kind, metadata, spec, status = {} }: GitOpsDeployment): GitOpsDeployment {
  const { name, namespace, uid, resourceVersion } = metadata
  const { type, source, serviceAccountName, notifications } = spec
  const ready = conditionOf(status.conditions, 'Ready')
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace && { namespace }), ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
    spec: { type, source, ...(serviceAccountName && { serviceAccountName }), ...(notifications && { notifications }) },
    status: { ...(ready && { conditions: [ready] }), ...(status.health && { health: status.health }) },
  }
}

const receiversOf = (deployment: GitOpsDeployment): Receiver[] =>
  (deployment.spec.notifications ?? []).map((notification, at) => ({
    deployment,
    notification,
    field: `spec.notifications[${at}]`,
  }))

/** A mistake in the spec is told before there is news. */
function checkSpec(deployment: GitOpsDeployment, giveUp: (receiver: Receiver, failure: Failure) => void): void {
  for (const receiver of receiversOf(deployment)) {
    const { template } = receiver.notification
    try {
      if (template) checkTemplate(template)
    } catch (thrown) {
      giveUp(receiver, Failure.from(thrown))
    }
  }
}

interface Delivery {
  send: Send
  kube: Kube
  signal: AbortSignal
}

async function run({ deployment, notification, field, told }: Notice, { send, kube, signal }: Delivery): Promise<void> {
  const { name } = notification.secretRef
  const ref = { name, namespace: deployment.metadata.namespace }
  const secret = await kube.get(Secrets, ref, signal).catch((thrown: unknown) => {
    if (!isFailure(thrown, 'forbidden')) throw thrown
    throw new Failure('forbidden', `the service account may not read Secret ${name}`, {
      remedy: `Give ${deployment.spec.serviceAccountName || 'default'} the right to get that Secret`,
    })
  })
  if (!secret)
    throw new Failure('invalid', `there is no Secret ${name} in this namespace`, {
      remedy: `Create it, or correct ${field}.secretRef.name`,
    })
  const letter = inSecret(name, () => letterFor(notification, told, secret))
  const receipt = await send(letter, signal)
  if (receipt.status >= 300) throw refusal(letter.url, receipt, name)
}

function inSecret<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    if (!isFailure(thrown, 'invalid')) throw thrown
    throw new Failure('invalid', `Secret ${name}: ${thrown.message}`, { ...(thrown.remedy && { remedy: thrown.remedy }) })
  }
}

/**
 * An answer may quote the request, so that only its number is told; and of a host in the own networks not even that,
 * in no way: by its numbers, and by what is tried again, a tenant could find out what is there.
 */
function refusal({ hostname }: URL, { status, isOwn }: Receipt, secret: string): Failure {
  if (isOwn)
    return new Failure('unavailable', `${hostname} did not take it`, {
      remedy: `Check the receiver, and what Secret ${secret} says; redirects are not followed`,
      cause: new Failure('unavailable', `it answered ${status}`),
    })
  const code = status >= 500 || status === 429 || status === 408 ? 'unavailable' : 'invalid'
  const remedy =
    status < 400
      ? 'Redirects are not followed; write the URL that it leads to'
      : `Check the receiver, and what Secret ${secret} says`
  return new Failure(code, `${hostname} answered ${status}`, { remedy })
}
