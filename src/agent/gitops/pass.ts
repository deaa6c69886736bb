import type { ManifestProject } from '../../agentcfg/index.ts'
import { annotations } from '../../api/index.ts'
import {
  type Entry,
  entriesOf,
  preview,
  type SyncRequest,
  type SyncResult,
  sayEntries,
  sayEntry,
  sync,
} from '../../engines/gitops/index.ts'
import type { Manifest, Render, Snapshot } from '../../engines/render/index.ts'
import type { ManifestProjectStatus } from '../ports/reports.ts'
import { adopt } from './adopt.ts'
import type { ProjectInventory } from './inventory-place.ts'
import { takeOverRulesFor } from './policy.ts'
import { destinationOf, type LeadershipTerm, ownerFrom } from './services.ts'

/** One commit of one project, about to be brought about. */
export interface CommitToSync extends ProjectInventory {
  project: ManifestProject
  snapshot: Snapshot
  manifests: readonly Manifest[]
  /** When their rendering began. Milliseconds since 1970. */
  renderedSince: number
  /** Read everything again, whatever the watches say. */
  compare: boolean
}

export interface PassResult extends Pick<ManifestProjectStatus, 'objects' | 'undone' | 'health' | 'reason' | 'message'> {
  /** The objects that agentk's inventory named beyond the limits of the configuration; a sentence about each. */
  leftAlone?: readonly string[]
  /** How it goes on: `calm` - when something is heard. `soon` - something is on its way. `failed` - something must be mended. */
  next: 'calm' | 'soon' | 'failed'
}

export async function syncCommit(pass: CommitToSync, term: LeadershipTerm, signal: AbortSignal): Promise<PassResult> {
  const { project, snapshot, inventoryId, inventory } = pass
  const owner = ownerFrom(pass.owner, inventoryId, term.agentId, project.id)
  const { kube, clock, meter, tellSync: tell } = term
  const destination = destinationOf(kube, project)
  const foreign = project.dryRun === 'none' ? await inventory.foreign() : []
  const leftAlone = await adopt(foreign, { kube, owner: owner.id, inventoryId, destination, signal })
  if (leftAlone.length > 0)
    term.log.warn('objects of an inventory are left alone', { inventory: inventoryId, objects: leftAlone.slice(0, 20) })
  const render: Render = async () => pass.manifests
  const request: SyncRequest = {
    snapshot,
    renderedSince: pass.renderedSince,
    path: project.id,
    destination,
    owner,
    inventory,
    memory: pass.memory,
    compare: pass.compare ? 'all' : false,
    prune: project.prune,
    propagation: project.propagation,
    confirmed: inventory.isConfirmed(snapshot.commitId),
    wants: term.wants,
    takeOver: takeOverRulesFor(inventoryId, project.inventoryPolicy),
  }
  if (project.dryRun === 'client') return dryResult(project, `${pass.manifests.length} objects, none of them sent`)
  if (project.dryRun === 'server') return dryResult(project, await rehearse(request, { render, clock }, signal))
  return { ...resultOf(await sync(request, { render, clock, meter, tell }, signal), pass), leftAlone }
}

const dryResult = ({ dryRun }: ManifestProject, what: string): PassResult => ({
  objects: 0,
  undone: 0,
  health: 'Unknown',
  reason: 'DryRun',
  message: `dry_run_strategy is ${dryRun}: ${what}`,
  next: 'calm',
})

async function rehearse(request: SyncRequest, tools: Parameters<typeof preview>[1], signal: AbortSignal): Promise<string> {
  const { differences, refused, leaving } = await preview(request, tools, signal)
  const count = (word: string) => differences.filter(({ would }) => would === word).length
  const pruned = entriesOf(leaving, 'pruned').length
  const [first] = [...differences.filter(({ would }) => would === 'refused').map(({ why }) => why), ...refused.map(sayEntry)]
  const faults = count('refused') + refused.length
  const told = `${count('create')} would be created, ${count('change')} changed, ${pruned} deleted, ${faults} refused`
  return first === undefined ? told : `${told}; first: ${first}`
}

function resultOf(
  { changes, inventory, observed, repairsLater }: SyncResult,
  { snapshot, inventory: store, inventoryId, project }: CommitToSync,
): PassResult {
  const failed = entriesOf(changes, 'failed')
  const withheld = entriesOf(changes, 'withheld')
  const open = entriesOf(changes, 'waiting', 'terminating')
  const skipped = changes.filter(({ change, undone }) => change === 'skipped' && undone)
  // Somebody may confirm it by and by, and no watch tells of that.
  if (withheld.length > 0) store.expire()
  const counts = {
    objects: inventory.held.length,
    undone: failed.length + withheld.length + open.length + skipped.length + repairsLater.length,
    health: observed.health.status,
  }
  const say = (reason: string, entries: readonly Entry[], next: PassResult['next']): PassResult => ({
    ...counts,
    reason,
    message: sayEntries(entries, 1),
    next,
  })
  if (failed.length > 0) return say('ApplyFailed', failed, 'failed')
  if (withheld.length > 0) {
    const confirm = `kubectl annotate configmap inventory-${inventoryId} -n ${project.defaultNamespace} --overwrite`
    return {
      ...say('PruneWithheld', withheld, 'failed'),
      message: `${sayEntries(withheld, 1)}. ${howToConfirm(confirm, snapshot)}`,
    }
  }
  if (open.length > 0) return say('InProgress', open, 'soon')
  if (skipped.length > 0) return say('Skipped', skipped, 'failed')
  if (repairsLater.length > 0) return say('Waiting', repairsLater, 'soon')
  const { status, message = '' } = observed.health
  if (status === 'Healthy') return { ...counts, reason: '', message: '', next: 'calm' }
  return { ...counts, reason: status, message, next: status === 'Degraded' || status === 'Suspended' ? 'calm' : 'soon' }
}

const howToConfirm = (command: string, { commitId }: Snapshot): string =>
  `To confirm: ${command} ${annotations.confirmPrune}=${commitId.slice(0, 12)}`
