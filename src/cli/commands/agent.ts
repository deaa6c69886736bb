import type { Command } from 'commander'
import { defineCreate } from '../agent/create.ts'
import { defineKubeconfig } from '../agent/kubeconfig.ts'
import { defineList } from '../agent/list.ts'
import { defineManifest } from '../agent/manifest.ts'
import { defineRun } from '../agent/run.ts'
import { defineToken } from '../agent/token.ts'
import { defineTrust } from '../agent/trust.ts'
import { defineGroup } from '../group.ts'
import { examples } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

/** Everything about agents; each verb stands in a file of ../agent. */
export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    command
      .description('Register agents, and run them in the clusters that they are for.')
      .addHelpText(
        'after',
        examples(
          ['berth agent create dev --project team-a/config -n team-a', 'register one'],
          ['berth agent manifest dev -n team-a | kubectl apply -f -', 'start it'],
        ),
      )
    defineGroup(command, shell, finish, [
      { name: 'create', summary: 'register an agent, and print its token once', define: defineCreate },
      { name: 'kubeconfig', summary: 'print a kubeconfig for the cluster of an agent', define: defineKubeconfig },
      { name: 'list', summary: 'list agents, and whether they are connected', define: defineList },
      { name: 'manifest', summary: 'print what runs an agent in a cluster', define: defineManifest },
      { name: 'run', summary: 'run an agent', define: defineRun },
      { name: 'token', summary: 'add, list and revoke tokens', define: defineToken },
      { name: 'trust', summary: 'trust GitProjects that took the place of others', define: defineTrust },
    ])
  },
}
