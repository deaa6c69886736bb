import {
  claimRefOf,
  type DeploymentTarget,
  type DeploymentTargetClass,
  DeploymentTargetClasses,
  DeploymentTargets,
  type Environment,
  Environments,
  type KubeObject,
  labels,
  type Ref,
  refOf,
  refsBeside,
  type SpaceRequest,
  SpaceRequests,
  type Workspace,
  Workspaces,
} from '../../../api/index.ts'
import type { Watch } from '../../../engines/controller/index.ts'
import { type BindingCaches, byTargetName, byWanted, poolOf } from './situation.ts'

/** These wake a claim, too: its target, a target that came free, its class, what is being made for it, who needs it. */
export const watchesOf = (caches: BindingCaches): Watch[] => [
  { kind: DeploymentTargets, wakes: (target: DeploymentTarget) => concernedBy(target, caches) },
  {
    kind: DeploymentTargetClasses,
    wakes: ({ metadata }: DeploymentTargetClass) => caches.claims.by(byWanted, metadata.name).map(refOf),
  },
  { kind: SpaceRequests, wakes: (request: SpaceRequest) => claimOf(request) },
  {
    kind: Environments,
    wakes: (environment: Environment) =>
      refsBeside(environment, environment.spec.configuration?.target?.deploymentTargetClaim.claimName),
  },
  { kind: Workspaces, wakes: (workspace: Workspace) => refsBeside(workspace, workspace.spec.target?.claimName) },
]

function concernedBy(target: DeploymentTarget, { claims }: BindingCaches): Ref[] {
  const { name, namespace } = target.metadata
  const holder = claimRefOf(target)
  const naming = claims.by(byTargetName, `${namespace}/${name}`).map(refOf)
  // Nobody waits for a resync: a target without holder is offered to all that wait for one of its class.
  const waiting = holder ? [] : claims.by(byWanted, poolOf(target)).map(refOf)
  return [...naming, ...refsBeside(target, holder?.name), ...waiting]
}

const claimOf = (object: KubeObject): Ref[] => refsBeside(object, object.metadata.labels?.[labels.claim])
