import { nameOf, refOf, type WorkspaceSpec, Workspaces } from '../../api/index.ts'
import { isFailure, systemClock, timestamp } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { actionVerb } from '../verb.ts'
import { type WatchGoal, watchUntil } from './watch.ts'
import {
  commandFor,
  onWorkspace,
  refuseTerminated,
  type WatchOptions,
  type WorkspaceContext,
  withStay,
  withWatch,
  withWorkspace,
} from './workspace.ts'

export const start = actionVerb({
  description: 'Start a workspace that is stopped. It has the files and variables that it had.',
  examples: [['berth start web -n team-a --watch', 'and see each step']],
  options: (command) => withStay(withWorkspace(command)),
  run: onWorkspace(startWorkspace),
})

/** Has it run, and watches it where that is asked for. */
export async function startWorkspace(context: WorkspaceContext, options: WatchOptions): Promise<ExitCode> {
  refuseTerminated(context.workspace)
  const said = `${nameOf(context.workspace)} is to run. See how it does with \`${commandFor('get', context.workspace)}\`.`
  return setDesired(context, { spec: { desiredState: 'Running' }, state: 'Running', said }, options)
}

export const stop = actionVerb({
  description: 'Stop a workspace. What is on its volumes stays; what runs in it ends.',
  examples: [['berth stop web -n team-a', 'until `berth start`']],
  options: (command) => withWatch(withWorkspace(command)),
  run: onWorkspace(stopWorkspace),
})

/** Has it stop, and watches it where that is asked for. */
export async function stopWorkspace(context: WorkspaceContext, options: WatchOptions): Promise<ExitCode> {
  refuseTerminated(context.workspace)
  const again = commandFor('start', context.workspace)
  const said = `${nameOf(context.workspace)} is to stop; its files stay. Start it again with \`${again}\`.`
  return setDesired(context, { spec: { desiredState: 'Stopped' }, state: 'Stopped', said }, options)
}

export const restart = actionVerb({
  description: 'Stop a workspace and start it again, with the same files and variables.',
  examples: [
    ['berth restart web -n team-a --watch', 'and see each step'],
    ['berth restart web -n team-a --upgrade', 'after its class has changed'],
  ],
  options: (command) => withStay(withWorkspace(command).option('--upgrade', 'take over the settings that its class has now')),
  run: onWorkspace(async (context, options: WatchOptions & { upgrade?: boolean }) => {
    refuseTerminated(context.workspace)
    const upgrade = options.upgrade ? { upgradedAt: timestamp(systemClock.now()) } : {}
    const said = `${nameOf(context.workspace)} is to be restarted. See how it does with \`${commandFor('get', context.workspace)}\`.`
    return setDesired(context, { spec: { desiredState: 'RestartRequested', ...upgrade }, state: 'Running', said }, options)
  }),
})

interface DesiredChange {
  spec: Partial<WorkspaceSpec>
  /** The state that it comes to by that. */
  state: WatchGoal['state']
  /** Printed when nobody watches. */
  said: string
}

/** Writes what the person wants, and watches it come true where that is asked for. */
export async function setDesired(
  context: WorkspaceContext,
  { spec, state, said }: DesiredChange,
  { watch, timeout, stay }: WatchOptions,
): Promise<ExitCode> {
  const { shell, kube, workspace } = context
  const patch = { metadata: { uid: workspace.metadata.uid }, spec }
  const written = await kube.patch(Workspaces, refOf(workspace), patch).catch((thrown: unknown) => {
    // The API server's own message about a terminated one is true, but does not say what to do.
    if (isFailure(thrown, 'invalid')) refuseTerminated(workspace)
    throw thrown
  })
  const generation = written.metadata.generation ?? 0
  if (watch) return watchUntil({ ...context, workspace: written }, { state, timeout, stay, generation })
  shell.print(said)
  return exitCodes.ok
}
