import type { Command } from 'commander'
import { examples } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { refuseTerminated, wish } from '../workspace/wish.ts'
import { berth, titleOf, type WatchOptions, withWatch, withWorkspace, withWorkspaceAtHand } from '../workspace/workspace.ts'

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withWatch(withWorkspace(command))
      .description('Start a workspace that is stopped. It has the files and variables that it had.')
      .addHelpText('after', examples(['berth start web -n team-a --watch', 'and see each step']))
      .action(
        finish((name: string, options: WatchOptions) =>
          withWorkspaceAtHand(shell, name, options, async (at) => {
            refuseTerminated(at)
            const said = `${titleOf(at.workspace)} is to run. See how it does with \`${berth('get', at.workspace)}\`.`
            return wish(at, { spec: { desiredState: 'Running' }, state: 'Running', said }, options)
          }),
        ),
      )
  },
}
