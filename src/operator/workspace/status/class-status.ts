import { type Cache, secretFinder, secretWatches } from '../../../adapters/kube/index.ts'
import {
  type CoreSecret,
  type DeploymentTargetClass,
  DeploymentTargetClasses,
  keyOf,
  notOnboarded,
  type Ref,
  type Statement,
  type Workspace,
  type WorkspaceClass,
  WorkspaceClasses,
  type WorkspaceClassStatus,
  Workspaces,
  whyNotRead,
} from '../../../api/index.ts'
import { sentenceOf } from '../../../devfile/index.ts'
import { type Controller, type ControllerContext, createWakeups, type Next, settled } from '../../../engines/controller/index.ts'
import { createYamlReaders, sayFailure, seconds, type YamlReaders } from '../../../std/index.ts'
import { scheduleFrom } from '../lifetime/schedule.ts'
import { OF_REGISTRIES } from '../objects/apply.ts'
import { byClass, classNameOf, counts, mistakesIn } from '../place/class.ts'
import { createDevfileParser, type DevfileParser } from '../project/devfile.ts'

/** Workspaces may change many times in a second; who reads a class wants to know how many there are, not each of them. */
const SELDOM = seconds(5)
const MOST_TOLD = 10

interface ClassServices extends Pick<DevfileParser, 'parse'> {
  workspaces: Cache<Workspace>
  targetClasses: Cache<DeploymentTargetClass>
  pullSecret(ref: Ref): CoreSecret | undefined
  /** True for a namespace whose Secrets can be seen. */
  isOpen(namespace: string): boolean
}

/** Says of each class what is wrong in it, and how many workspaces it has. Nothing of it decides anything. */
export function workspaceClasses(
  { caches, clock }: ControllerContext,
  yaml: YamlReaders = createYamlReaders(),
): Controller<WorkspaceClass> {
  const classes = caches.of(WorkspaceClasses)
  const services: ClassServices = {
    workspaces: caches.of(Workspaces),
    targetClasses: caches.of(DeploymentTargetClasses),
    pullSecret: secretFinder(caches, OF_REGISTRIES),
    isOpen: caches.isOpen,
    parse: createDevfileParser(yaml).parse,
  }
  const told = new Map<string, number>()
  const whose = (is: (found: WorkspaceClass) => boolean): Ref[] =>
    [...classes.all()].filter(is).map(({ metadata }) => ({ name: metadata.name }))
  return {
    name: 'workspace-class',
    kind: WorkspaceClasses,
    watches: [
      { kind: Workspaces, wakes: (workspace: Workspace) => [{ name: classNameOf(workspace) }] },
      {
        kind: DeploymentTargetClasses,
        wakes: ({ metadata }) => whose(({ spec }) => spec.deploymentTargetClassName === metadata.name),
      },
      ...secretWatches(OF_REGISTRIES, (secret) =>
        whose(({ spec }) => (spec.imagePullSecrets ?? []).some((ref) => keyOf(ref) === keyOf(secret.metadata))),
      ),
    ],
    wakeups: createWakeups(({ wake }) => {
      caches.onOpen((namespace) => {
        whose(({ spec }) => (spec.imagePullSecrets ?? []).some((pull) => pull.namespace === namespace)).forEach(wake)
      })
    }),
    async reconcile(found): Promise<Next> {
      const now = clock.now()
      const { name, generation = 0 } = found.metadata
      const rest = (told.get(name) ?? Number.NEGATIVE_INFINITY) + SELDOM - now
      if (rest > 0 && found.status?.observedGeneration === generation) return settled({ recheck: rest })
      told.set(name, now)
      return settled({ status: await statusOf(found, services) })
    },
    async gone({ name }): Promise<Next> {
      told.delete(name)
      return settled()
    },
  }
}

type ClassStatusDraft = Omit<WorkspaceClassStatus, 'conditions' | 'observedGeneration'> & { conditions: Statement[] }

/** Fields that others write stay, such as the last admission and the state of the warm pool. */
async function statusOf(found: WorkspaceClass, services: ClassServices): Promise<ClassStatusDraft> {
  const { metadata, status } = found
  const { conditions: _, observedGeneration: __, ...others } = status ?? {}
  const observedGeneration = metadata.generation ?? 0
  return {
    ...others,
    workspaces: numbersOf(services.workspaces.by(byClass, metadata.name)),
    conditions: [{ ...(await readyOf(found, services)), type: 'Ready', observedGeneration }],
  }
}

/** Those that are Terminated have no place in a quota, and are not in the total. */
function numbersOf(workspaces: readonly Workspace[]): NonNullable<WorkspaceClassStatus['workspaces']> {
  const byState: Record<string, number> = {}
  for (const { status } of workspaces) {
    const state = status?.actualState ?? 'CreationRequested'
    byState[state] = (byState[state] ?? 0) + 1
  }
  return { total: workspaces.filter(counts).length, byState }
}

async function readyOf(found: WorkspaceClass, services: ClassServices): Promise<Omit<Statement, 'type'>> {
  const wrong = await wrongIn(found, services)
  if (wrong.length > 0) {
    const more = wrong.length > MOST_TOLD ? `; and ${wrong.length - MOST_TOLD} more` : ''
    const message = `${wrong.slice(0, MOST_TOLD).join('; ')}${more}. Correct the class, or make what is missing.`
    return { status: 'False', reason: 'ClassInvalid', message }
  }
  if (found.spec.enabled === false)
    return { status: 'False', reason: 'Disabled', message: 'it takes no new workspaces, because spec.enabled is false' }
  return { status: 'True', reason: 'Ready', message: 'it takes new workspaces' }
}

function whyNoPullSecret(ref: Ref, services: ClassServices): string[] {
  const secret = services.pullSecret(ref)
  if (secret) {
    const unread = whyNotRead(secret)
    return unread ? [unread.message] : []
  }
  const { namespace = '' } = ref
  if (!services.isOpen(namespace)) return [sayFailure(notOnboarded(namespace))]
  return [`there is no Secret ${keyOf(ref)} with credentials of a registry`]
}

/** Everything that would keep a workspace of the class from what it is to be. */
async function wrongIn({ metadata, spec }: WorkspaceClass, services: ClassServices): Promise<string[]> {
  const { deploymentTargetClassName: targetClass, imagePullSecrets = [], devfile, schedule } = spec
  const read = devfile ? await services.parse(devfile, metadata.name) : undefined
  // A parent is for kas to fetch, once a workspace needs it.
  const problems = read && 'problems' in read ? read.problems.filter(({ rule }) => rule !== 'parent-unresolved') : []
  const times = schedule && scheduleFrom(schedule)
  return [
    ...mistakesIn(spec),
    ...(targetClass && !services.targetClasses.get({ name: targetClass })
      ? [`spec.deploymentTargetClassName: there is no DeploymentTargetClass ${targetClass}`]
      : []),
    ...imagePullSecrets.flatMap((ref) => whyNoPullSecret(ref, services)).map((why) => `spec.imagePullSecrets: ${why}`),
    ...problems.map((problem) => `spec.devfile: ${sentenceOf(problem)}`),
    ...(times && 'wrong' in times ? [`spec.schedule.${times.wrong}`] : []),
  ]
}
