import type { Command } from 'commander'
import { annotations, type Workspace, Workspaces } from '../../api/index.ts'
import { Failure, systemClock, timestamp } from '../../std/index.ts'
import { withKube } from '../agent/registration.ts'
import { exitCodes } from '../exit-codes.ts'
import { defineGroup } from '../group.ts'
import { type ClusterOptions, examples, withKubeconfig, withOutput } from '../options.ts'
import { type Format, render } from '../output.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

interface Options extends ClusterOptions {
  namespace: string
}

const withWorkspace = (command: Command): Command =>
  withKubeconfig(command)
    .argument('<workspace>', 'name of the Workspace')
    .option('-n, --namespace <name>', 'its namespace', 'default')

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
      finish((name: string, options: Options & { output: Format }) =>
        withKube(shell, options, async (kube) => {
          const { status } = known(await kube.get(Workspaces, { name, namespace: options.namespace }), name, options)
          shell.print(
            render(options.output, status?.variables?.list ?? [], [
              { title: 'NAME', of: (row) => row.name },
              { title: 'TYPE', of: (row) => row.type },
              { title: 'FROM', of: (row) => row.level },
              { title: 'OVERRIDES', of: (row) => (row.overrides ?? []).join(', ') || '-' },
            ]),
          )
          for (const each of status?.variables?.leftOut ?? []) shell.say(`left out: ${each}`)
          return exitCodes.ok
        }),
      ),
    )
}

function defineRefresh(command: Command, shell: Shell, finish: Finish): void {
  withWorkspace(command)
    .addHelpText('after', examples(['berth variables refresh web -n team-a', 'a workspace that runs is restarted']))
    .action(
      finish((name: string, options: Options) =>
        withKube(shell, options, async (kube) => {
          const ref = { name, namespace: options.namespace }
          known(await kube.get(Workspaces, ref), name, options)
          const now = timestamp(systemClock.now())
          await kube.patch(Workspaces, ref, { metadata: { annotations: { [annotations.refreshVariables]: now } } })
          shell.print(
            `The variables of Workspace ${options.namespace}/${name} are frozen again. If it runs, it is restarted; see them with \`berth variables list ${name} -n ${options.namespace}\`.`,
          )
          return exitCodes.ok
        }),
      ),
    )
}

function known(workspace: Workspace | undefined, name: string, { namespace }: Options): Workspace {
  if (workspace) return workspace
  throw new Failure('not-found', `there is no Workspace ${name} in namespace ${namespace}`, {
    remedy: 'Name another, or its namespace with -n.',
  })
}
