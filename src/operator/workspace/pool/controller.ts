import type { Reach } from '../../../adapters/kube/index.ts'
import {
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  type Ref,
  type WorkspaceClass,
  WorkspaceClasses,
  type WorkspaceClassStatus,
} from '../../../api/index.ts'
import { type Controller, type ControllerContext, createWakeups, type Next, settled } from '../../../engines/controller/index.ts'
import { watchCredentials } from '../../../engines/targets/index.ts'
import { createTargetLookup } from '../place/target.ts'
import { byClassName, byNamespace, classOf, sparesBy } from './spare.ts'
import { type PoolServices, type Tended, tend } from './tend.ts'

export interface PoolSettings {
  reach?: Reach
  /** The only namespace that the operator looks after, where there is one. */
  namespace?: string | undefined
}

type Pool = NonNullable<WorkspaceClassStatus['warmPool']>

/** Keeps the warm pools of classes: claims and volumes that wait for workspaces. */
export function workspacePools(
  context: ControllerContext,
  { reach, namespace: only }: PoolSettings = {},
): Controller<WorkspaceClass> {
  const { caches } = context
  const claims = caches.of(DeploymentTargetClaims)
  const targetClasses = caches.of(DeploymentTargetClasses)
  const services: PoolServices = { ...createTargetLookup(caches), context, claims, targetClasses, reach }
  const wakes = (claim: DeploymentTargetClaim): Ref[] => (sparesBy(claim).length > 0 ? [{ name: classOf(claim) }] : [])
  const spares = () => [...claims.all()].filter((claim) => sparesBy(claim).length > 0)
  const ofNamespace = ({ metadata }: DeploymentTarget): Ref[] => claims.by(byNamespace, metadata.namespace ?? '').flatMap(wakes)
  return {
    name: 'workspace-pool',
    kind: WorkspaceClasses,
    watches: [
      { kind: DeploymentTargetClaims, wakes },
      { kind: DeploymentTargets, wakes: ofNamespace },
      ...watchCredentials(caches, ofNamespace),
    ],
    reconcile: (owner) => keep(owner, services, only),
    gone: async ({ name }) => settled({ recheck: soonest(await clear(services.claims.by(byClassName, name), services)) }),
    // A class that went while nobody looked rings for nobody.
    wakeups: createWakeups(({ wake }) => {
      for (const spare of spares()) wake({ name: classOf(spare) })
    }),
  }
}

async function keep(owner: WorkspaceClass, services: PoolServices, only: string | undefined): Promise<Next> {
  const { size = 0, namespaces = [] } = owner.spec.warmPool ?? {}
  const wanted = size > 0 ? namespaces.filter((each) => only === undefined || each === only) : []
  const all = services.claims.by(byClassName, owner.metadata.name)
  const spares = all.filter((claim) => sparesBy(claim).includes(owner.metadata.uid ?? ''))
  const places = [...new Set([...wanted, ...spares.map(({ metadata }) => metadata.namespace ?? '')])]
  const tended = await Promise.all(
    places.map((namespace) =>
      tend(
        { owner, namespace, size: wanted.includes(namespace) ? size : 0 },
        spares.filter(({ metadata }) => metadata.namespace === namespace),
        services,
      ),
    ),
  )
  await tell(owner, wanted.length * size, tended, services)
  // Those of a class of that name that was deleted.
  const cleared = await clear(
    all.filter((claim) => !spares.includes(claim)),
    services,
  )
  return settled({ recheck: soonest([...tended, ...cleared]) })
}

/** Those of a class that is no more. */
const clear = async (spares: DeploymentTargetClaim[], services: PoolServices): Promise<Tended[]> =>
  spares.length === 0 ? [] : [await tend({ owner: undefined, namespace: '', size: 0 }, spares, services)]

const soonest = (tended: readonly Tended[]): number | undefined =>
  tended.flatMap(({ after }) => (after === undefined ? [] : [after])).sort((a, b) => a - b)[0]

/** It writes only this field: taking a place writes others of the status. */
async function tell({ metadata, status }: WorkspaceClass, wanted: number, tended: readonly Tended[], { context }: PoolServices) {
  const sum = (field: 'ready' | 'preparing') => tended.reduce((all, each) => all + each[field], 0)
  const waitingFor = tended.find((each) => each.waitingFor !== undefined)?.waitingFor
  const pool: Pool = { wanted, ready: sum('ready'), preparing: sum('preparing'), ...(waitingFor && { waitingFor }) }
  const before = status?.warmPool
  if (isSame(pool, before) || (wanted === 0 && before === undefined)) return
  const patch = { status: { warmPool: wanted === 0 ? null : { ...pool, waitingFor: waitingFor ?? null } } }
  await context.kube.patch(WorkspaceClasses, { name: metadata.name }, patch, { subresource: 'status' })
}

const isSame = (one: Pool, other: Pool | undefined): boolean =>
  other !== undefined && (['wanted', 'ready', 'preparing', 'waitingFor'] as const).every((field) => one[field] === other[field])
