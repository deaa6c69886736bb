import { create } from '@bufbuild/protobuf'
import { type Batch, collectBatch, completed, Devfiles, Gitops, type GitRef, requestFor } from '../../rpc/index.ts'
import { aborted, type Backoff, type Clock, Failure, minutes, pause, seconds, waitOf } from '../../std/index.ts'
import { type DialOptions, dial, type GrpcConnection } from './dial.ts'

export interface WantedFiles {
  /** `spec.path` of the GitProject. */
  projectId: string
  /** Its `metadata.uid`, when it must be this very one and no other of that path. */
  projectUid?: string | undefined
  ref: GitRef
  /** Patterns of files, from the root of the repository. `deploy/**` is everything below deploy. */
  globs: readonly string[]
  /** Files by their names, wherever they are; each must be there. */
  files?: readonly string[] | undefined
  /** The namespace on whose behalf an operator asks; kas believes it from the operator's own service account only. */
  namespace?: string | undefined
  /** Beside it: the service account with whose rights will be applied, for grants that name one. */
  serviceAccount?: string | undefined
  /** Whether the author and the subject of each commit are wanted too. */
  about?: boolean | undefined
  /** Whether nothing but the names of the files is wanted. */
  names?: boolean | undefined
}

interface FollowOptions {
  /** The commit that was applied last, so that it is not delivered again. */
  commitId?: string
  /**
   * Called with each new commit, one at a time. The next one is asked for when it returns; if it throws, the same commit comes again.
   * Files that are as in the batch before are not sent again: they are the very same, and so is the list when all of them are.
   */
  onBatch(batch: Batch): Promise<void> | void
  /** kas has the repository in view: whatever was wrong is over, also if there is no new commit. */
  onInView?(): void
  /**
   * The stream ended with an error and will be opened again after a wait. `reason` and `remedy` are those of kas. A connection that only
   * ends is told when there is no other one for a while.
   */
  onFailure?(failure: Failure): void
  backoff?: Backoff
  signal: AbortSignal
}

export type ObjectStream = ReturnType<typeof objectStreamOver>

const PATIENCE: Backoff = { base: seconds(1), max: minutes(1) }
/** A server that ends streams sooner than this is not asked again at once. */
const BRIEF = seconds(1)
/** kas ends each connection at some age, and when it is replaced: another one is there within moments, and nobody need hear of it. */
const UNTOLD = seconds(10)

/** The client of kas' object stream: one connection for any number of projects. */
export const createObjectStream = ({ clock, ...to }: Omit<DialOptions, 'clock'> & { clock: Clock }): ObjectStream =>
  objectStreamOver(dial(to), clock)

/** The same over a connection that is there already, and that `close` closes. `patient`: a server that is away is waited for. */
export function objectStreamOver(connection: GrpcConnection, clock: Clock, patient?: boolean) {
  return {
    /**
     * The files as soon as the commit differs from `commitId` (at once when that is empty, the default).
     * `undefined`: kas ended the stream for its own reasons; ask again.
     */
    fetchObjects: (wanted: WantedFiles, signal: AbortSignal, commitId = ''): Promise<Batch | undefined> =>
      call(connection, { ...wanted, commitId }, { signal, patient }),
    /** The devfile at a URL of a web server, which kas asks if it may. */
    async fetchDevfile(url: string, signal: AbortSignal): Promise<string> {
      const method = Devfiles.method.fetchDevfile
      const { content } = await connection.unary(method, create(method.input, { url }), { signal })
      return Buffer.from(content).toString('utf8')
    },
    /** Keeps asking until the signal aborts. Errors go to `onFailure`; the promise never rejects. */
    follow: (wanted: WantedFiles, options: FollowOptions): Promise<void> =>
      follow({ connection, clock, patient }, wanted, options),
    close: (): void => connection.close(),
  }
}

async function call(
  connection: GrpcConnection,
  wanted: WantedFiles & { commitId: string; digest?: string | undefined },
  how: { signal: AbortSignal; patient: boolean | undefined; onAccepted?: () => void },
): Promise<Batch | undefined> {
  const { namespace, serviceAccount, projectUid } = wanted
  const metadata = {
    ...(namespace === undefined ? {} : { 'berth-namespace': [namespace] }),
    ...(serviceAccount === undefined ? {} : { 'berth-service-account': [serviceAccount] }),
    ...(projectUid === undefined ? {} : { 'berth-project-uid': [projectUid] }),
  }
  const batch = await collectBatch(
    connection.stream(Gitops.method.getObjectsToSynchronize, requestFor(wanted), { metadata, ...how }),
  )
  // A batch whose call was called off may be cut short without an error.
  if (how.signal.aborted || !batch) return undefined
  // Believed blindly, it would look like a commit without any file.
  if ((batch.unchanged && batch.digest !== wanted.digest) || ((batch.unchanged || batch.changes) && !wanted.digest))
    throw new Failure('internal', 'the object stream says that files are unchanged which it was not asked about')
  return batch
}

async function follow(
  { connection, clock, patient }: { connection: GrpcConnection; clock: Clock; patient: boolean | undefined },
  wanted: WantedFiles,
  options: FollowOptions,
): Promise<void> {
  const { onBatch, onFailure = () => undefined, onInView, backoff = PATIENCE, signal } = options
  let { commitId = '' } = options
  let last: Batch | undefined
  let failures = 0
  let isKnown = false
  let failingSince: number | undefined
  const onAccepted = () => {
    failures = 0
    isKnown = true
    failingSince = undefined
    onInView?.()
  }
  while (!signal.aborted) {
    const opened = clock.now()
    try {
      const given = await call(connection, { ...wanted, commitId, digest: last?.digest ?? '' }, { signal, onAccepted, patient })
      if (given) {
        const batch = last ? completed(given, last) : given
        await onBatch(batch)
        last = batch
        commitId = batch.commitId
        failures = 0
      } else if (clock.now() - opened < BRIEF) await pause(clock, BRIEF, signal)
    } catch (thrown) {
      if (signal.aborted) return
      const failure = Failure.from(thrown)
      failingSince ??= clock.now()
      const mayPass = isKnown && failure.code === 'unavailable' && failure.reason === undefined
      if (!mayPass || clock.now() - failingSince >= UNTOLD) onFailure(failure)
      await pause(clock, waitOf(backoff, failures++), signal)
    }
    // A commit never changes: there is nothing to wait for once it is here.
    if (commitId !== '' && wanted.ref.kind === 'commit') return aborted(signal)
  }
}
