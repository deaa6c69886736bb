import {
  ConfigMaps,
  type Deployment,
  Deployments,
  type KubeObject,
  labels,
  NetworkPolicies,
  type NetworkPolicy,
  PersistentVolumeClaims,
  Secrets,
  type Service,
  ServiceAccounts,
  Services,
} from '../../../api/index.ts'
import { portsOf } from '../hosts.ts'
import { digest } from '../names.ts'
import { envelope } from './envelope.ts'
import { appliedAt, isOnlyApplied } from './event-steps.ts'
import { gitAdditionOf, gitPiecesOf, withoutSecrets } from './git.ts'
import { networkPolicySpecOf } from './network.ts'
import type { Desired, Plan } from './plan.ts'
import { podOf, RESTARTED_AT } from './pod.ts'
import { scriptsAddition, scriptsDigest, scriptsOf, timeFor } from './scripts.ts'
import { variablesAddition, variablesNameOf } from './variables.ts'
import { volumeClaimOf } from './volumes.ts'

/** On the Deployment: what it and everything beside it was made from. Equal means there is nothing to apply. */
export const PLAN_DIGEST = 'berth.dev/plan-sha256'
/** On the Deployment: what everything beside it was made from. A stop and a start change the Deployment only. */
const PIECES_DIGEST = 'berth.dev/pieces-sha256'
/** On the pod: of the commands at its events. They are read when it starts, so that others need another pod. */
const SCRIPTS_DIGEST = 'berth.dev/scripts-sha256'
/** How long the workspace may take to become ready, beside its own commands, before it is Failed. */
const START_LIMIT_SECONDS = 600

/** The objects of a workspace, in the order in which they are applied. The same input gives the same bytes. */
export function desiredObjects(plan: Plan): Desired {
  const scripts = scriptsOf(plan, containersOf(plan))
  const pieces = [
    { kind: ServiceAccounts, object: { ...envelope(plan, ServiceAccounts), automountServiceAccountToken: false } },
    { kind: PersistentVolumeClaims, object: volumeClaimOf(plan) },
    ...networkPolicyOf(plan).map((object) => ({ kind: NetworkPolicies, object })),
    ...(scripts ? [{ kind: ConfigMaps, object: scripts }] : []),
    ...gitPiecesOf(plan),
    ...serviceOf(plan).map((object) => ({ kind: Services, object })),
  ]
  const deployment = deploymentOf(plan, scripts)
  const told = withoutSecrets(pieces)
  const parts = digest(JSON.stringify(told))
  const whole = digest(JSON.stringify([told, deployment]))
  const annotations = { ...deployment.metadata.annotations, [PIECES_DIGEST]: parts, [PLAN_DIGEST]: whole }
  return { pieces, deployment: { ...deployment, metadata: { ...deployment.metadata, annotations } } }
}

/** Whether two Deployments have the same objects beside them. */
export const haveSamePieces = (one: Deployment, other: Deployment): boolean =>
  one.metadata.annotations?.[PIECES_DIGEST] === other.metadata.annotations?.[PIECES_DIGEST]

const containersOf = ({ devfile }: Plan) => devfile.containers.filter((container) => !isOnlyApplied(devfile, container))

const networkPolicyOf = (plan: Plan): NetworkPolicy[] =>
  plan.settings.networkPolicy?.enabled === false
    ? []
    : [{ ...envelope(plan, NetworkPolicies), spec: networkPolicySpecOf(selectorOf(plan), plan.settings, plan.git?.kasUrl) }]

const selectorOf = ({ workspace }: Plan): Record<string, string> => ({ [labels.workspaceUid]: workspace.metadata.uid ?? '' })

/** The Secret that holds the frozen variables, without them. */
export const variablesFrameOf = (plan: Omit<Plan, 'variables'>): KubeObject => envelope(plan, Secrets, variablesNameOf(plan))

/** A Service needs ports; a workspace without any gets none. */
function serviceOf(plan: Plan): Service[] {
  const taken = new Set<string>()
  const ports = portsOf(plan.workspace, plan.devfile).flatMap(({ name, port, isUdp }) => {
    const protocol = isUdp ? 'UDP' : 'TCP'
    if (taken.has(`${protocol} ${port}`)) return []
    taken.add(`${protocol} ${port}`)
    return [{ name, port, targetPort: port, protocol }]
  })
  if (ports.length === 0) return []
  return [{ ...envelope(plan, Services), spec: { type: 'ClusterIP', selector: selectorOf(plan), ports } }]
}

function deploymentOf(plan: Plan, scripts: ReturnType<typeof scriptsOf>): Deployment {
  const { workspace, devfile } = plan
  const frame = envelope(plan, Deployments)
  const restarted = workspace.spec.restartedAt
  const containers = containersOf(plan)
  const additions = [variablesAddition(plan), gitAdditionOf(plan), scriptsAddition(plan, scripts)]
  return {
    ...frame,
    spec: {
      replicas: (workspace.spec.desiredState ?? 'Running') === 'Running' ? 1 : 0,
      progressDeadlineSeconds: START_LIMIT_SECONDS + timeFor(plan, 'postStart', containers),
      revisionHistoryLimit: 1,
      // Two pods at once would fight for the volume and for the people's files.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: selectorOf(plan) },
      template: {
        metadata: {
          labels: frame.metadata.labels ?? {},
          annotations: {
            ...frame.metadata.annotations,
            ...(scripts && { [SCRIPTS_DIGEST]: scriptsDigest(scripts) }),
            ...(restarted && { [RESTARTED_AT]: restarted }),
          },
        },
        spec: podOf(plan, { steps: appliedAt(devfile, 'preStart'), containers, additions }),
      },
    },
  }
}
