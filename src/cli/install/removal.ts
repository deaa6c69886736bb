import type { Kube } from '../../adapters/kube/index.ts'
import {
  type AnyObject,
  annotations,
  type KubeObject,
  Namespaces,
  nameOf,
  type RoleBinding,
  RoleBindings,
  tenantRoles,
} from '../../api/index.ts'
import { Failure, pause, seconds, systemClock } from '../../std/index.ts'
import { listOwnObjects, listServed, ownKinds } from '../manifests.ts'
import type { Shell } from '../shell.ts'
import { readInventory } from './inventory.ts'
import {
  foreignObjectsIn,
  isLabelled,
  madeByPrograms,
  onceEach,
  presentOf,
  removeObject,
  sayNames,
  shippedObjects,
} from './shipped.ts'

/** The kinds of Berth in the order in which their objects are deleted, with what that means: what makes others goes before these. */
export const DELETION_ORDER: readonly { kind: string; means?: string }[] = [
  { kind: 'Preview', means: 'deleted, with their environments' },
  { kind: 'GitOpsDeploymentSet' },
  { kind: 'GitOpsDeploymentSyncRun' },
  { kind: 'GitOpsDeployment' },
  { kind: 'Workspace', means: 'deleted, with their files' },
  { kind: 'WorkspaceClass' },
  { kind: 'Environment' },
  { kind: 'GitOpsDeploymentManagedEnvironment' },
  { kind: 'DeploymentTargetClaim' },
  { kind: 'DeploymentTarget' },
  { kind: 'SpaceRequest', means: 'deleted, with their namespaces, whatever a class says' },
  { kind: 'GitProject' },
  { kind: 'Agent', means: 'deleted: those that run can connect no more' },
  { kind: 'DeploymentTargetClass' },
  { kind: 'SpaceTier' },
]

export interface Removal {
  kube: Kube
  shell: Pick<Shell, 'home' | 'say' | 'signal'>
  /** Where the programs are. */
  namespace: string
  /** When it is to have come to an end. */
  deadline: number
}

/** Deletes the objects of Berth, kind after kind; the programs free each of what lies behind it. Throws `timeout` with what is left. */
export async function removeObjects(removal: Removal): Promise<void> {
  const kinds = ownKinds(removal.shell.home)
  const listOf = async (wanted: string) => {
    const found = kinds.find(({ kind }) => kind === wanted)
    return found ? listServed(removal.kube, found) : []
  }
  let left: number
  do {
    for (const { kind } of DELETION_ORDER) await removeAll(removal, kind, () => listOf(kind))
    // What was deleted late may have made others before.
    left = [...(await listOwnObjects(removal.kube, removal.shell.home)).values()].flat().length
  } while (left > 0)
}

/** By these namespaces let the programs in; their admins made them. */
export async function bindingsOfTenants(kube: Kube): Promise<RoleBinding[]> {
  const roles: readonly string[] = Object.values(tenantRoles)
  return (await kube.list(RoleBindings)).filter(({ roleRef }) => roleRef.kind === 'ClusterRole' && roles.includes(roleRef.name))
}

/** Deletes what an installation consists of, whatever its values were. */
export async function removeInstallation(removal: Removal): Promise<void> {
  const { kube, shell, namespace } = removal
  await removeAll(removal, 'the bindings by which namespaces let Berth in', () => bindingsOfTenants(kube))
  // The list is read first: it goes with the rest. A namespace in it may be one of an agent, which stays.
  const listed = (await readInventory(kube, namespace)).filter(({ kind }) => kind !== 'Namespace')
  const shipped = shippedObjects(shell.home, namespace, ['deploy/agent'])
  for (const { what, kinds } of STEPS) {
    const [ofList, ofVersion] = [listed, shipped].map((objects) => objects.filter(({ kind }) => kinds.test(kind)))
    await removeAll(removal, what, async () =>
      onceEach([...(await presentOf(kube, ofList ?? [])).filter(isLabelled), ...(await presentOf(kube, ofVersion ?? []))]),
    )
    if (what === 'programs') await forgetOnboarding(kube)
  }
  const namespaces = shipped.filter(({ kind }) => kind === 'Namespace')
  const foreign = await foreignObjectsIn(kube, shell.home, namespace)
  const [own] = foreign.length > 0 ? namespaces.filter(({ metadata }) => metadata.name === namespace) : []
  if (own) await leaveToOthers(removal, own, foreign)
  await removeAll(removal, 'namespaces', () =>
    presentOf(
      kube,
      namespaces.filter((each) => each !== own),
    ),
  )
}

/** Takes the rules of Berth off its namespace, and the programs' own Secrets out of it. */
async function leaveToOthers({ kube, shell, namespace }: Removal, own: AnyObject, foreign: readonly string[]): Promise<void> {
  for (const object of await madeByPrograms(kube, namespace)) await removeObject(kube, object, 'Background')
  await kube.patch(Namespaces, { name: namespace }, { metadata: { labels: nulled(own.metadata.labels) } })
  shell.say(`Namespace ${namespace} stays, with what is not of Berth there: ${sayNames(foreign)}.\n`)
}

const nulled = (record: Record<string, string> = {}) => Object.fromEntries(Object.keys(record).map((key) => [key, null]))

/** Each begins when what the one before deletes is gone: programs with their pods, and their rights before what limits these. */
const STEPS: readonly { what: string; kinds: RegExp }[] = [
  { what: 'programs', kinds: /^Deployment$/ },
  { what: 'rights', kinds: /^(Cluster)?RoleBinding$/ },
  // A policy refuses everything when the settings that it looks into are gone.
  { what: 'bindings of policies', kinds: /AdmissionPolicyBinding$/ },
  { what: 'policies, roles and settings', kinds: /^(?!CustomResourceDefinition$|Namespace$)/ },
  { what: 'kinds', kinds: /^CustomResourceDefinition$/ },
]

/** As these steps would delete them. */
export const inOrderOfRemoval = (objects: readonly KubeObject[]): KubeObject[] =>
  objects.toSorted((one, other) => stepOf(one) - stepOf(other))

const stepOf = ({ kind }: KubeObject): number => STEPS.findIndex(({ kinds }) => kinds.test(kind))

/** A later installation is to give onboarded namespaces their environments anew. While the operator ran, it would have made them again at once. */
async function forgetOnboarding(kube: Kube): Promise<void> {
  for (const { metadata } of await kube.list(Namespaces))
    if (metadata.annotations?.[annotations.onboarded] !== undefined)
      await kube.patch(Namespaces, { name: metadata.name }, { metadata: { annotations: { [annotations.onboarded]: null } } })
}

const LOOK = seconds(1)

/** Deletes what `look` finds, and waits until it finds nothing more. */
async function removeAll(
  { kube, shell, namespace, deadline }: Removal,
  what: string,
  look: () => Promise<readonly KubeObject[]>,
): Promise<void> {
  let found = await look()
  if (found.length > 0) shell.say(`Deleting ${what}: ${found.length}.\n`)
  while (found.length > 0) {
    if (systemClock.now() > deadline) throw tooLate(found, namespace)
    // Again and again: meanwhile somebody may have made others.
    for (const object of found) if (!object.metadata.deletionTimestamp) await removeObject(kube, object, 'Foreground')
    await pause(systemClock, LOOK, shell.signal)
    shell.signal.throwIfAborted()
    found = await look()
  }
}

function tooLate(left: readonly KubeObject[], namespace: string): Failure {
  const [first] = left.map((object) => `${nameOf(object)}${heldBy(object)}`)
  const others = left.length > 1 ? `; so are ${left.length - 1} more` : ''
  return new Failure('timeout', `${first} is still there${others}`, {
    remedy: `docs/troubleshooting.md says what frees it. Then run \`berth uninstall --namespace ${namespace}\`: it goes on where it was.`,
  })
}

const heldBy = ({ metadata: { finalizers = [] } }: KubeObject): string =>
  finalizers.length > 0 ? `, held by ${finalizers.join(', ')},` : ''
