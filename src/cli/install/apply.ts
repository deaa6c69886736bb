import { isAllowedToUs, type Kube } from '../../adapters/kube/index.ts'
import {
  type AnyObject,
  BERTH_NAMESPACE,
  ConfigMaps,
  Deployments,
  DeploymentTargetClasses,
  type KubeObject,
  Namespaces,
  nameOf,
  type Ref,
  refOf,
  SpaceTiers,
  WorkspaceClasses,
} from '../../api/index.ts'
import { Failure, isFailure, minutes, pause, seconds, systemClock } from '../../std/index.ts'
import { findKubectl } from '../local/cluster.ts'
import { findLocalPrograms, isOwnCluster } from '../local/local-programs.ts'
import { outsideLeader, sayLeader } from '../local/others.ts'
import { runProgram } from '../local/program.ts'
import { untilEstablished } from '../local/readiness.ts'
import { isDefinition, objectsIn } from '../manifests.ts'
import { type ClusterOptions, kubeconfigOf, LOCAL, withKube } from '../options.ts'
import { isRolledOut, type PodTrouble, remedyForAbsent, troubleOfPods } from '../pods.ts'
import type { Shell } from '../shell.ts'
import { sayChanges } from './changes.ts'
import { confirm } from './confirmation.ts'
import { inventoryOf, readInventory, withInventory } from './inventory.ts'
import { findLostFields, type LostField } from './lost-fields.ts'
import { inOrderOfRemoval } from './removal.ts'
import { isKustomize, renderDefaults } from './render.ts'
import {
  foreignObjectsIn,
  isLabelled,
  namespaceOfBerth,
  nameWithGroup,
  onceEach,
  presentOf,
  removeObject,
  sayNames,
  shippedObjects,
} from './shipped.ts'

interface Installation {
  /** As it was rendered. */
  text: string
  /** The objects of that text. */
  objects: readonly AnyObject[]
  namespace?: string | undefined
  /** Make what it starts with, also where there are classes or tiers already. */
  defaults?: boolean | undefined
  /** Do not ask before something is removed or lost. */
  yes?: boolean | undefined
}

/** The first pull of an image may take minutes. */
const RUNS_WITHIN = minutes(5)
/** A registry may be busy, and a container may wait for something once. */
const STUCK_FOR = minutes(1)
const LOOK = seconds(1)

/** Applies it, then what needs its kinds, takes away what it has no more, and waits for the programs. Says each step, and asks before the first. */
export async function applyInstallation(
  shell: Shell,
  options: ClusterOptions,
  { text, objects, namespace = BERTH_NAMESPACE, defaults, yes }: Installation,
): Promise<void> {
  const kubectl = await kubectlFor(shell, options)
  await withKube(shell, options, async (kube) => {
    shell.say(`Installing Berth in namespace ${namespace} of the cluster at ${kube.server}.\n`)
    await assertServed(kube, objects)
    await assertAllowed(kube, objects, ['create', 'patch'])
    await assertNowhereElse(kube, namespace)
    await assertNobodyRunsIt(shell, kube, options, namespace)
    await assertNobodyElses(kube, shell.home, namespace)
    const leftOut = await findLeftOut(shell, kube, { objects, namespace })
    await assertAllowed(kube, leftOut, ['delete'])
    const lost = await findLostFields(kube, objects)
    if (leftOut.length > 0)
      shell.say(`These values do not have what was installed before, and it would be removed:\n${leftOut.map(lineOf).join('')}`)
    if (lost.length > 0)
      shell.say(`Objects have fields that this version does not know, and would lose them:\n${lost.map(lineOfLost).join('')}`)
    if (leftOut.length + lost.length > 0 && !yes) await confirm(shell, kube.server)
    try {
      // Until it is removed, what it has no more is listed too: after an interruption nothing else would know of it.
      const inventory = inventoryOf([...objects, ...leftOut], namespace)
      const before = await presentOf(kube, objects)
      await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], withInventory(text, inventory))
      await untilEstablished(shell, kube)
      shell.say(sayChanges(before, await presentOf(kube, objects)))
      if (defaults || (await isBare(kube))) await makeDefaults(shell, kube)
      for (const object of leftOut) {
        await removeObject(kube, object, 'Background')
        shell.say(`Removed ${nameOf(object)}.\n`)
      }
      const exact = inventoryOf(objects, namespace)
      if (leftOut.length > 0) await kube.patch(ConfigMaps, refOf(exact), { data: exact.data })
      const deployments = objects.filter(({ kind }) => kind === 'Deployment')
      for (const { metadata } of deployments) await untilItRuns(shell, kube, { name: metadata.name, namespace })
    } catch (thrown) {
      shell.say('Not all of it is done. The same command goes on where it was.\n')
      throw thrown
    }
  })
  shell.print(`Berth runs in namespace ${namespace}. Look at it with \`berth doctor\`.`)
}

/** Says what keeps its pods from running as soon as they say it, and gives up where their containers do not start. */
async function untilItRuns({ say, signal }: Shell, kube: Kube, ref: Ref): Promise<void> {
  say(`Waiting until ${ref.name} runs.\n`)
  const began = systemClock.now()
  let trouble: PodTrouble | undefined
  let stuckSince: number | undefined
  for (;;) {
    const deployment = await kube.get(Deployments, ref, signal)
    if (deployment && isRolledOut(deployment)) return
    const before = trouble?.message
    trouble = deployment && (await troubleOfPods(kube, deployment))
    if (trouble && trouble.message !== before) say(`  ${trouble.message}\n`)
    const now = systemClock.now()
    stuckSince = trouble?.isStuck ? (stuckSince ?? now) : undefined
    if (now - began > RUNS_WITHIN || (stuckSince !== undefined && now - stuckSince > STUCK_FOR)) throw doesNotRun(ref, trouble)
    await pause(systemClock, LOOK, signal)
    signal.throwIfAborted()
  }
}

const doesNotRun = ({ name, namespace }: Ref, trouble: PodTrouble | undefined): Failure =>
  new Failure('timeout', `${name} was applied, and does not run${trouble ? `: ${trouble.message}` : ''}`, {
    remedy:
      remedyForAbsent(trouble?.lacks ?? [], namespace ?? '') ??
      `Correct the values and do it again, or look at \`kubectl get events -n ${namespace}\` and \`kubectl logs -n ${namespace} deployment/${name}\`.`,
  })

async function kubectlFor(shell: Shell, options: ClusterOptions) {
  const given = shell.env.BERTH_KUBECTL
  const program = given === undefined || isKustomize(given) ? await findKubectl(shell) : given
  const kubeconfig = kubeconfigOf(shell, options)
  const cluster = [
    ...(kubeconfig ? ['--kubeconfig', kubeconfig] : []),
    ...(options.context ? ['--context', options.context] : []),
  ]
  return (words: readonly string[], input: string) => runProgram(program, [...cluster, ...words], { ...shell, input })
}

/** The kinds of these objects, each once, and as the cluster serves them. */
async function kindsOf(kube: Kube, objects: readonly KubeObject[]) {
  const kinds = new Map(objects.map(({ apiVersion, kind }) => [`${apiVersion} ${kind}`, { apiVersion, kind }]))
  return Promise.all(
    [...kinds.values()].map(async ({ apiVersion, kind }) => ({ apiVersion, kind, served: await kube.resolve(apiVersion, kind) })),
  )
}

/** Kinds of others, which the values name by what they ask for, have to be there before. */
async function assertServed(kube: Kube, objects: readonly KubeObject[]): Promise<void> {
  const own = new Set(objects.filter(isDefinition).map(({ spec }) => spec.names.kind))
  const missing = (await kindsOf(kube, objects))
    .filter(({ kind, served }) => !(served || own.has(kind)))
    .map(({ apiVersion, kind }) => `${kind} of ${apiVersion}`)
  if (missing.length === 0) return
  throw new Failure('invalid', `the cluster does not serve ${missing.join(', ')}`, {
    remedy:
      'Install first what serves it (cert-manager for `certificateIssuer`, the Prometheus operator for `monitoring`), or take it out of the values. Nothing was changed.',
  })
}

/** A part of it would be worse than nothing: programs without the policies that hold them. */
async function assertAllowed(kube: Kube, objects: readonly KubeObject[], verbs: readonly string[]): Promise<void> {
  const refused = (await kindsOf(kube, objects)).map(async ({ served }) => {
    if (!served) return []
    const { group, plural: resource } = served
    const answers = verbs.map((verb) => isAllowedToUs(kube, { group, resource, verb, namespace: '' }))
    return (await Promise.all(answers)).every(Boolean) ? [] : [group === '' ? resource : `${resource}.${group}`]
  })
  const names = (await Promise.all(refused)).flat()
  if (names.length === 0) return
  throw new Failure('forbidden', `you may not ${verbs.join(' and ')} all of it: ${names.join(', ')}`, {
    remedy: 'Ask somebody with the role cluster-admin to install it. Nothing was changed.',
  })
}

/** Roles and policies name the accounts of one namespace: a second installation would take them from the first. */
async function assertNowhereElse(kube: Kube, namespace: string): Promise<void> {
  const found = await namespaceOfBerth(kube)
  if (found === undefined || found === namespace) return
  throw new Failure('invalid', `Berth is installed in namespace ${found} of this cluster, and not in ${namespace}`, {
    remedy: `Say --namespace ${found}, or namespace: ${found} in the values; or remove it first with \`berth uninstall\`.`,
  })
}

/** What `berth up`, or a program that somebody started beside the cluster, does for it already, the programs of an installation would do, too. */
async function assertNobodyRunsIt(shell: Shell, kube: Kube, { kubeconfig }: ClusterOptions, namespace: string): Promise<void> {
  const { dir, programs = [] } = findLocalPrograms(shell, { kubeconfig, local: LOCAL, server: kube.server }) ?? {}
  if (dir !== undefined && programs.some(({ running }) => running))
    throw new Failure('invalid', `\`berth up\` runs Berth for the cluster at ${kube.server}, in ${dir}`, {
      remedy: isOwnCluster(dir)
        ? 'This cluster is of `berth up` itself, and needs no installation: name another one. Nothing was changed.'
        : `End it first with \`berth down --dir ${dir}\`, or name another cluster. Nothing was changed.`,
    })
  const leader = await outsideLeader(kube, namespace)
  if (!leader) return
  throw new Failure('invalid', `an operator runs beside the cluster at ${kube.server}: ${sayLeader(leader)}`, {
    remedy:
      'End it where it was started (`berth down` for `berth up`), or name another cluster. If it has ended just now, do it again in 30 s. Nothing was changed.',
  })
}

/** The rules of Berth's namespace would break what runs there. Secrets and settings may wait there for the programs. */
async function assertNobodyElses(kube: Kube, home: string, namespace: string): Promise<void> {
  const there = await kube.get(Namespaces, { name: namespace })
  if (!there || isLabelled(there)) return
  const foreign = (await foreignObjectsIn(kube, home, namespace)).filter((name) => !/^(?:Secret|ConfigMap) /.test(name))
  if (foreign.length === 0) return
  throw new Failure('invalid', `namespace ${namespace} has what is not of Berth: ${sayNames(foreign)}`, {
    remedy:
      'Name another with --namespace, or namespace: in the values: Berth wants one of its own, and sets rules for all pods in it.',
  })
}

/** Nobody has made a class or a tier, as an installation starts with or another. */
async function isBare(kube: Kube): Promise<boolean> {
  const lists = [kube.list(DeploymentTargetClasses), kube.list(SpaceTiers), kube.list(WorkspaceClasses)]
  return (await Promise.all(lists)).every((objects) => objects.length === 0)
}

/** Those that are not there. What somebody has made their own stays as it is. */
async function makeDefaults(shell: Shell, kube: Kube): Promise<void> {
  for (const object of objectsIn(await renderDefaults(shell), 'deploy/defaults')) {
    const kind = await kube.resolve(object.apiVersion, object.kind)
    if (!kind) throw new Failure('unavailable', `the cluster does not serve ${object.kind} yet`, { remedy: 'Do it again.' })
    if (await kube.get(kind, refOf(object))) continue
    try {
      await kube.create(kind, object)
      shell.say(`Made ${nameOf(object)}.\n`)
    } catch (thrown) {
      if (!isFailure(thrown, 'already-exists')) throw thrown
    }
  }
}

/**
 * What other values or another version had installed: rights above all, in the order in which it may go. Kinds and namespaces stay,
 * whatever is said; so does what has lost our label: somebody else has made it under the same name, or has taken it over.
 */
async function findLeftOut(
  shell: Pick<Shell, 'home'>,
  kube: Kube,
  { objects, namespace }: { objects: readonly AnyObject[]; namespace: string },
): Promise<KubeObject[]> {
  const wanted = new Set(objects.map(nameWithGroup))
  const shipped = shippedObjects(shell.home, namespace, ['crds', 'deploy/agent', 'deploy/defaults'])
  const known = onceEach([...(await readInventory(kube, namespace)), ...shipped])
  const leftOut = known.filter((object) => !STAY.includes(object.kind) && !wanted.has(nameWithGroup(object)))
  return inOrderOfRemoval((await presentOf(kube, leftOut)).filter(isLabelled))
}

const STAY = ['Namespace', 'CustomResourceDefinition']

const lineOf = (object: KubeObject): string => `  ${nameOf(object)}\n`

const lineOfLost = ({ field, objects }: LostField): string => `  ${field} of ${sayNames(objects)}\n`
