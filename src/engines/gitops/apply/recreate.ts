import { randomBytes } from 'node:crypto'
import { type AnyObject, isDeleting, type Kind, refOf } from '../../../api/index.ts'
import { Failure, isRecord, pause, seconds } from '../../../std/index.ts'
import { wishesOf } from '../annotations.ts'
import { type Desired, managerOf } from '../place.ts'
import { bare } from '../sentence.ts'
import { formerKeeper } from './keeper.ts'
import type { Writing } from './writing.ts'

/** With them goes everything that is in them: no annotation is worth that. */
const NEVER = ['apiextensions.k8s.io/CustomResourceDefinition', '/Namespace']
/** They hold data. A setting for the whole sync is not enough: the object itself must say so. */
const ONLY_ALONE = ['/PersistentVolumeClaim', '/PersistentVolume']

/** What goes slowly is left to the next reconcile; most is gone at once. */
const GONE_WITHIN = seconds(5)

/** Whether a proven immutable field may be answered by deleting the object; else the rest of a sentence about why not. */
export function isForced({ id, object }: Desired, force: boolean | undefined): boolean {
  const kind = `${id.group}/${id.kind}`
  if (NEVER.includes(kind)) return false
  return wishesOf(object).force || (force === true && !ONLY_ALONE.includes(kind))
}

/**
 * Deletes the object and makes it anew, once a dry run has shown that the server takes the new content. `undefined`: it is
 * being deleted and takes its time.
 */
export async function recreate(item: Desired, kind: Kind<AnyObject>, by: Writing): Promise<AnyObject | undefined> {
  const { kube, clock, owner, signal } = by
  const ref = refOf(item.object)
  const live = await by.send(item, () => kube.get(kind, ref, signal))
  formerKeeper(item, live, owner, by.standing)
  const manager = managerOf(owner)
  await by.send(item, () => tryOut(item.object, live, kind, by))
  const { uid, resourceVersion } = live?.metadata ?? {}
  // Bound to what was just read: an object that somebody else made or changed since then is not this one.
  if (live && !isDeleting(live)) await by.send(item, () => kube.delete(kind, ref, { uid, resourceVersion }))
  const deadline = clock.now() + GONE_WITHIN
  for (let wait = 20; ; wait *= 1.5) {
    const left = await by.send(item, () => kube.get(kind, ref, signal))
    if (!left) return by.send(item, () => kube.apply(kind, item.object, { manager }))
    if (left.metadata.uid !== uid) throw new Failure('conflict', 'was made anew by somebody else meanwhile')
    if (clock.now() >= deadline || signal?.aborted) return undefined
    await pause(clock, wait, signal)
  }
}

/** Creates it under a name of its own, in a dry run: everything that may be wrong with it is wrong there too. */
async function tryOut(
  object: AnyObject,
  live: AnyObject | undefined,
  kind: Kind<AnyObject>,
  { kube, owner }: Writing,
): Promise<void> {
  const name = `berth-dry-run-${randomBytes(5).toString('hex')}`
  const trial = { ...withoutTaken(object, live), metadata: { ...object.metadata, name } }
  try {
    await kube.create(kind, trial, { manager: managerOf(owner), dryRun: true })
  } catch (thrown) {
    const failure = Failure.from(thrown)
    throw new Failure(failure.code, `is not made anew, for the new one would be refused: ${bare(failure)}`, {
      reason: failure.reason ?? 'DryRunRefused',
      cause: failure.cause,
      ...(failure.retryAfter !== undefined && { retryAfter: failure.retryAfter }),
    })
  }
}

/** Addresses and ports that the live Service holds are taken until it is gone. */
function withoutTaken(object: AnyObject, live: AnyObject | undefined): AnyObject {
  const { spec } = object
  if (object.kind !== 'Service' || object.apiVersion !== 'v1' || !isRecord(spec) || !live) return object
  const { clusterIP, clusterIPs, healthCheckNodePort: _, ports, ...rest } = spec
  const isHeadless = clusterIP === 'None'
  return {
    ...object,
    spec: {
      ...rest,
      ...(isHeadless && { clusterIP }),
      ...(Array.isArray(ports) && { ports: ports.map(withoutNodePort) }),
    },
  }
}

function withoutNodePort(port: unknown): unknown {
  if (!isRecord(port)) return port
  const { nodePort: _, ...rest } = port
  return rest
}
