import {
  type Environment,
  Environments,
  type GitOpsDeployment,
  type GitOpsDeploymentSet,
  GitOpsDeploymentSets,
  GitOpsDeployments,
  type GitProject,
  GitProjects,
  indexBy,
  inEffect,
  keyOf,
  labels,
  type Ref,
  refOf,
  refsBeside,
} from '../../api/index.ts'
import {
  type Controller,
  type ControllerContext,
  createWakeups,
  failedStatus,
  settled,
  wakeByChanges,
} from '../../engines/controller/index.ts'
import { seconds } from '../../std/index.ts'
import { createRepositories, type NameSource, projectRef } from '../repository-names/index.ts'
import { asksForEnvironments, simpleGenerators } from './elements.ts'
import { reconcileSet } from './reconcile.ts'
import { MANAGER, type SetMemory, type SetServices } from './services.ts'

/** A thousand that come into effect tell of it a thousand times: their set looks so often at most. */
const PACE = seconds(1)

/** Keeps the GitOpsDeployments of each GitOpsDeploymentSet as its template has them. */
export function deploymentSets(context: ControllerContext, source: NameSource): Controller<GitOpsDeploymentSet> {
  const { caches, clock } = context
  const sets = caches.of(GitOpsDeploymentSets)
  const deployments = caches.of(GitOpsDeployments)
  const memories = new Map<string, SetMemory>()
  const wakes = (one: GitOpsDeployment) => setsOf(one).filter((ref) => sets.get(ref))
  const wakeups = createWakeups(({ wake, signal }) => {
    wakeByChanges(deployments, { wakes, isSame: isSameToSet, pace: PACE }, { wake, signal, clock })
    signal.addEventListener('abort', () => repositories.stop(), { once: true })
  })
  const repositories = createRepositories(source, wakeups.wake)
  const services: SetServices = {
    context,
    deployments,
    environments: caches.of(Environments),
    projects: caches.of(GitProjects),
    repositories,
    bySet,
    memories,
  }
  return {
    name: MANAGER,
    kind: GitOpsDeploymentSets,
    watches: [
      {
        kind: Environments,
        wakes: ({ metadata: { namespace = '' } }: Environment) =>
          sets
            .in(namespace)
            .filter(({ spec }) => asksForEnvironments(spec))
            .map(refOf),
      },
      { kind: GitProjects, wakes: (project: GitProject) => sets.by(byProject, keyOf(project.metadata)).map(refOf) },
      // So that they are held in memory; what they tell comes by the wake-ups above.
      { kind: GitOpsDeployments, wakes: () => [] },
    ],
    wakeups,
    reconcile: (set, signal) => reconcileSet(set, services, signal),
    async gone(ref) {
      memories.delete(keyOf(ref))
      repositories.of(ref, [])
      return settled()
    },
    failed: failedStatus,
  }
}

/** By the set that it was made for. */
const bySet = indexBy((deployment: GitOpsDeployment) => setsOf(deployment).map(keyOf))

/** By the GitProjects that its generators name. */
const byProject = indexBy((set: GitOpsDeploymentSet) =>
  simpleGenerators(set.spec).flatMap(([, { branches, directories }]) => {
    const named = (branches ?? directories)?.project
    return named === undefined ? [] : [keyOf(projectRef(named, set.metadata.namespace ?? ''))]
  }),
)

const setsOf = (deployment: GitOpsDeployment): Ref[] => refsBeside(deployment, deployment.metadata.labels?.[labels.deploymentSet])

/** Between two versions nothing has changed but how far a pass is. */
function isSameToSet(now: GitOpsDeployment, before: GitOpsDeployment): boolean {
  const [one, other] = [now, before].map(({ metadata }) =>
    JSON.stringify([
      metadata.generation,
      metadata.deletionTimestamp,
      metadata.labels,
      metadata.annotations,
      metadata.ownerReferences,
    ]),
  )
  return one === other && inEffect(now).said === inEffect(before).said
}
