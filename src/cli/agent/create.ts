import { Option } from 'commander'
import { type Agent, Agents, annotations, keyOf } from '../../api/index.ts'
import { Failure, isFailure, systemClock } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { type OutputOptions, withOutput } from '../options.ts'
import { renderData } from '../output.ts'
import { actionVerb } from '../verb.ts'
import { type AgentContext, checkedAddress, IN_CLUSTER, nameFlags, newToken, onAgent, withAgent } from './registration.ts'

interface Options extends ObjectOptions, OutputOptions {
  project: string
  projectNamespace?: string
  kasAddress?: string
  expiresIn?: string
}

export const create = actionVerb({
  description:
    'Register an agent. Its token is printed once and kept nowhere: only its digest is in the Agent. The configuration is the file .berth/agents/NAME/config.yaml of the project.',
  examples: [
    ['berth agent create dev --project team-a/config -n team-a', 'and see its token'],
    ['berth agent create dev --project team-a/config -o json | jq -r .token', 'for scripts'],
  ],
  options: (command) =>
    withOutput(withAgent(command))
      .requiredOption('--project <path>', 'path of the GitProject that holds the configuration')
      .option('--project-namespace <name>', 'its namespace, where that is not the one of the agent; it has to grant the agent')
      .addOption(
        new Option(
          '--kas-address <url>',
          'where its pods reach kas, such as grpcs://kas.example.com; else kas in the same cluster',
        ).env('BERTH_KAS_ADDRESS'),
      )
      .option('--expires-in <duration>', 'when the token ends, such as 720h; never without it'),
  run: onAgent(createAgent),
})

async function createAgent({ shell, kube, ref }: AgentContext, options: Options): Promise<void> {
  const { project, projectNamespace, expiresIn, output } = options
  const { name, namespace } = ref
  const kasAddress = options.kasAddress && checkedAddress(options.kasAddress)
  const { secret, token } = newToken({ name: 'first', ...(expiresIn ? { expiresIn } : {}) }, systemClock.now())
  const agent: Agent = {
    apiVersion: 'berth.dev/v1alpha1',
    kind: 'Agent',
    metadata: { name, namespace, ...(kasAddress ? { annotations: { [annotations.kasAddress]: kasAddress } } : {}) },
    spec: {
      configurationProject: project,
      ...(projectNamespace && { configurationProjectNamespace: projectNamespace }),
      tokens: [token],
    },
  }
  try {
    await kube.create(Agents, agent)
  } catch (thrown) {
    if (!isFailure(thrown, 'already-exists')) throw thrown
    throw new Failure('already-exists', `there is an Agent ${keyOf(ref)} already`, {
      remedy: `Give it another token with \`berth agent token add ${nameFlags(ref)}\`.`,
    })
  }
  const address = kasAddress ?? IN_CLUSTER
  const commands = {
    manifest: `berth agent manifest ${nameFlags(ref)} --namespaces NAMES | kubectl --context TARGET apply -f -`,
    run: `berth agent run --kas-address ${address} --token-file TOKEN --namespace default --pod-name ${name}-1`,
  }
  if (output === 'table') shell.print(report(ref, project, secret.reveal(), commands))
  else shell.print(renderData(output, { name, namespace, project, token: secret.reveal(), commands }))
}

const report = (
  { name, namespace }: { name: string; namespace: string },
  project: string,
  token: string,
  { manifest, run }: { manifest: string; run: string },
): string => `Agent ${namespace}/${name} is registered. Its token, which is shown this once:

  ${token}

Start it in the cluster that it is for, with a token of its own:

  ${manifest}

or as a program beside that cluster, with this token in the file TOKEN:

  ${run}

Then write .berth/agents/${name}/config.yaml in ${project}, and push.`
