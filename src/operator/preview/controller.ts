import {
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type Environment,
  Environments,
  type GitOpsDeployment,
  GitOpsDeploymentSets,
  GitOpsDeployments,
  type GitProject,
  GitProjects,
  indexBy,
  inEffect,
  type KubeObject,
  keyOf,
  labels,
  type Preview,
  Previews,
  type Ref,
  refOf,
  refsBeside,
} from '../../api/index.ts'
import { createCanonical } from '../../engines/apply/index.ts'
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
import { reconcilePreview } from './reconcile.ts'
import { MANAGER, type PreviewServices } from './services.ts'

/** Two hundred environments that come into effect tell of it one by one: their Preview looks so often at most. */
const PACE = seconds(1)

/** Keeps an environment for each branch that a Preview asks for. */
export function previews(context: ControllerContext, source: NameSource): Controller<Preview> {
  const { caches, clock } = context
  const all = caches.of(Previews)
  const deployments = caches.of(GitOpsDeployments)
  const wakes = (one: GitOpsDeployment) => previewOf(one).filter((ref) => all.get(ref))
  const wakeups = createWakeups(({ wake, signal }) => {
    wakeByChanges(deployments, { wakes, isSame: isSameToPreview, pace: PACE }, { wake, signal, clock })
    signal.addEventListener('abort', () => repositories.stop(), { once: true })
  })
  const repositories = createRepositories(source, wakeups.wake)
  const services: PreviewServices = {
    context,
    environments: caches.of(Environments),
    claims: caches.of(DeploymentTargetClaims),
    deployments,
    sets: caches.of(GitOpsDeploymentSets),
    projects: caches.of(GitProjects),
    repositories,
    canonical: createCanonical(context.kube, MANAGER),
    byPreview: { environments: indexBy(ownerKeys<Environment>), claims: indexBy(ownerKeys<DeploymentTargetClaim>) },
    refusals: new Map(),
  }
  return {
    name: MANAGER,
    kind: Previews,
    watches: [
      { kind: Environments, wakes: ownersOf },
      { kind: DeploymentTargetClaims, wakes: ownersOf },
      { kind: GitOpsDeploymentSets, wakes: ownersOf },
      { kind: GitProjects, wakes: (project: GitProject) => all.by(byProject, keyOf(refOf(project))).map(refOf) },
      // So that they are held in memory; what they tell comes by the wake-ups above.
      { kind: GitOpsDeployments, wakes: () => [] },
    ],
    wakeups,
    reconcile: (preview, signal) => reconcilePreview(preview, services, signal),
    async gone(ref) {
      services.refusals.delete(keyOf(ref))
      repositories.of(ref, [])
      return settled()
    },
    failed: failedStatus,
  }
}

const isSameToPreview = (now: GitOpsDeployment, before: GitOpsDeployment): boolean => inEffect(now).said === inEffect(before).said

const previewOf = (object: KubeObject): Ref[] => refsBeside(object, object.metadata.labels?.[labels.preview])

/** Whatever somebody makes of its labels. */
const ownersOf = (object: KubeObject): Ref[] =>
  (object.metadata.ownerReferences ?? [])
    .filter(({ kind }) => kind === Previews.kind)
    .flatMap(({ name }) => refsBeside(object, name))

const ownerKeys = <T extends KubeObject>(object: T): string[] => ownersOf(object).map(keyOf)

const byProject = indexBy(({ metadata, spec }: Preview) => [keyOf(projectRef(spec.branches.project, metadata.namespace ?? ''))])
