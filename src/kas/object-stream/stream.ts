import type { TreeFile } from '../../adapters/git/index.ts'
import { type Call, type Door, type GrpcService, offer } from '../../adapters/grpc/index.ts'
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
import type {
  Admission,
  Caller,
  CommitSnapshot,
  OnServed,
  PollSighting,
  Polls,
  ProjectGate,
  ServedProject,
} from '../ports/ports.ts'
import type { Refusals } from '../ports/refusals.ts'
import type { Effort } from '../projects/tree.ts'
import { changesSince } from './changes.ts'
import { checkRequest, parseRequest, type StreamRequest } from './request.ts'
import { type Choose, createChoose, type StreamLimits } from './select.ts'

export interface ObjectStreamOptions {
  gate: ProjectGate
  /** Proves who calls before anything of a request is read. */
  door: Door
  polls: Pick<Polls, 'follow'>
  limits: StreamLimits
  /** Streams end after so long, before a load balancer cuts them. Milliseconds. */
  maxAge: number
  /** Counts batches that were delivered whole. */
  delivered: Counter
  /** And those that had no new file in them. */
  unchanged: Counter
  refused: Refusals
  /** Told of agents that do not report what they do: GitLab's ask for no digests. */
  onServed: OnServed
  clock: Clock
}

export function createObjectStreamService(options: ObjectStreamOptions): GrpcService {
  const context: StreamContext = {
    ...options,
    choose: createChoose(options.limits),
    turns: createTurnstile({ each: 1 }),
    steps: createBuckets(STEPS, options.clock),
    room: createTurnstile({ each: ROOM_OF_ONE }),
  }
  return offer(Gitops, { getObjectsToSynchronize: (request, call) => serve(context, request, call) }, context.door)
}

/** Of `spec.path` of a GitProject: nothing longer is one. */
const LONGEST_PATH = 255

/** A usual request takes a few thousand, and one that means everything in a folder none for what it matches. */
const STEPS: Rate = { burst: 20_000_000, perSecond: 2_000_000 }

/** Bytes of files that are on the way to the callers of one namespace at once. */
const ROOM_OF_ONE = 16 * 2 ** 20

interface StreamContext extends ObjectStreamOptions {
  choose: Choose
  /** The callers of each namespace wait for one another here. */
  turns: Turnstile
  /** Limits the Effort of each namespace. */
  steps: Buckets
  /** The callers of each namespace wait for one another here, by bytes. */
  room: Turnstile
}

/** One call: admitted, held until there is a commit that the caller does not have, answered with one batch, ended. */
async function* serve(
  context: StreamContext,
  request: ObjectsToSynchronizeRequest,
  call: Call,
): AsyncGenerator<ObjectsToSynchronizeResponse> {
  // Strangers are refused before anything of theirs is looked at.
  const told = witness(context, request)
  const admission = await admit(context, request, call, told)
  if (!admission) return
  const ending = endOf(context, admission, call)
  try {
    const { caller } = admission
    const { namespace } = caller
    const wanted = await inTurn(context, namespace, ending.signal, (effort) => parseRequest(request, context.limits, effort))
    const following = context.polls.follow(admission.project, wanted.revision, admission)
    try {
      const next: Next = (seen) => following.next(seen, ending.signal)
      const onNothing = (commit: string | undefined) => told(caller, { commit })
      const snapshot = await newCommit(next, wanted.commitId, { call, onNothing })
      if (snapshot) {
        yield* batch(context, wanted, snapshot, { admission, call, onDelivered: (commit) => told(caller, { commit }) })
      }
    } finally {
      following.close()
    }
    const revocation = revocationOf(admission)
    if (revocation) throw revocation
  } catch (thrown) {
    const why = revocationOf(admission) ?? thrown
    if (!call.signal.aborted) told(admission.caller, { failure: Failure.from(why) })
    throw why
  } finally {
    admission.close()
    ending.cancel()
  }
}

type Witness = (caller: Caller, outcome: Omit<ServedProject, 'path'>) => void

/** Who reports what has become of its request says more than can be seen from here. */
function witness({ onServed }: StreamContext, { projectId: path, digest }: ObjectsToSynchronizeRequest): Witness {
  return ({ kind, namespace, name }, outcome) => {
    if (kind !== 'agent' || name === undefined || digest !== undefined || path.length > LONGEST_PATH) return
    onServed({ namespace, name }, { path, ...outcome })
  }
}

/** The log names the refused request, its peer and the reason. It never names the token. */
async function admit(
  { gate, refused, limits }: StreamContext,
  request: ObjectsToSynchronizeRequest,
  call: Call,
  told: Witness,
): Promise<Admission | undefined> {
  const path = request.projectId.slice(0, LONGEST_PATH + 1)
  const [namespace, serviceAccount] = [call.metadata('berth-namespace'), call.metadata('berth-service-account')]
  try {
    const [authorization, projectUid] = [call.metadata('authorization'), call.metadata('berth-project-uid')]
    const claim = { authorization, namespace, serviceAccount, path, projectUid, peer: call.peer }
    const onUntrusted = (caller: Caller, failure: Failure) => {
      told(caller, { failure })
      call.accept()
    }
    const onRefused = (caller: Caller, failure: Failure) => told(caller, { failure })
    return await gate.admit(claim, { signal: call.signal, onUntrusted, onRefused })
  } catch (thrown) {
    refused('A caller was refused', call.peer, thrown, { path, namespace })
    // Who is known hears first of what makes no sense.
    if (!isFailure(thrown, 'unauthorized')) checkRequest(request, limits)
    throw thrown
  }
}

type Next = (seen: PollSighting | undefined) => Promise<PollSighting | undefined>

/** `undefined`: the stream ends before there is one. */
async function newCommit(
  next: Next,
  known: string,
  { call, onNothing }: { call: Call; onNothing: (commit: string | undefined) => void },
): Promise<CommitSnapshot | undefined> {
  for (let seen = await next(undefined); seen; seen = await next(seen)) {
    if ('failure' in seen) throw outward(seen.failure)
    if ('snapshot' in seen && seen.snapshot.commit !== known) return seen.snapshot
    // Who has what is in effect is told why it gets nothing newer.
    if ('snapshot' in seen && seen.refused) throw outward(seen.refused)
    onNothing('snapshot' in seen ? known : undefined)
    call.accept()
  }
  return undefined
}

/** Once begun a batch is brought to its end, unless nobody may or wants to have it any more: without a trailer the caller drops it. */
async function* batch(
  context: StreamContext,
  wanted: StreamRequest,
  snapshot: CommitSnapshot,
  { admission, call, onDelivered }: { admission: Admission; call: Call; onDelivered: (commit: string) => void },
): AsyncGenerator<ObjectsToSynchronizeResponse> {
  const signal = AbortSignal.any([call.hungUp, admission.ended])
  await admission.renew()
  const { digest: known } = wanted
  const [{ files, digest, unchanged, changes }, line] = await Promise.all([
    chosen(context, wanted, snapshot, { admission, signal }),
    wanted.about ? snapshot.line() : undefined,
  ])
  const digested = known === undefined ? undefined : { digest, unchanged, changes: changes !== undefined }
  yield header(snapshot.commit, admission.project.id, { ...digested, ...line })
  for (const path of changes?.removed ?? []) yield removedObject(path)
  const sent = unchanged ? [] : (changes?.files ?? files)
  for (const { path, link } of sent) if (link !== undefined) yield linkObject(path, link)
  const regular = sent.filter(({ link }) => link === undefined)
  if (wanted.selection.names) for (const { path } of regular) yield objectChunk(path, new Uint8Array())
  else {
    const leave = await context.room.enter(admission.caller.namespace, { weight: weightOf(regular, admission), signal })
    try {
      yield* contentsOf(regular, snapshot, call, signal)
    } finally {
      leave()
    }
  }
  if (signal.aborted) return
  // Before its last message: who has that may hang up, and then nobody comes back here.
  const counter = unchanged ? context.unchanged : context.delivered
  counter.add()
  onDelivered(snapshot.commit)
  yield trailer()
}

/** Chooses the files that the caller gets, and those of them that it lacks. */
async function chosen(
  context: StreamContext,
  wanted: StreamRequest,
  snapshot: CommitSnapshot,
  { admission: { caller }, signal }: { admission: Admission; signal: AbortSignal },
) {
  const tree = await snapshot.tree()
  return inTurn(context, caller.namespace, signal, (effort) => {
    const choose: Choose = (of, selection) => context.choose(of, selection, effort)
    const choice = choose(tree, wanted.selection)
    const digest = wanted.digest === undefined ? '' : choice.digest
    const unchanged = digest !== '' && digest === wanted.digest
    const changes = unchanged ? undefined : changesSince(snapshot.earlier, wanted, choice.files, choose)
    return { files: choice.files, digest, unchanged, changes }
  })
}

/** Patterns of one namespace are matched one request after the other, and within its share of time. */
async function inTurn<T>(
  { turns, steps, clock }: StreamContext,
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
  snapshot: CommitSnapshot,
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
function endOf({ clock, maxAge }: StreamContext, { ended }: Admission, call: Call): { signal: AbortSignal; cancel: () => void } {
  const old = new AbortController()
  const cancel = clock.after(maxAge * (1 + 0.05 * Math.random()), () => old.abort())
  return { signal: AbortSignal.any([call.signal, ended, old.signal]), cancel }
}

const revocationOf = ({ ended }: Admission): Failure | undefined =>
  ended.aborted && ended.reason instanceof Failure ? ended.reason : undefined

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
