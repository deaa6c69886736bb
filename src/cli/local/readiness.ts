import { connect, type Kube } from '../../adapters/kube/index.ts'
import {
  annotations,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  DeploymentTargetClaims,
  type Kind,
  type KubeObject,
  Previews,
  SpaceRequests,
  typeMetaOf,
  Workspaces,
} from '../../api/index.ts'
import { Failure, isFailure, pause, seconds, systemClock } from '../../std/index.ts'
import { definitionsIn } from '../manifests.ts'
import type { Shell } from '../shell.ts'

/** The kinds can be used. */
export async function untilEstablished({ home, signal }: Shell, kube: Kube): Promise<void> {
  for (const { definition } of definitionsIn(home)) {
    const { name } = definition.metadata
    await until(signal, `CustomResourceDefinition ${name} was not established`, async () =>
      isEstablished(await kube.get(CustomResourceDefinitions, { name }, signal)),
    )
  }
}

const isEstablished = (definition: CustomResourceDefinition | undefined): boolean =>
  definition?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false

/**
 * The policies that write something down do so: a second or two after they were applied. Before that the API server passes them over,
 * and then, until it has read the schemas of the new kinds, refuses the objects with 503 or, of a kind that it does not know yet, with 404.
 */
export async function untilPoliciesHold(kubeconfig: string, signal?: AbortSignal): Promise<void> {
  const kube = connect({ kubeconfig })
  try {
    for (const [kind, spec] of WRITTEN)
      await until(signal, `MutatingAdmissionPolicy requester.berth.dev did nothing for a ${kind.kind}`, () =>
        isWritten(kube, kind, spec),
      )
  } finally {
    await kube.close()
  }
}

/** The kinds of the policy, each with a spec: the API server gets to know them one by one. */
const WRITTEN: readonly (readonly [Kind, object])[] = [
  [DeploymentTargetClaims, { deploymentTargetClassName: '' }],
  [SpaceRequests, { tierName: 'probe' }],
  [Workspaces, {}],
  [Previews, { branches: { project: 'probe' }, deploymentTargetClassName: 'probe', template: { spec: {} } }],
]

async function isWritten(kube: Kube, kind: Kind, spec: object): Promise<boolean> {
  const probe = { ...typeMetaOf(kind), metadata: { name: 'probe', namespace: 'default' }, spec }
  try {
    // A new object that is posted waits in the API server for 2 s after its kind was established; one that is applied does not.
    const seen = await kube.apply<KubeObject>(kind, probe, { manager: 'berth', dryRun: true })
    return seen.metadata.annotations?.[annotations.requester] !== undefined
  } catch (thrown) {
    if (isFailure(thrown, 'unavailable', 'not-found')) return false
    throw thrown
  }
}

async function until(signal: AbortSignal | undefined, otherwise: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = systemClock.now() + seconds(30)
  while (!(await isSo())) {
    if (systemClock.now() > deadline) throw new Failure('timeout', `${otherwise} within 30 s`)
    await pause(systemClock, 50, signal)
  }
}
