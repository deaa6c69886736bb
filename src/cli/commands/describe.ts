import type { Command } from 'commander'
import { systemClock } from '../../std/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { examples, withOutput } from '../options.ts'
import { type Format, renderData } from '../output.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { letterOf } from '../workspace/letter.ts'
import { type WorkspaceOptions, withWorkspace, withWorkspaceAtHand } from '../workspace/workspace.ts'

interface Options extends WorkspaceOptions {
  output: Format
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withOutput(withWorkspace(command))
      .description(
        'Say everything that is known of a workspace: its state and steps, what is wrong and what helps, what comes next.',
      )
      .addHelpText(
        'after',
        examples(['berth describe web -n team-a', 'for people'], ['berth describe web -n team-a -o yaml', 'the whole object']),
      )
      .action(
        finish((name: string, options: Options) =>
          withWorkspaceAtHand(shell, name, options, async ({ workspace }) => {
            if (options.output === 'table') shell.print(letterOf(shell, workspace, systemClock.now()))
            else shell.print(renderData(options.output, workspace))
            return exitCodes.ok
          }),
        ),
      )
  },
}
