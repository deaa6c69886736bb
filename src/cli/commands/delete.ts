import type { Command } from 'commander'
import { refOf, Workspaces } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { examples } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { watchUntil } from '../workspace/watch.ts'
import { wish } from '../workspace/wish.ts'
import {
  type AtHand,
  berth,
  titleOf,
  type WatchOptions,
  withWatch,
  withWorkspace,
  withWorkspaceAtHand,
} from '../workspace/workspace.ts'

interface Options extends WatchOptions {
  keepRecord?: boolean
  yes?: boolean
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withWatch(
      withWorkspace(command)
        .description('Delete a workspace with everything that is in it, its files too. What was not pushed is lost.')
        .option('--yes', 'it is meant; without it nothing is deleted')
        .option('--keep-record', 'terminate it, but keep the Workspace that says what it was'),
    )
      .addHelpText(
        'after',
        examples(
          ['berth delete web -n team-a --yes --watch', 'until nothing is left'],
          ['berth delete web -n team-a --yes --keep-record', 'its record stays'],
        ),
      )
      .action(finish((name: string, options: Options) => withWorkspaceAtHand(shell, name, options, (at) => remove(at, options))))
  },
}

async function remove(at: AtHand, options: Options): Promise<ExitCode> {
  const { shell, kube, workspace } = at
  const title = titleOf(workspace)
  if (!options.yes) {
    throw new Failure('conflict', `${title} would be deleted with its files, and what was not pushed would be lost.`, {
      remedy: `If that is meant: ${berth('delete', workspace)} --yes. To keep the files: ${berth('stop', workspace)}.`,
    })
  }
  const said = `${title} is being removed with everything that is in it.`
  if (options.keepRecord) return wish(at, { spec: { desiredState: 'Terminated' }, state: 'Terminated', said }, options)
  await kube.delete(Workspaces, refOf(workspace), { uid: workspace.metadata.uid })
  if (options.watch) return watchUntil(at, { state: 'Terminated', timeout: options.timeout, generation: 0 })
  shell.print(said)
  return exitCodes.ok
}
