import { conditionOf, nameOf } from '../../api/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { type OutputOptions, withOutput } from '../options.ts'
import { marked, renderData, wrap } from '../output.ts'
import { actionVerb } from '../verb.ts'
import { childrenOf } from './children.ts'
import { type DeploymentContext, onDeployment, withDeployment } from './deployment.ts'
import { nodesOf, type TreeNode, treeLines } from './tree-lines.ts'

export const verb = actionVerb({
  description:
    'Show the objects of a GitOpsDeployment with their health, whether they are as the repository says, and where they differ. ReplicaSets, Jobs and Pods that belong to them are shown where they are in this cluster and you may list them.',
  examples: [
    ['berth tree shop -n team-a', 'all its objects'],
    ['berth tree shop -n team-a -o json | jq .objects[].health', 'for programs'],
  ],
  options: (command) => withOutput(withDeployment(command)),
  run: onDeployment(async (context, { output }: ObjectOptions & OutputOptions) => {
    const nodes = nodesOf(context.deployment, await childrenOf(context))
    context.shell.print(output === 'table' ? tableOf(context, nodes) : renderData(output, dataOf(context, nodes)))
  }),
})

const dataOf = ({ deployment: { metadata, status } }: DeploymentContext, objects: TreeNode[]) => ({
  deployment: { name: metadata.name, namespace: metadata.namespace },
  revision: status?.sync?.revision,
  sync: status?.sync?.status ?? 'Unknown',
  health: status?.health?.status ?? 'Unknown',
  objects,
})

function tableOf({ shell: { paint }, deployment }: DeploymentContext, nodes: TreeNode[]): string {
  const { sync, health, conditions, inventory } = deployment.status ?? {}
  const ready = conditionOf(conditions, 'Ready')
  const state = `${sync?.status ?? 'Unknown'}, ${health?.status ?? 'Unknown'}, commit ${sync?.revision?.slice(0, 12) ?? 'none yet'}`
  const said = ready?.status === 'True' ? [] : wrap(`${ready?.reason ?? 'Unknown'}: ${ready?.message ?? ''}`)
  const left = (inventory?.count ?? 0) - (deployment.status?.resources ?? []).filter(({ version }) => version !== '').length
  const more = left > 0 ? [`and ${left} more that are well`] : []
  const title = nameOf(deployment)
  const head = wrap(`${title}: ${state}`)
  head[0] = head[0]?.replace(title, marked(ready?.status === 'True' ? 'ok' : 'warn', title, paint)) ?? title
  return [...head, ...said, ...treeLines(nodes, paint), ...more].join('\n')
}
