import { type Agent, Agents, conditionOf, NOT_REPORTED } from '../../api/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { type OutputOptions, withKube, withKubeconfig, withNamespace, withOutput } from '../options.ts'
import { marked, render } from '../output.ts'
import { actionVerb } from '../verb.ts'

interface Options extends ObjectOptions, OutputOptions {
  allNamespaces?: boolean
}

export const list = actionVerb({
  examples: [['berth agent list -A', 'all that you may see']],
  options: (command) =>
    withNamespace(withOutput(withKubeconfig(command)), 'of one namespace').option('-A, --all-namespaces', 'of all namespaces'),
  run: (shell, options: Options) =>
    withKube(shell, options, async (kube) => {
      const agents = await kube.list(Agents, options.allNamespaces ? {} : { namespace: options.namespace })
      shell.print(
        render(options.output, agents.map(agentRowOf), [
          { title: 'NAMESPACE', of: ({ namespace }) => namespace },
          { title: 'NAME', of: ({ name }) => name },
          { title: 'PODS', of: ({ pods }) => String(pods) },
          { title: 'COMMIT', of: ({ commit }) => commit.slice(0, 8) || '-' },
          { title: 'PROJECT', of: ({ project }) => project },
          {
            title: 'STATE',
            of: stateOf,
            paint: ({ ready, failing }, text) =>
              marked(ready === 'True' && failing.length === 0 ? 'ok' : 'fail', text, shell.paint),
          },
        ]),
      )
    }),
})

/** An Agent as `berth agent list` shows it. */
export const agentRowOf = ({ metadata, spec, status }: Agent) => {
  const ready = conditionOf(status?.conditions, 'Ready')
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    project: spec.configurationProject,
    pods: status?.connectedPods?.length ?? 0,
    ready: ready?.status ?? 'Unknown',
    reason: ready?.reason ?? 'NotSeen',
    commit: status?.configuration?.commit ?? '',
    message: ready?.message ?? '',
    failing: (status?.projects ?? [])
      .filter(({ removed, reason: why }) => !removed && why && why !== NOT_REPORTED)
      .map(({ id, reason: why, message }) => ({ id, reason: why ?? '', message: message ?? '' })),
  }
}

/** What is not working, and why. */
const stateOf = ({ ready, reason, message, failing }: ReturnType<typeof agentRowOf>): string =>
  [
    ready === 'True' || message === '' ? reason : `${reason}: ${message}`,
    ...failing.map((project) => `${project.id}: ${[project.reason, project.message].filter(Boolean).join(': ')}`),
  ].join('; ')
