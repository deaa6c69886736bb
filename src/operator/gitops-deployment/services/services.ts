import { createHash } from 'node:crypto'
import type { Reach } from '../../../adapters/kube/index.ts'
import { type GitOpsDeployment, type Ref, refOf } from '../../../api/index.ts'
import { keyOfId } from '../../../engines/apply/index.ts'
import type { ControllerContext, Waker } from '../../../engines/controller/index.ts'
import {
  type Inventory,
  type InventoryStore,
  ignoreRules,
  inventoryInConfigMaps,
  type Observed,
  type Owner,
  type SyncMemories,
  type SyncRequest,
  type TellSync,
  type Wants,
} from '../../../engines/gitops/index.ts'
import { type CompiledRules, type HealthRule, type HealthRules, healthRules } from '../../../engines/health/index.ts'
import type { Render, Snapshot } from '../../../engines/render/index.ts'
import { type Clock, createBuckets, LRUCache, type Rate, type ReadYaml, type Tracer } from '../../../std/index.ts'
import type { FindOpening } from '../schedule/windows.ts'
import type { Allotments } from '../source/allotments.ts'
import type { Following, Source } from '../source/following.ts'
import type { SyncCaches } from '../watch/caches.ts'
import type { DecryptionReader } from './decryptions.ts'
import type { GitOpsMeter } from './meter.ts'
import type { Targets } from './targets.ts'
import type { VariableReader } from './variables.ts'

export const NAME = 'gitops-deployment'

export interface GitOpsSettings {
  /** Where commits come from: the object stream of kas. */
  source: Source
  /** One for all, dry runs too: it says how many kustomizations are built at once. */
  render: Render
  /** The one that `render` has: each is a thread. */
  yaml?: ReadYaml
  /** Where managed environments may lead; everywhere without it. */
  reach?: Reach
  /** Watches on deployed objects that are open at once; beyond it, objects are compared each interval. */
  mostWatches?: number | undefined
  /** Objects of all deployments of one namespace; MOST_OBJECTS without it. */
  mostObjects?: number | undefined
  /** Mebibytes of files that all deployments of one namespace follow. */
  mostFiles?: number | undefined
  /** Whether spec.dependsOn may name another namespace. */
  crossNamespace?: boolean
  meter?: GitOpsMeter
  tracer?: Tracer
}

/** The last pass of one deployment, so that nothing is read again without need. Lost at a restart, at no harm. */
export interface LastPass {
  uid: string | undefined
  generation: number | undefined
  commitId: string
  comparedAt: number
  observed: Observed
  /** Reconciles in a row that left something undone. */
  tries: number
  /** When something was written that the status does not tell yet. */
  wroteAt: number | undefined
}

/** When a deployment was first given a commit, and when it was written last on its behalf. */
interface Arrival extends Pick<Snapshot, 'commitId' | 'author' | 'subject'> {
  at: number
  wroteAt?: number
}

export interface SyncServices {
  context: ControllerContext
  caches: SyncCaches
  following: Following
  targets: Targets
  crossNamespace: boolean
  render: Render
  /** How many objects of each deployment are kept. */
  objects: Allotments
  /** How many bytes kustomize and helm have made for each deployment. */
  made: Allotments
  variables: VariableReader
  decryptions: DecryptionReader
  /** Compiles health rules, or remembers them. */
  rules: Rules
  /** Finds out whether sync windows are open, or remembers it. */
  findOpening: FindOpening
  lastPasses: Map<string, LastPass>
  /** Each deployment as it was reconciled last, so that what it leaves without a word can be released. */
  seen: Map<string, GitOpsDeployment>
  /** When each deployment was first given its present commit. */
  arrivals: Map<string, Arrival>
  meter: GitOpsMeter | undefined
  tracer: Tracer
  tellSync: TellSync
  memories: SyncMemories
  wants: Wants
  wakeups: Pick<Waker, 'wake'>
  /** Has a deployment looked at again after so many milliseconds, though it failed. */
  wakeIn(ref: Ref, milliseconds: number): void
}

/** The memory of a deployment between two passes, kept up to date by watches. */
export function memoryOf(deployment: GitOpsDeployment, { memories, wakeups }: Pick<SyncServices, 'memories' | 'wakeups'>) {
  const { ignore, healthRules: rules } = deployment.spec
  return memories.of(ownerOf(deployment).id, {
    tenant: deployment.metadata.namespace ?? '',
    rules: JSON.stringify([ignore, rules]),
    ring: () => wakeups.wake(refOf(deployment)),
  })
}

/** By which rules the objects are looked at. A rule that is none is a failure that says where. */
export async function rulesOf(
  { spec, metadata }: GitOpsDeployment,
  { rules }: Pick<SyncServices, 'rules'>,
): Promise<NonNullable<SyncRequest['rules']>> {
  return {
    ignore: spec.ignore && ignoreRules(spec.ignore),
    healthRules: spec.healthRules && (await rules(spec.healthRules, metadata.namespace ?? '')),
  }
}

type Rules = (rules: readonly HealthRule[], tenant: string) => Promise<HealthRules>

/** Characters of rules. They are compiled once, not in each reconcile: a rule takes 0.25 ms, and then up to 100 bytes for a character. */
const MOST_RULES = 250_000

/**
 * Steps of rules for one namespace, a microsecond each: a tenth of a processor, and as much at once as others hardly notice. A usual rule
 * takes forty, so ten thousand objects are judged in one go.
 */
const STEPS: Rate = { burst: 500_000, perSecond: 100_000 }

export function rememberedRules(clock: Clock): Rules {
  const steps = createBuckets(STEPS, clock)
  const known = new LRUCache<string, Promise<CompiledRules>>({
    maxSize: MOST_RULES,
    sizeCalculation: (_, text) => text.length,
    memoMethod: (text) => healthRules(JSON.parse(text)),
  })
  return async (rules, tenant) => {
    const within = await known.memo(JSON.stringify(rules))
    return within({ isUsedUp: () => steps.wait(tenant) > 0, spend: (count) => steps.spend(tenant, count) })
  }
}

export const ownerOf = ({ metadata: { uid = '', namespace, name } }: GitOpsDeployment): Owner => ({
  id: uid,
  title: `GitOpsDeployment ${namespace}/${name}`,
})

/** A deployment with the longest name, and the last of many shards, must still have a name of their own. */
export function inventoryName({ metadata: { name } }: GitOpsDeployment): string {
  if (name.length <= 238) return `${name}.inventory`
  return `${name.slice(0, 227)}-${createHash('sha256').update(name).digest('hex').slice(0, 10)}.inventory`
}

export const inventoryOf = (
  deployment: GitOpsDeployment,
  { context, caches }: Pick<SyncServices, 'context' | 'caches'>,
): InventoryStore =>
  inventoryInConfigMaps({
    cache: caches.inventories,
    kube: context.kube,
    ref: { name: inventoryName(deployment), namespace: deployment.metadata.namespace },
    owner: deployment,
    manager: NAME,
    lost: () => inventoryInStatus(caches.deployments.get(refOf(deployment)) ?? deployment),
  })

/** The same, as the memory of the deployment keeps it: what was read once is not read again. */
export function rememberedInventory(
  deployment: GitOpsDeployment,
  services: Pick<SyncServices, 'context' | 'caches' | 'memories' | 'wakeups'>,
): InventoryStore {
  const memory = memoryOf(deployment, services)
  memory.store ??= inventoryOf(deployment, services)
  return memory.store
}

/** The status lists the objects for people; where the inventory was deleted, it is the second memory. */
export function inventoryInStatus({ status }: GitOpsDeployment): Inventory | undefined {
  const there = (status?.resources ?? []).filter(({ version }) => version !== '')
  const held = there.map(({ group = '', version, kind, namespace, name }) => {
    const id = { group, kind, ...(namespace && { namespace }), name }
    return { id, key: keyOfId(id), version }
  })
  return held.length > 0 ? { server: '', held } : undefined
}
