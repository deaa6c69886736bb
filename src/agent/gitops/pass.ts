import type { ManifestProject } from '../../agentcfg/index.ts'
import { sayId } from '../../engines/apply/index.ts'
import { type Entry, entriesOf, preview, type SyncRequest, type SyncResult, sync } from '../../engines/gitops/index.ts'
import type { Manifest, Render, Snapshot } from '../../engines/render/index.ts'
import { adopt } from './adopt.ts'
import type { AgentInventory } from './inventory.ts'
import { takeOverRulesFor } from './policy.ts'
import { destinationOf, ownerFrom, type Term } from './shop.ts'

/** One commit of one project, about to be brought about. */
export interface Pass {
  project: ManifestProject
  snapshot: Snapshot
  manifests: readonly Manifest[]
  owner: string
  inventoryId: string
  inventory: AgentInventory
  memory: SyncRequest['memory']
  /** Read everything again, whatever the watches say. */
  compare: boolean
}

/** What a pass has left to say. */
export interface Verdict {
  objects: number
  undone: number
  health: string
  /** Both empty when nothing is wrong. */
  reason: string
  message: string
  /** What agentk's inventory named beyond the limits of the configuration; a sentence about each. */
  leftAlone?: readonly string[]
  /** How it goes on: `calm` - when something is heard. `soon` - something is on its way. `failed` - something must be mended. */
  next: 'calm' | 'soon' | 'failed'
}

export async function bringAbout(pass: Pass, term: Term, signal: AbortSignal): Promise<Verdict> {
  const { project, snapshot, inventoryId, inventory } = pass
  const owner = ownerFrom(pass.owner, { inventoryId, agentId: term.agentId, project: project.id })
  const { kube, clock, meter } = term
  const destination = destinationOf(kube, project)
  const foreign = project.dryRun === 'none' ? await inventory.foreign() : []
  const leftAlone = await adopt(foreign, { kube, owner: owner.id, inventoryId, destination, signal })
  if (leftAlone.length > 0)
    term.log.warn('objects of an inventory are left alone', { inventory: inventoryId, objects: leftAlone.slice(0, 20) })
  const render: Render = async () => pass.manifests
  const request: SyncRequest = {
    snapshot,
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
  if (project.dryRun === 'client') return dryVerdict(project, `${pass.manifests.length} objects, none of them sent`)
  if (project.dryRun === 'server') return dryVerdict(project, await rehearse(request, { render, clock }, signal))
  return { ...verdictOn(await sync(request, { render, clock, meter }, signal), pass), leftAlone }
}

const dryVerdict = ({ dryRun }: ManifestProject, what: string): Verdict => ({
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

function verdictOn(
  { changes, inventory, observed, putOff }: SyncResult,
  { snapshot, inventory: store, inventoryId, project }: Pass,
): Verdict {
  const failed = entriesOf(changes, 'failed')
  const withheld = entriesOf(changes, 'withheld')
  const open = entriesOf(changes, 'waiting', 'terminating')
  const skipped = changes.filter(({ change, undone }) => change === 'skipped' && undone)
  // Somebody may confirm it by and by, and no watch tells of that.
  if (withheld.length > 0) store.expire()
  const counts = {
    objects: inventory.held.length,
    undone: failed.length + withheld.length + open.length + skipped.length + putOff.length,
    health: observed.health.status,
  }
  const say = (reason: string, entries: readonly Entry[], next: Verdict['next']): Verdict => ({
    ...counts,
    reason,
    message: sayEntries(entries),
    next,
  })
  if (failed.length > 0) return say('ApplyFailed', failed, 'failed')
  if (withheld.length > 0) {
    const confirm = `kubectl annotate configmap inventory-${inventoryId} -n ${project.defaultNamespace} --overwrite`
    return { ...say('PruneWithheld', withheld, 'failed'), message: `${sayEntries(withheld)}. ${howToConfirm(confirm, snapshot)}` }
  }
  if (open.length > 0) return say('InProgress', open, 'soon')
  if (skipped.length > 0) return say('Skipped', skipped, 'failed')
  if (putOff.length > 0) return say('Waiting', putOff, 'soon')
  const { status, message = '' } = observed.health
  if (status === 'Healthy') return { ...counts, reason: '', message: '', next: 'calm' }
  return { ...counts, reason: status, message, next: status === 'Degraded' || status === 'Suspended' ? 'calm' : 'soon' }
}

const howToConfirm = (command: string, { commitId }: Snapshot): string =>
  `To confirm: ${command} gitops.berth.dev/confirm-prune=${commitId.slice(0, 12)}`

function sayEntries(entries: readonly Entry[]): string {
  const [first] = entries
  if (!first) return ''
  return entries.length === 1 ? sayEntry(first) : `${sayEntry(first)}; and ${entries.length - 1} more`
}

/** Failures name their object already; the other reasons are the rest of a sentence about it. */
function sayEntry({ id, why = '' }: Entry): string {
  return why.includes(id.name) ? why : `${sayId(id)} ${why}`
}
