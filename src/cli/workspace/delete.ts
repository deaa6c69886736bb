import { nameOf, refOf, Workspaces } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { actionVerb } from '../verb.ts'
import { setDesired } from './run-state.ts'
import { watchUntil } from './watch.ts'
import { commandFor, onWorkspace, type WatchOptions, type WorkspaceContext, withWatch, withWorkspace } from './workspace.ts'

export interface DeleteOptions extends WatchOptions {
  keepRecord?: boolean
  yes?: boolean
}

export const verb = actionVerb({
  description: 'Delete a workspace with everything that is in it, its files too. What was not pushed is lost.',
  examples: [
    ['berth delete web -n team-a --yes --watch', 'until nothing is left'],
    ['berth delete web -n team-a --yes --keep-record', 'its record stays'],
  ],
  options: (command) =>
    withWatch(
      withWorkspace(command)
        .option('--yes', 'it is meant; without it nothing is deleted')
        .option('--keep-record', 'terminate it, but keep the Workspace that says what it was'),
    ),
  run: onWorkspace(removeWorkspace),
})

/** Deletes it where that is meant. */
export async function removeWorkspace(context: WorkspaceContext, options: DeleteOptions): Promise<ExitCode> {
  const { shell, kube, workspace } = context
  const title = nameOf(workspace)
  if (!options.yes) {
    throw new Failure('conflict', `${title} would be deleted with its files, and what was not pushed would be lost.`, {
      remedy: `If that is meant: ${commandFor('delete', workspace)} --yes. To keep the files: ${commandFor('stop', workspace)}.`,
    })
  }
  const said = `${title} is being removed with everything that is in it.`
  if (options.keepRecord) return setDesired(context, { spec: { desiredState: 'Terminated' }, state: 'Terminated', said }, options)
  await kube.delete(Workspaces, refOf(workspace), { uid: workspace.metadata.uid })
  if (options.watch) return watchUntil(context, { state: 'Terminated', timeout: options.timeout, generation: 0 })
  shell.print(said)
  return exitCodes.ok
}
