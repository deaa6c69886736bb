import { Option } from 'commander'
import { DeploymentTargetClaims, type Environment, type EnvironmentSpec, Environments, typeMetaOf } from '../../api/index.ts'
import { type CreateOptions, createObject, withCreation } from '../create-object.ts'
import { type WaitOptions, withWait } from '../gitops/deployment.ts'
import { withKube } from '../options.ts'
import { actionVerb } from '../verb.ts'
import { waitUntilReady } from './wait.ts'

interface Options extends CreateOptions, WaitOptions {
  claim: string
  displayName?: string
  parent?: string
  strategy: EnvironmentSpec['deploymentStrategy']
}

export const environment = actionVerb({
  description: 'Name the target of a claim, so that deployments reach it by that name.',
  examples: [
    ['berth create environment development --claim development -n team-a', 'for that target'],
    ['berth create environment prod --claim prod --strategy Manual --wait', 'by hand'],
  ],
  options: (command) =>
    withWait(
      withCreation(command, Environments)
        .requiredOption('--claim <claim>', 'DeploymentTargetClaim whose target is deployed to')
        .option('--display-name <text>', 'what people see (default: the name)')
        .option('--parent <environment>', 'Environment from which is promoted to this one')
        .addOption(
          new Option('--strategy <name>', 'whether new versions come by themselves, or by hand')
            .choices(['AppStudioAutomated', 'Manual'])
            .default('AppStudioAutomated'),
        ),
    ),
  run: (shell, name: string, options: Options) =>
    withKube(shell, options, async (kube) => {
      const { claim, displayName = name, parent, strategy, namespace } = options
      const object: Environment = {
        ...typeMetaOf(Environments),
        metadata: { name, namespace },
        spec: {
          displayName,
          deploymentStrategy: strategy,
          ...(parent !== undefined && { parentEnvironment: parent }),
          configuration: { target: { deploymentTargetClaim: { claimName: claim } } },
        },
      }
      const context = { shell, kube, kind: Environments }
      const needs = [[DeploymentTargetClaims, claim] as const, [Environments, parent] as const]
      const made = await createObject({ ...context, object, needs }, options)
      return waitUntilReady({ ...context, made }, options)
    }),
})
