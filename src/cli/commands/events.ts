import type { Command } from 'commander'
import { eventsOf, type WorkspaceEvent } from '../../engines/lookout/index.ts'
import { systemClock } from '../../std/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { examples, withOutput } from '../options.ts'
import { type Format, marked, render } from '../output.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { since } from '../workspace/time.ts'
import { titleOf, type WorkspaceOptions, withWorkspace, withWorkspaceAtHand } from '../workspace/workspace.ts'

interface Options extends WorkspaceOptions {
  output: Format
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withOutput(withWorkspace(command))
      .description(
        'List what was told about a workspace, here and in its target, in the order of time. For what was told in the target you must be allowed to read its credentials.',
      )
      .addHelpText(
        'after',
        examples(['berth events web -n team-a', 'its life'], ['berth events web -o json | jq -r .[].reason', 'for scripts']),
      )
      .action(
        finish((name: string, options: Options) =>
          withWorkspaceAtHand(shell, name, options, async ({ kube, workspace }) => {
            const { events, unseen } = await eventsOf(kube, workspace, { reach: undefined })
            if (events.length > 0 || options.output !== 'table') shell.print(printed(shell, options.output, events))
            else shell.say(`Nothing was told about ${titleOf(workspace)} lately.\n`)
            if (unseen !== undefined) shell.say(`Without what was told in its target: ${unseen}\n`)
            return exitCodes.ok
          }),
        ),
      )
  },
}

function printed({ paint }: Shell, format: Format, events: WorkspaceEvent[]): string {
  const now = systemClock.now()
  return render(format, events, [
    { title: 'AGO', of: ({ at }) => since(at, now) },
    {
      title: 'REASON',
      of: ({ reason, count }) => (count > 1 ? `${reason} (${count})` : reason),
      paint: ({ type }, text) => marked(type === 'Warning' ? 'warn' : 'ok', text, paint),
    },
    { title: 'WHAT', of: ({ object, message }) => (object.startsWith('Workspace ') ? message : `${object}: ${message}`) },
  ])
}
