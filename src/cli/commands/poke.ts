import type { Command } from 'commander'
import { annotations, GitProjects } from '../../api/index.ts'
import { Failure, isFailure, systemClock } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { type ClusterOptions, examples, kubeOf, withKubeconfig } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

interface Options extends ClusterOptions {
  namespace: string
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withKubeconfig(command)
      .argument('<gitproject>', 'name of the GitProject')
      .description(
        `Let kas look for new commits of a GitProject now, without waiting for its pollInterval. It writes the annotation ${annotations.poke}, so it needs the right to patch the GitProject and nothing else.`,
      )
      .option('-n, --namespace <name>', 'namespace of the GitProject', 'default')
      .addHelpText(
        'after',
        examples(
          ['berth poke shop -n team-a', 'look now'],
          [`kubectl annotate gitproject shop --overwrite ${annotations.poke}=$RANDOM`, 'the same by hand'],
        ),
      )
      .action(finish((name: string, options: Options) => poke(shell, name, options)))
  },
}

async function poke(shell: Shell, name: string, options: Options): Promise<ExitCode> {
  const { namespace } = options
  const kube = await kubeOf(shell, options)
  try {
    const now = new Date(systemClock.now()).toISOString()
    await kube.patch(GitProjects, { name, namespace }, { metadata: { annotations: { [annotations.poke]: now } } })
  } catch (thrown) {
    if (!isFailure(thrown, 'not-found')) throw thrown
    throw new Failure('not-found', `there is no GitProject ${name} in namespace ${namespace}.`, {
      cause: thrown,
      remedy: 'List them with kubectl get gitprojects -A, and name the namespace with -n.',
    })
  } finally {
    await kube.close()
  }
  shell.print(`kas looks for new commits of GitProject ${namespace}/${name}.`)
  return exitCodes.ok
}
