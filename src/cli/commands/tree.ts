import type { Command } from 'commander'
import { conditionOf } from '../../api/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { childrenOf } from '../gitops/children.ts'
import { type AtHand, type DeploymentOptions, titleOf, withDeployment, withDeploymentAtHand } from '../gitops/deployment.ts'
import { type Node, nodesOf, treeLines } from '../gitops/tree.ts'
import { examples, withOutput } from '../options.ts'
import { type Format, marked, renderData, wrap } from '../output.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

interface Options extends DeploymentOptions {
  output: Format
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withOutput(withDeployment(command))
      .description(
        'Show the objects of a GitOpsDeployment with their health, whether they are as the repository says, and where they differ. ReplicaSets, Jobs and Pods that belong to them are shown where they are in this cluster and you may list them.',
      )
      .addHelpText(
        'after',
        examples(
          ['berth tree shop -n team-a', 'all its objects'],
          ['berth tree shop -n team-a -o json | jq .objects[].health', 'for programs'],
        ),
      )
      .action(
        finish((name: string, options: Options) =>
          withDeploymentAtHand(shell, name, options, async (at) => {
            const nodes = nodesOf(at.deployment, await childrenOf(at))
            shell.print(options.output === 'table' ? letter(at, nodes) : renderData(options.output, dataOf(at, nodes)))
            return exitCodes.ok
          }),
        ),
      )
  },
}

const dataOf = ({ deployment: { metadata, status } }: AtHand, objects: Node[]) => ({
  deployment: { name: metadata.name, namespace: metadata.namespace },
  revision: status?.sync?.revision,
  sync: status?.sync?.status ?? 'Unknown',
  health: status?.health?.status ?? 'Unknown',
  objects,
})

function letter({ shell: { paint }, deployment }: AtHand, nodes: Node[]): string {
  const { sync, health, conditions, inventory } = deployment.status ?? {}
  const ready = conditionOf(conditions, 'Ready')
  const state = `${sync?.status ?? 'Unknown'}, ${health?.status ?? 'Unknown'}, commit ${sync?.revision?.slice(0, 12) ?? 'none yet'}`
  const said = ready?.status === 'True' ? [] : wrap(`${ready?.reason ?? 'Unknown'}: ${ready?.message ?? ''}`)
  const left = (inventory?.count ?? 0) - (deployment.status?.resources ?? []).filter(({ version }) => version !== '').length
  const more = left > 0 ? [`and ${left} more that are well`] : []
  const title = titleOf(deployment)
  const head = wrap(`${title}: ${state}`)
  head[0] = head[0]?.replace(title, marked(ready?.status === 'True' ? 'ok' : 'warn', title, paint)) ?? title
  return [...head, ...said, ...treeLines(nodes, paint), ...more].join('\n')
}
