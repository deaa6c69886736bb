import type { Command } from 'commander'
import { systemClock, timestamp } from '../../std/index.ts'
import { examples } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { refuseTerminated, wish } from '../workspace/wish.ts'
import { berth, titleOf, type WatchOptions, withWatch, withWorkspace, withWorkspaceAtHand } from '../workspace/workspace.ts'

interface Options extends WatchOptions {
  upgrade?: boolean
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withWatch(
      withWorkspace(command)
        .description('Stop a workspace and start it again, with the same files and variables.')
        .option('--upgrade', 'take over the settings that its class has now'),
    )
      .addHelpText(
        'after',
        examples(
          ['berth restart web -n team-a --watch', 'and see each step'],
          ['berth restart web -n team-a --upgrade', 'after its class has changed'],
        ),
      )
      .action(
        finish((name: string, options: Options) =>
          withWorkspaceAtHand(shell, name, options, async (at) => {
            refuseTerminated(at)
            const upgrade = options.upgrade ? { upgradedAt: timestamp(systemClock.now()) } : {}
            const said = `${titleOf(at.workspace)} is to be restarted. See how it does with \`${berth('get', at.workspace)}\`.`
            return wish(at, { spec: { desiredState: 'RestartRequested', ...upgrade }, state: 'Running', said }, options)
          }),
        ),
      )
  },
}
