import type { Cache } from '../../adapters/kube/index.ts'
import { isDeleting, type KubeObject, nameOf, type Ref, refFromKey, refOf } from '../../api/index.ts'
import { createWorkQueue, Failure, isFailure, minutes, sayFailure, timestamp, type WorkQueue, within } from '../../std/index.ts'
import type { Controller, ControllerContext, Next, StatusDraft } from './reconcile.ts'
import { isWorthTelling, retryAfter } from './retry-policy.ts'
import { statusPatch } from './status-patch.ts'

export type ReconcileOutcome = 'settled' | 'again' | 'failed'

/** What the loop tells about itself; the program turns it into metrics. */
export interface LoopMeter {
  reconciled(report: { controller: string; outcome: ReconcileOutcome; ms: number; waited: number; failure?: Failure }): void
  depth(controller: string, read: () => number): void
}

export interface Loop {
  enqueue(key: string): void
  stop(): Promise<void>
}

/** No reconcile takes longer; what takes longer answers `again`. */
const LIMIT = minutes(2)
const CONCURRENCY = 16

/** One controller at work: keys in, reconciles, status and retries out. */
export function startLoop<T extends KubeObject>(
  context: ControllerContext,
  controller: Controller<T>,
  cache: Cache<T>,
  meter?: LoopMeter,
): Loop {
  const { clock } = context
  const log = context.log.with({ controller: controller.name })
  const stopping = new AbortController()
  /** Failures in a row. */
  const attempts = new Map<string, number>()

  const once = async (ref: Ref, signal: AbortSignal): Promise<Next | undefined> => {
    const object = cache.get(ref)
    // What is not seen may be there. Only what is being deleted is let go: it has to get less.
    if (!object || !isDeleting(object)) context.caches.requireWhole(ref.namespace ?? '')
    const next = object ? await controller.reconcile(object, signal) : await controller.gone?.(ref, signal)
    if (next?.status && object) await writeStatus(context, controller, next.object ?? object, next.status)
    return next
  }

  const work = async (key: string, waited: number): Promise<void> => {
    const began = clock.now()
    const report = (outcome: ReconcileOutcome, failure?: Failure) =>
      meter?.reconciled({ controller: controller.name, outcome, ms: clock.now() - began, waited, ...(failure && { failure }) })
    try {
      const next = await within(controller.limit ?? LIMIT, stopping.signal, (signal) => once(refFromKey(key), signal))
      attempts.delete(key)
      if (next?.word === 'again') {
        log.debug('again', { key, after: next.after, why: next.why })
        queue.addAfter(key, next.after)
      } else if (next?.recheck !== undefined) queue.addAfter(key, next.recheck)
      report(next?.word ?? 'settled')
    } catch (thrown) {
      const failure = Failure.from(thrown)
      report('failed', failure)
      if (!stopping.signal.aborted) await fail(key, failure)
    }
  }

  const fail = async (key: string, failure: Failure): Promise<void> => {
    const attempt = attempts.get(key) ?? 0
    attempts.set(key, attempt + 1)
    log[failure.code === 'internal' ? 'error' : 'info']('reconcile failed', { key, code: failure.code, failure, attempt })
    queue.addAfter(key, retryAfter(failure, attempt).after)
    const object = cache.get(refFromKey(key))
    if (!object || !isWorthTelling(failure, attempt)) return
    await tell(context, controller, object, failure).catch((thrown: unknown) =>
      log.info('status not written', { key, failure: Failure.from(thrown) }),
    )
  }

  const queue: WorkQueue = createWorkQueue({
    clock,
    concurrency: controller.concurrency ?? CONCURRENCY,
    work,
    groupOf: (key) => refFromKey(key).namespace ?? '',
  })
  meter?.depth(controller.name, () => queue.depth)
  return {
    enqueue: (key) => queue.add(key),
    async stop() {
      stopping.abort()
      await queue.stop()
    },
  }
}

/** The failure as the user sees it: an Event, and the status if the controller has words for it. */
async function tell<T extends KubeObject>(
  context: ControllerContext,
  controller: Controller<T>,
  object: T,
  failure: Failure,
): Promise<void> {
  context.events.record(object, { type: 'Warning', reason: failure.reason ?? 'ReconcileFailed', message: sentenceOf(failure) })
  const draft = controller.failed?.(object, failure)
  if (draft) await writeStatus(context, controller, object, draft)
}

/** The text fit for users: an internal failure keeps its cause for the log. */
export function sentenceOf(failure: Failure): string {
  if (failure.code === 'internal') return "unexpected internal error; the operator's log says more"
  return sayFailure(failure)
}

async function writeStatus<T extends KubeObject>(
  { kube, clock }: ControllerContext,
  controller: Controller<T>,
  object: T,
  draft: StatusDraft,
): Promise<void> {
  const patch = statusPatch(object, draft, timestamp(clock.now()))
  if (!patch) return
  try {
    await kube.patch(controller.kind, refOf(object), patch, { subresource: 'status', manager: controller.name })
  } catch (failure) {
    // Deleted meanwhile: there is nobody left to tell.
    if (isFailure(failure, 'not-found')) return
    throw Failure.from(failure, nameOf(object))
  }
}
