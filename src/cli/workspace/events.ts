import { nameOf } from '../../api/index.ts'
import { eventsOf, type WorkspaceEvent } from '../../engines/lookout/index.ts'
import { systemClock } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { type OutputOptions, withOutput } from '../options.ts'
import { marked, type OutputFormat, render } from '../output.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { since } from './time.ts'
import { onWorkspace, withWorkspace } from './workspace.ts'

export const verb = actionVerb({
  description:
    'List what was told about a workspace, here and in its target, in the order of time. For what was told in the target you must be allowed to read its credentials.',
  examples: [
    ['berth events web -n team-a', 'its life'],
    ['berth events web -o json | jq -r .[].reason', 'for scripts'],
  ],
  options: (command) => withOutput(withWorkspace(command)),
  run: onWorkspace(async ({ shell, kube, workspace }, { output }: ObjectOptions & OutputOptions) => {
    const { events, unseen } = await eventsOf(kube, workspace, { reach: undefined })
    if (events.length > 0 || output !== 'table') shell.print(printed(shell, output, events))
    else shell.say(`Nothing was told about ${nameOf(workspace)} lately.\n`)
    if (unseen !== undefined) shell.say(`Without what was told in its target: ${unseen}\n`)
  }),
})

function printed({ paint }: Shell, format: OutputFormat, events: WorkspaceEvent[]): string {
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
