import type { Kube } from '../adapters/kube/index.ts'
import { type Ref, type WorkspaceSpec, Workspaces, workspaceKeptUntil } from '../api/index.ts'
import { Failure, hours, isFailure, timestamp } from '../std/index.ts'

interface Deed {
  /** In the name of whoever does it. */
  kube: Kube
  ref: Ref
  uid: string
  /** Milliseconds since the epoch. */
  now: number
}

type Doer = (deed: Deed) => Promise<unknown>

const change = ({ kube, ref, uid }: Deed, spec: WorkspaceSpec): Promise<unknown> =>
  kube.patch(Workspaces, ref, { metadata: { uid }, spec }).catch(asAnother)

const wish =
  (desiredState: NonNullable<WorkspaceSpec['desiredState']>): Doer =>
  (deed) =>
    change(deed, { desiredState })

/** Of a workspace that is another one the API server says that its UID cannot be changed. */
const asAnother = (thrown: unknown): never => {
  if (isFailure(thrown, 'invalid') && thrown.message.includes('metadata.uid'))
    throw new Failure('conflict', 'another workspace has that name now', { cause: thrown, remedy: 'Look at it first' })
  throw thrown
}

/** What can be done with a workspace, by the last part of the path. The API server decides whether this person may. */
const DOERS: Readonly<Record<string, Doer>> = {
  start: wish('Running'),
  stop: wish('Stopped'),
  restart: wish('RestartRequested'),
  async bump(deed) {
    const workspace = await deed.kube.get(Workspaces, deed.ref)
    if (!workspace) throw new Failure('not-found', 'the workspace is gone')
    return change(deed, { keepUntil: timestamp(workspaceKeptUntil(workspace, hours(1), deed.now).until) })
  },
  delete: ({ kube, ref, uid }) => kube.delete(Workspaces, ref, { uid }),
}

export const isAction = (word: string): boolean => Object.hasOwn(DOERS, word)

export async function act(word: string, deed: Deed): Promise<void> {
  // Another one of that name is not the one that somebody saw.
  if (deed.uid === '') throw new Failure('invalid', 'the form does not say which workspace', { remedy: 'Go back and try again' })
  await DOERS[word]?.(deed)
}
