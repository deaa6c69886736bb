import type { TreeFile } from '../../adapters/git/index.ts'
import { type Call, type Door, offer, type Service } from '../../adapters/grpc/index.ts'
import type { Counter } from '../../adapters/http/index.ts'
import {
  Gitops,
  header,
  linkObject,
  type ObjectsToSynchronizeRequest,
  type ObjectsToSynchronizeResponse,
  objectChunk,
  removedObject,
  trailer,
} from '../../rpc/index.ts'
import {
  type Buckets,
  type Clock,
  createBuckets,
  createTurnstile,
  Failure,
  isFailure,
  pause,
  type Rate,
  type Turnstile,
} from '../../std/index.ts'
import type { Admission, Gate, Polls, Sighting, Snapshot } from '../ports.ts'
import type { Refusals } from '../refusals.ts'
import type { Effort } from '../tree.ts'
import { changesSince } from './changes.ts'
import { checkRequest, parseRequest, type Wanted } from './request.ts'
import { type Choose, createChoose, type Limits } from './select.ts'

export interface ObjectStreamDesk {
  gate: Gate
  /** Proves who calls before anything of a request is read. */
  door: Door
  polls: Polls
  limits: Limits
  /** Streams end after so long, before a load balancer cuts them. Milliseconds. */
  maxAge: number
  /** Counts batches that were delivered whole. */
  delivered: Counter
  /** And those that had no new file in them. */
  unchanged: Counter
  refused: Refusals
  clock: Clock
}

export function createObjectStreamService(wiring: ObjectStreamDesk): Service {
  const desk: Desk = {
    ...wiring,
    choose: createChoose(wiring.limits),
    turns: createTurnstile({ each: 1 }),
    steps: createBuckets(STEPS, wiring.clock),
    room: createTurnstile({ each: ROOM_OF_ONE }),
  }
  return offer(Gitops, { getObjectsToSynchronize: (request, call) => serve(desk, request, call) }, desk.door)
}

/** Of `spec.path` of a GitProject: nothing longer is one. */
const LONGEST_PATH = 255

/** A usual request takes a few thousand, and one that means everything in a folder none for what it matches. */
const STEPS: Rate = { burst: 20_000_000, perSecond: 2_000_000 }

/** Bytes of files that are on the way to the callers of one namespace at once. */
const ROOM_OF_ONE = 16 * 2 ** 20

interface Desk extends ObjectStreamDesk {
  choose: Choose
  /** Where the callers of each namespace wait for one another. */
  turns: Turnstile
  /** What each namespace may take of an Effort. */
  steps: Buckets
  /** Where the callers of each namespace wait for one another, by bytes. */
  room: Turnstile
}

/** One call: admitted, held until there is a commit that the caller does not have, answered with one batch, ended. */
async function* serve(
  desk: Desk,
  request: ObjectsToSynchronizeRequest,
  call: Call,
): AsyncGenerator<ObjectsToSynchronizeResponse> {
  // Strangers are refused before anything of theirs is looked at.
  const admission = await admit(desk, request, call)
  if (!admission) return
  const ending = endOf(desk, admission, call)
  try {
    const { namespace } = admission.caller
    const wanted = await inTurn(desk, namespace, ending.signal, (effort) => parseRequest(request, desk.limits, effort))
    const following = desk.polls.follow(admission.project, wanted.revision, admission)
    try {
      const snapshot = await newCommit((seen) => following.next(seen, ending.signal), wanted.commitId, call)
      if (snapshot) yield* batch(desk, wanted, snapshot, { admission, call })
    } finally {
      following.close()
    }
    throwRevocation(admission)
  } catch (thrown) {
    throwRevocation(admission)
    throw thrown
  } finally {
    admission.close()
    ending.cancel()
  }
}

/** Who is refused is named in the log: what was asked, from where, and why not. Never the token. */
async function admit(
  { gate, refused, limits }: Desk,
  request: ObjectsToSynchronizeRequest,
  call: Call,
): Promise<Admission | undefined> {
  const path = request.projectId.slice(0, LONGEST_PATH + 1)
  const [namespace, serviceAccount] = [call.metadata('berth-namespace'), call.metadata('berth-service-account')]
  try {
    const [authorization, projectUid] = [call.metadata('authorization'), call.metadata('berth-project-uid')]
    const claim = { authorization, namespace, serviceAccount, path, projectUid, peer: call.peer }
    return await gate.admit(claim, { signal: call.signal, onHeld: () => call.accept() })
  } catch (thrown) {
    refused('A caller was refused', call.peer, thrown, { path, namespace })
    // Who is known hears first of what makes no sense.
    if (!isFailure(thrown, 'unauthorized')) checkRequest(request, limits)
    throw thrown
  }
}

type Next = (seen: Sighting | undefined) => Promise<Sighting | undefined>

/** `undefined`: the stream ends before there is one. */
async function newCommit(next: Next, known: string, call: Call): Promise<Snapshot | undefined> {
  for (let seen = await next(undefined); seen; seen = await next(seen)) {
    if ('failure' in seen) throw outward(seen.failure)
    if ('snapshot' in seen && seen.snapshot.commit !== known) return seen.snapshot
    call.accept()
  }
  return undefined
}

/** Once begun a batch is brought to its end, unless nobody may or wants to have it any more: without a trailer the caller drops it. */
async function* batch(
  desk: Desk,
  wanted: Wanted,
  snapshot: Snapshot,
  { admission, call }: { admission: Admission; call: Call },
): AsyncGenerator<ObjectsToSynchronizeResponse> {
  const signal = AbortSignal.any([call.hungUp, admission.ended])
  await admission.renew()
  const { digest: known } = wanted
  const { files, digest, unchanged, changes } = await chosen(desk, wanted, snapshot, { admission, signal })
  const said = { digest, unchanged, changes: changes !== undefined }
  yield header(snapshot.commit, admission.project.id, known === undefined ? undefined : said)
  for (const path of changes?.removed ?? []) yield removedObject(path)
  const sent = unchanged ? [] : (changes?.files ?? files)
  for (const { path, link } of sent) if (link !== undefined) yield linkObject(path, link)
  const regular = sent.filter(({ link }) => link === undefined)
  const leave = await desk.room.enter(admission.caller.namespace, { weight: weightOf(regular, admission), signal })
  try {
    yield* contentsOf(regular, snapshot, call, signal)
  } finally {
    leave()
  }
  if (signal.aborted) return
  // Before its last message: who has that may hang up, and then nobody comes back here.
  const counter = unchanged ? desk.unchanged : desk.delivered
  counter.add()
  yield trailer()
}

/** Which files it gets, and which of them it lacks. */
async function chosen(
  desk: Desk,
  wanted: Wanted,
  snapshot: Snapshot,
  { admission: { caller }, signal }: { admission: Admission; signal: AbortSignal },
) {
  const tree = await snapshot.tree()
  return inTurn(desk, caller.namespace, signal, (effort) => {
    const choose: Choose = (of, selection) => desk.choose(of, selection, effort)
    const choice = choose(tree, wanted.selection)
    const digest = wanted.digest === undefined ? '' : choice.digest
    const unchanged = digest !== '' && digest === wanted.digest
    const changes = unchanged ? undefined : changesSince(snapshot.earlier, wanted, choice.files, choose)
    return { files: choice.files, digest, unchanged, changes }
  })
}

/** What patterns cost is done for those of one namespace one after the other, and no more than is their share of time. */
async function inTurn<T>(
  { turns, steps, clock }: Desk,
  namespace: string,
  signal: AbortSignal,
  work: (effort: Effort) => T,
): Promise<T> {
  const leave = await turns.enter(namespace, { signal })
  const effort = { steps: 0 }
  try {
    const wait = steps.wait(namespace)
    if (wait > 0) await pause(clock, wait, signal)
    if (signal.aborted) throw new Failure('cancelled', 'the caller does not wait any more')
    return work(effort)
  } finally {
    steps.spend(namespace, effort.steps)
    leave()
  }
}

/** The operator keeps what has come of the files of all tenants until the last is there; of an agent only we have something to bear. */
function weightOf(files: readonly TreeFile[], { caller }: Admission): number {
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  return caller.isVouchedFor ? bytes : Math.min(bytes, PORTION)
}

/** No more is read before the last of what was has left: who reads slowly costs a portion of memory. */
async function* contentsOf(
  files: readonly TreeFile[],
  snapshot: Snapshot,
  call: Call,
  signal: AbortSignal,
): AsyncGenerator<ObjectsToSynchronizeResponse> {
  for (const portion of portions(files)) {
    const contents = await snapshot.read(portion, signal)
    for (const [at, data] of contents.entries())
      for (const chunk of chunks(portion[at]?.path ?? '', data)) {
        if (signal.aborted) return
        yield chunk
      }
    await call.flushed(signal)
  }
}

/** That the Git server refused kas is not the caller's lack of rights: its status codes would make it look for another token. */
function outward(failure: Failure): Failure {
  if (failure.code !== 'unauthorized' && failure.code !== 'forbidden') return failure
  const { reason, remedy } = failure
  return new Failure('invalid', failure.message, { cause: failure, ...(reason ? { reason } : {}), ...(remedy ? { remedy } : {}) })
}

/** The caller hangs up, the server stops, the right ends, or the stream has become old: each ends it, and only a lost right is an error. */
function endOf({ clock, maxAge }: Desk, { ended }: Admission, call: Call): { signal: AbortSignal; cancel: () => void } {
  const old = new AbortController()
  const cancel = clock.after(maxAge * (1 + 0.05 * Math.random()), () => old.abort())
  return { signal: AbortSignal.any([call.signal, ended, old.signal]), cancel }
}

function throwRevocation({ ended }: Admission): void {
  if (ended.aborted && ended.reason instanceof Failure) throw ended.reason
}

const CHUNK = 128 * 2 ** 10

function* chunks(source: string, data: Uint8Array): Generator<ObjectsToSynchronizeResponse> {
  // An empty file is a file: kustomize may generate something from it.
  if (data.length === 0) yield objectChunk(source, data)
  for (let at = 0; at < data.length; at += CHUNK) yield objectChunk(source, data.subarray(at, at + CHUNK))
}

const PORTION = 4 * 2 ** 20

/** Files that are read into memory together. */
function* portions<T extends { size: number }>(files: readonly T[]): Generator<T[]> {
  let portion: T[] = []
  let bytes = 0
  for (const file of files) {
    if (bytes + file.size > PORTION && portion.length > 0) {
      yield portion
      portion = []
      bytes = 0
    }
    portion.push(file)
    bytes += file.size
  }
  if (portion.length > 0) yield portion
}
