import { InvalidArgumentError } from 'commander'
import type { Kube } from '../../adapters/kube/index.ts'
import {
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  typeMetaOf,
} from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { type CreateOptions, createObject, withCreation } from '../create-object.ts'
import { findObject } from '../find-object.ts'
import { type WaitOptions, withWait } from '../gitops/deployment.ts'
import { unlessForbidden, withKube } from '../options.ts'
import { actionVerb } from '../verb.ts'
import { waitUntilReady } from './wait.ts'

interface Options extends CreateOptions, WaitOptions {
  class?: string
  target?: string
  requests?: Record<string, string>
  limits?: Record<string, string>
  arch?: string
}

export const claim = actionVerb({
  description: 'Claim a place to run: a target that is there and fits, or one that is made for it.',
  examples: [
    ['berth create claim development -n team-a --wait', 'until it is bound'],
    ['berth create claim load --requests cpu=2,memory=4Gi', 'with room'],
    ['berth create claim south --target south --dry-run', 'as YAML for Git'],
  ],
  options: (command) =>
    withWait(
      withCreation(command, DeploymentTargetClaims)
        .option(
          '--class <targetclass>',
          'DeploymentTargetClass to take it from (default: that of --target, else the only one there is)',
        )
        .option('--target <target>', 'DeploymentTarget to have (default: one that fits)')
        .option('--requests <quantities>', 'what it has at least, such as cpu=2,memory=4Gi', quantities)
        .option('--limits <quantities>', 'what it has at most', quantities)
        .option('--arch <name>', 'architecture of its processors, such as arm64 (default: any)'),
    ),
  run: (shell, name: string, options: Options) =>
    withKube(shell, options, async (kube) => {
      const { target, requests, limits, arch, namespace } = options
      const deploymentTargetClassName = options.class ?? (await classFor(kube, options))
      const resources = { ...(requests && { requests }), ...(limits && { limits }) }
      const object: DeploymentTargetClaim = {
        ...typeMetaOf(DeploymentTargetClaims),
        metadata: { name, namespace },
        spec: {
          deploymentTargetClassName,
          ...(target !== undefined && { targetName: target }),
          ...((requests || limits) && { resources }),
          ...(arch !== undefined && { arch }),
        },
      }
      const context = { shell, kube, kind: DeploymentTargetClaims }
      const needs = [[DeploymentTargetClasses, options.class] as const, [DeploymentTargets, target] as const]
      const made = await createObject({ ...context, object, needs }, options)
      return waitUntilReady({ ...context, made }, options)
    }),
})

/** Commander's parser for NAME=VALUE with commas between. */
function quantities(text: string): Record<string, string> {
  const pairs = text.split(',').map((each) => each.split('='))
  if (pairs.some(([name = '', value = '', ...more]) => name === '' || value === '' || more.length > 0))
    throw new InvalidArgumentError('Write it like cpu=2,memory=4Gi.')
  return Object.fromEntries(pairs)
}

/** A target belongs to its class, and where there is one class nobody has to name it. */
async function classFor(kube: Kube, { target, namespace }: Options): Promise<string> {
  if (target !== undefined) {
    const ref = { name: target, namespace }
    return (await findObject(kube, DeploymentTargets, ref, '`berth get targets -A`')).spec.deploymentTargetClassName
  }
  const classes = (await unlessForbidden(() => kube.list(DeploymentTargetClasses)))?.map(({ metadata }) => metadata.name) ?? []
  const [only, ...others] = classes
  if (only !== undefined && others.length === 0) return only
  throw new Failure('invalid', 'no class is named, and Berth cannot tell which one is meant.', {
    remedy: `Name it with --class${classes.length > 0 ? `: there is ${classes.join(', ')}` : ''}.`,
  })
}
