import type { Kube } from '../adapters/kube/index.ts'
import { type Ref, type Workspace, type WorkspaceSpec, Workspaces, workspaceKeptUntil } from '../api/index.ts'
import { Failure, hours, isFailure, timestamp } from '../std/index.ts'
import { resizedBy } from './workspace-size.ts'

interface ActionRequest {
  /** In the name of the person who does it. */
  kube: Kube
  ref: Ref
  uid: string
  form: URLSearchParams
  /** Milliseconds since the epoch. */
  now: number
}

type Action = (request: ActionRequest) => Promise<unknown>

const change = ({ kube, ref, uid }: ActionRequest, spec: WorkspaceSpec, resourceVersion?: string): Promise<unknown> =>
  kube.patch(Workspaces, ref, { metadata: { uid, ...(resourceVersion && { resourceVersion }) }, spec }).catch(asAnother)

const setDesiredState =
  (desiredState: NonNullable<WorkspaceSpec['desiredState']>): Action =>
  (request) =>
    change(request, { desiredState })

async function current({ kube, ref }: ActionRequest): Promise<Workspace> {
  const workspace = await kube.get(Workspaces, ref)
  if (!workspace) throw new Failure('not-found', 'the workspace is gone')
  return workspace
}

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
    const workspace = await current(request)
    return change(request, { keepUntil: timestamp(workspaceKeptUntil(workspace, hours(1), request.now).until) })
  },
  /** A list is written as a whole: nobody else's change of it is lost. */
  async resize(request) {
    const workspace = await current(request)
    const resources = resizedBy(workspace, request.form)
    const isAtOnce = request.form.get('restart') === 'yes'
    const spec: WorkspaceSpec = { resources, ...(isAtOnce && { desiredState: 'RestartRequested' }) }
    return change(request, spec, workspace.metadata.resourceVersion)
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
