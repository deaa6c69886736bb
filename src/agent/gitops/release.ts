import type { Kube } from '../../adapters/kube/index.ts'
import { type AnyObject, ConfigMaps, type Kind, Leases } from '../../api/index.ts'
import { refOfId, sayId } from '../../engines/apply/index.ts'
import { appliedBy, type Held, handingOver } from '../../engines/gitops/index.ts'
import { type Clock, Failure, isFailure, sayFailure } from '../../std/index.ts'
import { AGENTK } from './policy.ts'
import { createRegister, type RegisteredProject, registersIn } from './register.ts'
import { inventoryAt, ownerIdOf } from './services.ts'

export interface ReleaseOptions {
  /** In the cluster of the agent. */
  kube: Kube
  /** The namespace of the agent's pods. */
  home: string
  /** The number of the agent; `undefined`: the only one that has anything there. */
  agentId: bigint | undefined
  dryRun: boolean
  clock: Clock
}

/** What became of one manifest project. */
export interface ReleasedProject {
  agentId: string
  /** Path of the project. */
  id: string
  /** Names of agentk's ConfigMaps, which stay. */
  inventories: string[]
  objects: number
  /** Objects whose fields are agentk's now; in a dry run those that would be. */
  released: number
  /** A sentence about each object that could not be released. */
  failed: string[]
}

/**
 * Gives the fields of everything that Berth's agent has applied to agentk, which takes nothing over by itself: a field that leaves the
 * repository afterwards leaves the cluster with agentk's next apply. Then forgets what only Berth's agent remembers. What fails stays
 * remembered, and may be tried again.
 */
export async function releaseProjects(options: ReleaseOptions): Promise<ReleasedProject[]> {
  const { kube, home, dryRun } = options
  const agentId = options.agentId ?? (await onlyAgentIn(kube, home))
  await requireStopped(options, agentId)
  const register = createRegister({ kube, home, agentId })
  const released: ReleasedProject[] = []
  for (const project of await register.read()) {
    const told = await releaseProject(project, { kube, agentId, dryRun })
    if (told.failed.length === 0 && !dryRun) await register.revise(project.number, () => undefined)
    released.push(told)
  }
  return released
}

async function onlyAgentIn(kube: Kube, home: string): Promise<bigint> {
  const [only, ...others] = registersIn(await kube.list(ConfigMaps, { namespace: home }))
  if (only !== undefined && others.length === 0) return only
  if (only === undefined)
    throw new Failure('not-found', `no agent of Berth's has applied anything from namespace ${home}`, {
      remedy: 'Name the namespace of its pods with -n, in the cluster of the agent.',
    })
  throw new Failure('invalid', `${others.length + 1} agents have run in namespace ${home}: ${[only, ...others].join(', ')}`, {
    remedy: 'Give the number of one of them.',
  })
}

/** A Lease lasts so long where it does not say. Seconds. */
const LASTS = 15

/** An agent of Berth's that runs would take everything back with its next apply. */
async function requireStopped({ kube, home, clock }: ReleaseOptions, agentId: bigint): Promise<void> {
  const name = `agent-${agentId}-lock`
  const lease = await kube.get(Leases, { name, namespace: home })
  const { holderIdentity: holder, renewTime, leaseDurationSeconds = LASTS } = lease?.spec ?? {}
  if (!lease || !holder || !renewTime || Date.parse(renewTime) + leaseDurationSeconds * 1000 < clock.now()) return
  if (appliedBy({ ...lease }, ['spec', 'renewTime']).includes(AGENTK)) return
  throw new Failure('conflict', `an agent of Berth's still runs: pod ${holder} holds Lease ${home}/${name}`, {
    reason: 'StillRunning',
    remedy: `Stop it first (kubectl scale deployment --all --replicas=0 -n ${home}), and try again after ${leaseDurationSeconds} s.`,
  })
}

async function releaseProject(
  { number, id, places }: RegisteredProject,
  { kube, agentId, dryRun }: { kube: Kube; agentId: bigint; dryRun: boolean },
): Promise<ReleasedProject> {
  const told: ReleasedProject = { agentId: String(agentId), id, inventories: [], objects: 0, released: 0, failed: [] }
  const owner = ownerIdOf(agentId, number)
  for (const place of places) {
    const inventory = inventoryAt({ kube, agentId }, id, place)
    const { held = [] } = (await inventory.load()) ?? {}
    const failed: string[] = []
    for (const item of held) {
      try {
        if (await releaseObject(item, owner, { kube, dryRun })) told.released++
      } catch (thrown) {
        failed.push(`${sayId(item.id)}: ${sayFailure(Failure.from(thrown))}`)
      }
    }
    told.inventories.push(`${place.namespace}/${place.name}`)
    told.objects += held.length
    told.failed.push(...failed)
    if (failed.length === 0 && !dryRun) told.failed.push(...(await inventory.leaveToAgentk()))
  }
  return told
}

const TRIES = 5

/** False when nothing of the object is ours. */
async function releaseObject(
  { id, version }: Held,
  owner: string,
  { kube, dryRun }: { kube: Kube; dryRun: boolean },
): Promise<boolean> {
  const served = await kube.resolve(id.group === '' ? version : `${id.group}/${version}`, id.kind)
  if (!served) return false
  const { example: _, ...kind }: Kind = served
  for (let left = TRIES; ; left--) {
    const live = await kube.get<AnyObject>(kind, refOfId(id))
    const steps = live && handingOver(live, owner, AGENTK)
    if (!steps) return false
    if (dryRun) return true
    try {
      await kube.patch(kind, refOfId(id), steps)
      return true
    } catch (thrown) {
      if (isFailure(thrown, 'not-found')) return false
      // Somebody else has written it meanwhile.
      if (left === 0 || !isFailure(thrown, 'conflict')) throw thrown
    }
  }
}
