import type { Kube } from '../adapters/kube/index.ts'
import { type Ref, type WorkspaceSpec, Workspaces, workspaceKeptUntil } from '../api/index.ts'
import { Failure, hours, isFailure, timestamp } from '../std/index.ts'

interface ActionRequest {
  /** In the name of the person who does it. */
  kube: Kube
  ref: Ref
  uid: string
  /** Milliseconds since the epoch. */
  now: number
}

type Action = (request: ActionRequest) => Promise<unknown>

const change = ({ kube, ref, uid }: ActionRequest, spec: WorkspaceSpec): Promise<unknown> =>
  kube.patch(Workspaces, ref, { metadata: { uid }, spec }).catch(asAnother)

const setDesiredState =
  (desiredState: NonNullable<WorkspaceSpec['desiredState']>): Action =>
  (request) =>
    change(request, { desiredState })

/** The API server says of another workspace of the same name that its UID cannot be changed. */
const asAnother = (thrown: unknown): never => {
  if (isFailure(thrown, 'invalid') && thrown.message.includes('metadata.uid'))
    throw new Failure('conflict', 'another workspace has that name now', { cause: thrown, remedy: 'Look at it first' })
  throw thrown
}

/** By the last part of the path. The API server decides whether this person may. */
const ACTIONS: Readonly<Record<string, Action>> = {
  start: setDesiredState('Running'),
  stop: setDesiredState('Stopped'),
  restart: setDesiredState('RestartRequested'),
  async bump(request) {
    const workspace = await request.kube.get(Workspaces, request.ref)
    if (!workspace) throw new Failure('not-found', 'the workspace is gone')
    return change(request, { keepUntil: timestamp(workspaceKeptUntil(workspace, hours(1), request.now).until) })
  },
  delete: ({ kube, ref, uid }) => kube.delete(Workspaces, ref, { uid }),
}

export const isAction = (word: string): boolean => Object.hasOwn(ACTIONS, word)

export async function runAction(word: string, request: ActionRequest): Promise<void> {
  // Another one of that name is not the one that somebody saw.
  if (request.uid === '')
    throw new Failure('invalid', 'the form does not say which workspace', { remedy: 'Go back and try again' })
  await ACTIONS[word]?.(request)
}
