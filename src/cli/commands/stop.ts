import type { Command } from 'commander'
import { examples } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { refuseTerminated, wish } from '../workspace/wish.ts'
import { berth, titleOf, type WatchOptions, withWatch, withWorkspace, withWorkspaceAtHand } from '../workspace/workspace.ts'

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withWatch(withWorkspace(command))
      .description('Stop a workspace. What is on its volumes stays; what runs in it ends.')
      .addHelpText('after', examples(['berth stop web -n team-a', 'until `berth start`']))
      .action(
        finish((name: string, options: WatchOptions) =>
          withWorkspaceAtHand(shell, name, options, async (at) => {
            refuseTerminated(at)
            const said = `${titleOf(at.workspace)} is to stop; its files stay. Start it again with \`${berth('start', at.workspace)}\`.`
            return wish(at, { spec: { desiredState: 'Stopped' }, state: 'Stopped', said }, options)
          }),
        ),
      )
  },
}
