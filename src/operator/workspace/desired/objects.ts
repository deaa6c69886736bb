import {
  ConfigMaps,
  type CoreSecret,
  type Deployment,
  Deployments,
  type Kind,
  type KubeObject,
  labels,
  NetworkPolicies,
  type NetworkPolicy,
  PersistentVolumeClaims,
  ResourceQuotas,
  Secrets,
  type Service,
  type ServiceAccount,
  ServiceAccounts,
  Services,
} from '../../../api/index.ts'
import { holds, type Piece } from '../../../engines/apply/index.ts'
import { appliedAt, hasPods, isReserved, readManifests, served } from '../../../engines/devfiles/index.ts'
import { restoreAddition } from './archive.ts'
import { editorAddition } from './editor.ts'
import { envelope } from './envelope.ts'
import { environmentAddition, variablesAddition, variablesNameOf } from './environment.ts'
import { formAnnotation, formToKeep } from './form.ts'
import { gitAdditionOf, gitPiecesOf } from './git.ts'
import { homeBringersOf } from './home.ts'
import { type Port, portsOf } from './hosts.ts'
import { manifestsOf, selectorOfManifests } from './manifests.ts'
import { quotaOf } from './maxima.ts'
import { digest, objectNameOf } from './names.ts'
import { networkPolicySpecOf } from './network.ts'
import { podAnnotationsOf } from './overrides.ts'
import { besideName, MAIN, partsOf, selectorOf, type WorkspacePart } from './parts.ts'
import type { Addition, DesiredObjects, WorkspacePlan } from './plan.ts'
import { podOf, pullSecretsOf, RESTARTED_AT } from './pod.ts'
import { scriptsAddition, scriptsDigest, scriptsOf, timeFor } from './scripts.ts'
import { tunnelAddition, tunnelPiecesOf } from './tunnel.ts'
import { turnsAdditions } from './turns.ts'
import { volumeClaimOf } from './volumes.ts'

/** On the Deployment: what it and everything beside it was made from. Equal means there is nothing to apply. */
export const PLAN_DIGEST = 'berth.dev/plan-sha256'
/** On the Deployment: what everything beside it was made from. A stop and a start change the Deployment only. */
const PIECES_DIGEST = 'berth.dev/pieces-sha256'
/** On the pod: of the commands at its events. They are read when it starts, so that others need another pod. */
const SCRIPTS_DIGEST = 'berth.dev/scripts-sha256'
/** How long the workspace may take to become ready, beside its own commands, before it is Failed. */
const START_LIMIT_SECONDS = 600

/** The objects beside what there is of them: a pod keeps its form, unless something else of it changes. */
export function desiredBeside(plan: WorkspacePlan, live: Deployment | undefined): DesiredObjects {
  const form = formToKeep(live, isToRun(plan))
  const kept = form === undefined ? undefined : desiredObjects({ ...plan, form })
  return kept && holds(kept.deployment.spec?.template, live?.spec?.template) ? kept : desiredObjects(plan)
}

const isToRun = ({ workspace }: WorkspacePlan): boolean => (workspace.spec.desiredState ?? 'Running') === 'Running'

/** True where a pod is made that is not there yet. */
export const makesPod = (wanted: Deployment, live: Deployment): boolean =>
  wanted.spec?.replicas === 1 && !holds(wanted.spec, live.spec)

/** The objects of a workspace, in the order in which they are applied. The same input gives the same bytes. */
export function desiredObjects(plan: WorkspacePlan): DesiredObjects {
  const parts = partsOf(plan.workspace, plan.devfile)
  const [main, ...others] = parts
  const all = parts.flatMap(({ containers }) => containers)
  const scripts = scriptsOf(plan, all)
  const pullSecrets = pullSecretsOf(plan)
  const pieces: Piece[] = [
    ...piecesOf(Secrets, pullSecrets),
    { kind: ServiceAccounts, object: accountOf(plan, pullSecrets) },
    ...piecesOf(ResourceQuotas, quotaOf(plan)),
    { kind: PersistentVolumeClaims, object: volumeClaimOf(plan) },
    ...piecesOf(NetworkPolicies, networkPoliciesOf(plan, others.length > 0)),
    ...piecesOf(ConfigMaps, scripts ? [scripts] : []),
    ...gitPiecesOf(plan),
    ...tunnelPiecesOf(plan),
    ...piecesOf(Services, servicesOf(plan, parts)),
    ...piecesOf(
      Deployments,
      others.map((part) => deploymentOf(plan, part, scripts)),
    ),
  ]
  const deployment = deploymentOf(plan, main, scripts)
  const manifests = manifestsOf(plan)
  const parted = digest(JSON.stringify([pieces.map(withoutData), manifests]))
  const whole = digest(JSON.stringify([parted, deployment]))
  const annotations = { ...deployment.metadata.annotations, [PIECES_DIGEST]: parted, [PLAN_DIGEST]: whole }
  return { pieces, manifests, deployment: { ...deployment, metadata: { ...deployment.metadata, annotations } } }
}

const piecesOf = (kind: Kind, objects: readonly KubeObject[]): Piece[] => objects.map((object) => ({ kind, object }))

/** Nobody can guess a secret by its digest; an annotation says which state of it is meant. */
const withoutData = ({ kind, object }: Piece): KubeObject =>
  kind === Secrets ? { apiVersion: object.apiVersion, kind: object.kind, metadata: object.metadata } : object

const accountOf = (plan: WorkspacePlan, pullSecrets: readonly CoreSecret[]): ServiceAccount => ({
  ...envelope(plan, ServiceAccounts),
  automountServiceAccountToken: false,
  ...(pullSecrets.length > 0 && { imagePullSecrets: pullSecrets.map(({ metadata }) => ({ name: metadata.name })) }),
})

/** Two Deployments of one digest have the same objects beside them. */
export const haveSamePieces = (one: Deployment, other: Deployment): boolean =>
  one.metadata.annotations?.[PIECES_DIGEST] === other.metadata.annotations?.[PIECES_DIGEST]

/** One for the workspace's own pods, and one for those of its devfile's objects. */
function networkPoliciesOf(plan: WorkspacePlan, hasParts: boolean): NetworkPolicy[] {
  const { settings, workspace, git, tunnel, devfile } = plan
  if (settings.networkPolicy?.enabled === false) return []
  const own = { [labels.workspaceUid]: workspace.metadata.uid ?? '' }
  const beside = selectorOfManifests(workspace)
  const hasBeside = readManifests(devfile).objects.some(({ object }) => hasPods(object))
  const peers = hasBeside ? [own, beside] : hasParts ? [own] : []
  const kasUrls = [git?.kasUrl, tunnel?.kas].filter((url) => url !== undefined)
  const main = { ...envelope(plan, NetworkPolicies), spec: networkPolicySpecOf(own, settings, { peers, kasUrls }) }
  if (!hasBeside) return [main]
  const name = besideName(workspace, 'components')
  return [main, { ...envelope(plan, NetworkPolicies, name), spec: networkPolicySpecOf(beside, settings, { peers }) }]
}

/** The Secret that holds the frozen variables, without them. */
export const variablesFrameOf = (plan: Omit<WorkspacePlan, 'variables'>): KubeObject =>
  envelope(plan, Secrets, variablesNameOf(plan))

/** The ConfigMap that lists the objects that the devfile brings along, without its content. */
export const objectListFrameOf = ({
  settings = {},
  ...plan
}: Pick<WorkspacePlan, 'workspace' | 'namespace'> & Partial<WorkspacePlan>): KubeObject =>
  envelope({ settings, ...plan }, ConfigMaps, `${objectNameOf(plan.workspace)}-manifests`)

/** A Service for each pod that has ports: by endpoint those of its containers, in the main one whatever else there is. */
function servicesOf(plan: WorkspacePlan, parts: readonly WorkspacePart[]): Service[] {
  const { workspace, devfile, settings } = plan
  const apart = parts.filter(({ part }) => part !== MAIN)
  const homes = new Map<string, string>(
    apart.flatMap((part) => part.containers.flatMap(({ endpoints }) => endpoints.map(({ name }) => [name, part.part] as const))),
  )
  for (const { name, endpoints } of served(devfile)) for (const each of endpoints) homes.set(each.name, componentMark(name))
  const ports = portsOf(workspace, devfile, settings)
  const beside = served(devfile).map(({ name }): Service => {
    const own = ports.filter((port) => homes.get(port.name) === componentMark(name))
    const selector = { ...selectorOfManifests(workspace), [labels.workspaceComponent]: name }
    const frame = envelope(plan, Services, besideName(workspace, componentMark(name)))
    return { ...frame, spec: { type: 'ClusterIP', selector, ports: servicePorts(own) } }
  })
  const services = parts.flatMap((part): Service[] => {
    const own = ports.filter(({ name }) => (homes.get(name) ?? MAIN) === part.part)
    if (own.length === 0) return []
    const frame = withAnnotations(envelope(plan, Services, part.name), annotationsOf(part, 'service'))
    return [{ ...frame, spec: { type: 'ClusterIP', selector: selectorOf(workspace, part.part), ports: servicePorts(own) } }]
  })
  return [...services, ...beside]
}

const componentMark = (name: string): string => `kube-${digest(name).slice(0, 8)}`

/** By port and protocol: two names of one port are one port of the Service. */
function servicePorts(ports: readonly Port[]): NonNullable<NonNullable<Service['spec']>['ports']> {
  const taken = new Set<string>()
  return ports.flatMap(({ name, port, isUdp }) => {
    const protocol = isUdp ? 'UDP' : 'TCP'
    if (taken.has(`${protocol} ${port}`)) return []
    taken.add(`${protocol} ${port}`)
    return [{ name, port, targetPort: port, protocol }]
  })
}

/** One that does not have the folder of the projects does not need it. */
function gitOf(plan: WorkspacePlan, { part, containers }: WorkspacePart): Addition[] {
  if (part === MAIN) return [gitAdditionOf(plan, 'main')]
  return containers.some(({ mountSources }) => mountSources) ? [gitAdditionOf(plan, 'beside', containers)] : []
}

/** Annotations of a devfile for the Deployment or the Service of its containers, as far as they are for people and their tools. */
const annotationsOf = ({ containers }: WorkspacePart, object: 'deployment' | 'service'): Record<string, string> =>
  Object.fromEntries(
    containers.flatMap(({ annotations }) => Object.entries(annotations[object])).filter(([key]) => !isReserved(key)),
  )

const withAnnotations = ({ metadata, ...rest }: KubeObject, added: Record<string, string>): KubeObject => ({
  ...rest,
  metadata: { ...metadata, annotations: { ...added, ...metadata.annotations } },
})

function deploymentOf(plan: WorkspacePlan, part: WorkspacePart, scripts: ReturnType<typeof scriptsOf>): Deployment {
  const { workspace, devfile } = plan
  const isMain = part.part === MAIN
  const frame = withAnnotations(envelope(plan, Deployments, part.name), annotationsOf(part, 'deployment'))
  const restarted = workspace.spec.restartedAt
  const additions = [
    variablesAddition(plan),
    environmentAddition(plan),
    scriptsAddition(plan, scripts),
    ...(isMain ? turnsAdditions(plan) : []),
    ...(isMain ? [restoreAddition(plan, plan.restored)] : []),
    ...gitOf(plan, part),
    ...(isMain ? [{ initContainers: homeBringersOf(plan) }, editorAddition(plan), tunnelAddition(plan)] : []),
  ]
  const startLimit = START_LIMIT_SECONDS + timeFor(plan, 'postStart', part.containers)
  const steps = isMain ? appliedAt(devfile, 'preStart') : []
  return {
    ...withAnnotations(frame, formAnnotation(plan)),
    spec: {
      // A Deployment does not count pods that are ending: it would make another one beside them.
      replicas: isToRun(plan) && !plan.isEnding ? 1 : 0,
      progressDeadlineSeconds: startLimit,
      revisionHistoryLimit: 1,
      // Two pods at once would fight for the volume and for the people's files.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: selectorOf(workspace, part.part) },
      template: {
        metadata: {
          labels: { ...frame.metadata.labels, [labels.workspacePart]: part.part },
          annotations: {
            ...podAnnotationsOf(devfile, [...steps, ...part.containers]),
            ...frame.metadata.annotations,
            ...(scripts && { [SCRIPTS_DIGEST]: scriptsDigest(plan, scripts) }),
            ...(restarted && { [RESTARTED_AT]: restarted }),
          },
        },
        spec: podOf(plan, { isMain, part: part.part, startLimit, steps, containers: part.containers, additions }),
      },
    },
  }
}
