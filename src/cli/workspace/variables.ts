import { annotations, refOf, Workspaces } from '../../api/index.ts'
import { systemClock, timestamp } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { type OutputOptions, withOutput } from '../options.ts'
import { render } from '../output.ts'
import { actionVerb, groupVerb } from '../verb.ts'
import { onWorkspace, withWorkspace } from './workspace.ts'

const list = actionVerb({
  examples: [['berth variables list web -n team-a -o json', 'for scripts']],
  options: (command) => withOutput(withWorkspace(command)),
  run: onWorkspace(async ({ shell, workspace: { status } }, { output }: ObjectOptions & OutputOptions) => {
    shell.print(
      render(output, status?.variables?.list ?? [], [
        { title: 'NAME', of: (row) => row.name },
        { title: 'TYPE', of: (row) => row.type },
        { title: 'FROM', of: (row) => row.level },
        { title: 'OVERRIDES', of: (row) => (row.overrides ?? []).join(', ') || '-' },
      ]),
    )
    for (const each of status?.variables?.leftOut ?? []) shell.say(`left out: ${each}\n`)
  }),
})

const refresh = actionVerb({
  examples: [['berth variables refresh web -n team-a', 'a workspace that runs is restarted']],
  options: withWorkspace,
  run: onWorkspace(async ({ shell, kube, workspace }, { namespace }: ObjectOptions) => {
    const { name } = workspace.metadata
    const now = timestamp(systemClock.now())
    await kube.patch(Workspaces, refOf(workspace), { metadata: { annotations: { [annotations.refreshVariables]: now } } })
    shell.print(
      `The variables of Workspace ${namespace}/${name} are frozen again. If it runs, it is restarted; see them with \`berth variables list ${name} -n ${namespace}\`.`,
    )
  }),
})

export const verb = groupVerb({
  description: 'The variables of a Workspace: what was frozen for it. Values are shown to nobody.',
  examples: [['berth variables list web -n team-a', 'each variable, and where it comes from']],
  parts: [
    { name: 'list', summary: 'list the variables, and where they come from', ...list },
    { name: 'refresh', summary: 'freeze them again as they are now', ...refresh },
  ],
})
