import { refOf, type WorkspaceSpec, Workspaces } from '../../api/index.ts'
import { Failure, isFailure } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { type Expectation, watchUntil } from './watch.ts'
import { type AtHand, desiredOf, titleOf, type WatchOptions } from './workspace.ts'

export interface Wish {
  spec: Partial<WorkspaceSpec>
  /** What it is to become. */
  state: Expectation['state']
  /** Said when nobody watches. */
  said: string
}

/** Writes what the person wants, and watches it come true where that is asked for. */
export async function wish(at: AtHand, { spec, state, said }: Wish, { watch, timeout }: WatchOptions): Promise<ExitCode> {
  const { shell, kube, workspace } = at
  const written = await kube
    .patch(Workspaces, refOf(workspace), { metadata: { uid: workspace.metadata.uid }, spec })
    .catch(refused(at))
  if (watch) return watchUntil({ ...at, workspace: written }, { state, timeout, generation: written.metadata.generation ?? 0 })
  shell.print(said)
  return exitCodes.ok
}

/** What the API server says of a terminated one is true, but does not say what to do. */
const refused =
  ({ workspace }: AtHand) =>
  (thrown: unknown): never => {
    if (isFailure(thrown, 'invalid') && desiredOf(workspace) === 'Terminated') throw ended(workspace)
    throw thrown
  }

const ended = (workspace: AtHand['workspace']): Failure =>
  new Failure('conflict', `${titleOf(workspace)} is terminated, and its files are gone.`, {
    remedy: 'Delete it with `berth delete`, and make another with `berth create`.',
  })

/** Throws `conflict` for one that is over. */
export function refuseTerminated({ workspace }: AtHand): void {
  if (desiredOf(workspace) === 'Terminated') throw ended(workspace)
}
