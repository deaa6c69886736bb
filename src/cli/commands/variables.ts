import type { Command } from 'commander'
import { annotations, refOf, Workspaces } from '../../api/index.ts'
import { systemClock, timestamp } from '../../std/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { defineGroup } from '../group.ts'
import { examples, withOutput } from '../options.ts'
import { type Format, render } from '../output.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { type WorkspaceOptions, withWorkspace, withWorkspaceAtHand } from '../workspace/workspace.ts'

/** `berth variables` */
export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    command
      .description('The variables of a Workspace: what was frozen for it. Values are shown to nobody.')
      .addHelpText('after', examples(['berth variables list web -n team-a', 'each variable, and where it comes from']))
    defineGroup(command, shell, finish, [
      { name: 'list', summary: 'list the variables, and where they come from', define: defineList },
      { name: 'refresh', summary: 'freeze them again as they are now', define: defineRefresh },
    ])
  },
}

function defineList(command: Command, shell: Shell, finish: Finish): void {
  withOutput(withWorkspace(command))
    .addHelpText('after', examples(['berth variables list web -n team-a -o json', 'for scripts']))
    .action(
      finish((name: string, options: WorkspaceOptions & { output: Format }) =>
        withWorkspaceAtHand(shell, name, options, async ({ workspace: { status } }) => {
          shell.print(
            render(options.output, status?.variables?.list ?? [], [
              { title: 'NAME', of: (row) => row.name },
              { title: 'TYPE', of: (row) => row.type },
              { title: 'FROM', of: (row) => row.level },
              { title: 'OVERRIDES', of: (row) => (row.overrides ?? []).join(', ') || '-' },
            ]),
          )
          for (const each of status?.variables?.leftOut ?? []) shell.say(`left out: ${each}\n`)
          return exitCodes.ok
        }),
      ),
    )
}

function defineRefresh(command: Command, shell: Shell, finish: Finish): void {
  withWorkspace(command)
    .addHelpText('after', examples(['berth variables refresh web -n team-a', 'a workspace that runs is restarted']))
    .action(
      finish((name: string, options: WorkspaceOptions) =>
        withWorkspaceAtHand(shell, name, options, async ({ kube, workspace }) => {
          const now = timestamp(systemClock.now())
          await kube.patch(Workspaces, refOf(workspace), { metadata: { annotations: { [annotations.refreshVariables]: now } } })
          shell.print(
            `The variables of Workspace ${options.namespace}/${name} are frozen again. If it runs, it is restarted; see them with \`berth variables list ${name} -n ${options.namespace}\`.`,
          )
          return exitCodes.ok
        }),
      ),
    )
}
