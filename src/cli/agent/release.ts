import { InvalidArgumentError } from 'commander'
import { type ReleasedProject, releaseProjects } from '../../agent/index.ts'
import { Failure, systemClock } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { type OutputOptions, withKube, withKubeconfig, withNamespace, withOutput } from '../options.ts'
import { type OutputFormat, render } from '../output.ts'
import { actionVerb } from '../verb.ts'

interface Options extends ObjectOptions, OutputOptions {
  dryRun?: boolean
}

export const release = actionVerb({
  description:
    "Hand what Berth's agent has applied over to GitLab's agent, in the cluster that they are for. agentk takes no fields over: without this a field that leaves Git later stays. Stop Berth's agent first.",
  examples: [
    ['berth agent release -n berth-agent --context eu --dry-run', 'see what would be handed over'],
    ['berth agent release -n berth-agent --context eu', 'do it'],
  ],
  options: (command) =>
    withOutput(withNamespace(withKubeconfig(command), "namespace of the agent's pods, in its cluster"))
      .argument('[number]', 'number of the agent, where several have run there', numberFrom)
      .option('--dry-run', 'show what would be handed over, and change nothing'),
  run: (shell, agentId: bigint | undefined, options: Options) =>
    withKube(shell, options, async (kube) => {
      const { namespace: home, dryRun = false } = options
      const projects = await releaseProjects({ kube, home, agentId, dryRun, clock: systemClock })
      shell.print(printed(options.output, projects))
      const [first, ...others] = projects.flatMap(({ failed }) => failed)
      if (first !== undefined) throw left(first, others.length)
      if (!dryRun && options.output === 'table')
        shell.say("Now start GitLab's agent. What leaves Git from now on leaves the cluster with its next apply.\n")
    }),
})

function numberFrom(text: string): bigint {
  if (/^\d{1,20}$/.test(text)) return BigInt(text)
  throw new InvalidArgumentError('Write that of the ConfigMap agent-NUMBER-projects in the namespace of its pods.')
}

const left = (first: string, others: number): Failure =>
  new Failure('conflict', `${first}${others > 0 ? `; and ${others} more` : ''}`, {
    reason: 'NotReleased',
    remedy: 'Mend that, and run it again: what was handed over stays so.',
  })

const printed = (format: OutputFormat, projects: ReleasedProject[]): string =>
  render(format, projects, [
    { title: 'PROJECT', of: ({ id }) => id },
    { title: 'INVENTORY', of: ({ inventories }) => inventories.join(',') },
    { title: 'OBJECTS', of: ({ objects }) => String(objects) },
    { title: 'RELEASED', of: ({ released }) => String(released) },
    { title: 'LEFT', of: ({ failed }) => String(failed.length) },
  ])
