import {
  apiVersionOf,
  type Deployment,
  Deployments,
  type Kind,
  type KubeObject,
  labels,
  MANAGED_BY_BERTH,
  NetworkPolicies,
  type NetworkPolicy,
  type ObjectMeta,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  Secrets,
  type Service,
  ServiceAccounts,
  Services,
  type Workspace,
  type WorkspaceClassSpec,
} from '../../api/index.ts'
import type { Devfile } from '../../devfile/index.ts'
import { quantity } from '../../std/index.ts'
import { hostTemplateOf, portsOf } from './hosts.ts'
import { digest, objectNameOf } from './names.ts'
import { networkPolicySpecOf } from './network.ts'
import { podOf, RESTARTED_AT } from './pod.ts'
import { variablesNameOf } from './variables.ts'

export interface Piece {
  kind: Kind
  object: KubeObject
}

export interface Plan {
  workspace: Workspace
  settings: WorkspaceClassSpec
  devfile: Devfile
  namespace: string
}

/** On the Deployment: what it and everything beside it was made from. Equal means there is nothing to apply. */
const PLAN_DIGEST = 'berth.dev/plan-sha256'
const HOST_TEMPLATE = 'berth.dev/host-template'
/** How long the workspace may take to become ready before it is Failed. */
const START_LIMIT_SECONDS = 600

/** The objects of a workspace, in the order in which they are applied. The same input gives the same bytes. */
export function desiredObjects(plan: Plan): { pieces: Piece[]; deployment: Deployment } {
  const pieces = [
    { kind: ServiceAccounts, object: { ...envelope(plan, ServiceAccounts), automountServiceAccountToken: false } },
    { kind: PersistentVolumeClaims, object: volumeClaimOf(plan) },
    ...networkPolicyOf(plan).map((object) => ({ kind: NetworkPolicies, object })),
    ...serviceOf(plan).map((object) => ({ kind: Services, object })),
  ]
  const deployment = deploymentOf(plan)
  const whole = digest(JSON.stringify([pieces, deployment]))
  const annotations = { ...deployment.metadata.annotations, [PLAN_DIGEST]: whole }
  return { pieces, deployment: { ...deployment, metadata: { ...deployment.metadata, annotations } } }
}

function envelope({ workspace, settings, namespace }: Plan, kind: Kind): KubeObject {
  const template = hostTemplateOf(workspace, settings)
  const metadata: ObjectMeta = {
    name: objectNameOf(workspace),
    namespace,
    labels: { ...settings.labels, ...ownLabels(workspace) },
    annotations: { ...settings.annotations, ...(template && { [HOST_TEMPLATE]: template }) },
  }
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata }
}

/** By these the objects are found again, and told from other people's of the same name. */
export const ownLabels = ({ metadata }: Workspace): Record<string, string> => ({
  [labels.managedBy]: MANAGED_BY_BERTH,
  [labels.workspace]: metadata.name,
  [labels.workspaceUid]: metadata.uid ?? '',
})

function volumeClaimOf(plan: Plan): PersistentVolumeClaim {
  const { size = '10Gi', storageClassName } = plan.settings.storage ?? {}
  const parts = plan.devfile.volumes.filter(({ ephemeral }) => !ephemeral).map((volume) => volume.size ?? 0)
  const sum = parts.reduce<number>((all, part) => all + quantity(part), 0)
  return {
    ...envelope(plan, PersistentVolumeClaims),
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(storageClassName && { storageClassName }),
      resources: { requests: { storage: sum > quantity(size) ? String(Math.ceil(sum)) : String(size) } },
    },
  }
}

const networkPolicyOf = (plan: Plan): NetworkPolicy[] =>
  plan.settings.networkPolicy?.enabled === false
    ? []
    : [{ ...envelope(plan, NetworkPolicies), spec: networkPolicySpecOf(selectorOf(plan), plan.settings) }]

const selectorOf = ({ workspace }: Plan): Record<string, string> => ({ [labels.workspaceUid]: workspace.metadata.uid ?? '' })

/** The Secret that holds the frozen variables, without them; nothing when there are none. */
export function variablesFrameOf(plan: Plan): KubeObject | undefined {
  if (!plan.workspace.spec.variables?.length) return undefined
  const { metadata, ...rest } = envelope(plan, Secrets)
  return { ...rest, metadata: { ...metadata, name: variablesNameOf(metadata.name) } }
}

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

function deploymentOf(plan: Plan): Deployment {
  const { workspace } = plan
  const frame = envelope(plan, Deployments)
  const restarted = workspace.spec.restartedAt
  return {
    ...frame,
    spec: {
      replicas: (workspace.spec.desiredState ?? 'Running') === 'Running' ? 1 : 0,
      progressDeadlineSeconds: START_LIMIT_SECONDS,
      revisionHistoryLimit: 1,
      // Two pods at once would fight for the volume and for the people's files.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: selectorOf(plan) },
      template: {
        metadata: {
          labels: frame.metadata.labels ?? {},
          annotations: { ...frame.metadata.annotations, ...(restarted && { [RESTARTED_AT]: restarted }) },
        },
        spec: podOf(workspace, plan.devfile, plan.settings, frame.metadata.name),
      },
    },
  }
}
