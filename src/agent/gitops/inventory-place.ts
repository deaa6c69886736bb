import type { ManifestProject } from '../../agentcfg/index.ts'
import type { Manifest } from '../../engines/render/index.ts'
import { Failure } from '../../std/index.ts'
import { type AgentInventory, INVENTORY_ID } from './inventory.ts'
import type { InventoryPlace, RegisteredProject } from './register.ts'
import { inventoryAt, inventoryIdOf, isNear, type LeadershipTerm, ownerIdOf } from './services.ts'
import type { Commit } from './source.ts'

/** The inventory of a project, which all its commits share. */
export interface ProjectInventory {
  name: string
  owner: string
  inventoryId: string
  inventory: AgentInventory
  memory: ReturnType<LeadershipTerm['memories']['of']>
}

interface OpenOptions {
  project: ManifestProject
  term: LeadershipTerm
  commit: Commit
  template: Template | undefined
  ring: () => void
}

/** Which inventory it is turns out with the first commit: it bears the number that kas gave the project. */
export async function openInventory(
  before: ProjectInventory | undefined,
  options: OpenOptions,
  signal: AbortSignal,
): Promise<ProjectInventory> {
  const { project, term, commit, template, ring } = options
  const inventoryId = template?.inventoryId ?? inventoryIdOf(term.agentId, commit.projectId)
  const namespace = template?.namespace ?? project.defaultNamespace
  const place = { namespace, name: template?.name ?? `inventory-${inventoryId}`, inventoryId }
  if (!isNear(place, project)) throw outside(place)
  if (isOfAnother(place, inventoryIdOf(term.agentId, commit.projectId))) throw notIts(place)
  const name = `${spotOf(place)} ${inventoryId}`
  if (before?.name === name) return before
  const owner = ownerIdOf(term.agentId, commit.projectId)
  const inventory = inventoryAt(term, project.id, place)
  await term.claim(commit.projectId)
  if (project.dryRun === 'none') await settle(place, inventory, options, signal)
  return { name, owner, inventoryId, inventory, memory: term.memories.of(owner, { tenant: project.id, rules: '', ring }) }
}

const outside = ({ namespace, name }: InventoryPlace): Failure =>
  new Failure('invalid', `the inventory ConfigMap ${namespace}/${name} is outside gitops.namespaces of the agent configuration`, {
    reason: 'InventoryOutside',
    remedy: 'Write it for one of these namespaces, or leave it out of the repository.',
  })

/** Whose an inventory is that agentk names by itself, its name says. */
const isOfAnother = ({ name, inventoryId }: InventoryPlace, own: string): boolean =>
  [inventoryId, name.replace(/^inventory-/, '')].some((id) => /^\d+-\d+$/.test(id) && id !== own)

const notIts = ({ namespace, name, inventoryId }: InventoryPlace): Failure =>
  new Failure('invalid', `ConfigMap ${namespace}/${name} with inventory id ${inventoryId} is that of another project or agent`, {
    reason: 'InventoryTaken',
    remedy: 'Leave it out of the repository, or give it a name and an id of its own.',
  })

const spotOf = ({ namespace, name }: InventoryPlace): string => `${namespace}/${name}`

/** All projects are written down in one ConfigMap, and a repository may name another place with each commit. */
const MOST_PLACES = 16

const wandering = ({ namespace, name }: InventoryPlace): Failure =>
  new Failure(
    'too-large',
    `its inventory lies in ${MOST_PLACES} places, and may not lie in ConfigMap ${namespace}/${name} as well`,
    {
      reason: 'InventoryMoved',
      remedy: 'Name an earlier one again, and mend it: its status says what is wrong.',
    },
  )

/** Writes down where the inventory lies before anything is applied, and takes over what an earlier place has. */
async function settle(
  place: InventoryPlace,
  inventory: AgentInventory,
  options: OpenOptions,
  signal: AbortSignal,
): Promise<void> {
  const { term, project, commit } = options
  const { register } = term
  const { id, deletion } = project
  const number = commit.projectId
  const besides = (known: RegisteredProject | undefined) => (known?.places ?? []).filter((one) => spotOf(one) !== spotOf(place))
  const noted = await register.revise(number, (before) => {
    const others = besides(before)
    if (others.length >= MOST_PLACES) throw wandering(place)
    return { id, deletion, places: [...others, place] }
  })
  const former = besides(noted).filter((one) => isNear(one, project))
  for (const one of former) {
    signal.throwIfAborted()
    // What stands there is ours still, and its old list is needed no more.
    await inventory.inherit(inventoryAt(term, id, one))
  }
  const spots = former.map(spotOf)
  if (spots.length === 0) return
  const isLeft = (one: InventoryPlace) => !spots.includes(spotOf(one))
  await register.revise(number, (before) => before && { ...before, places: before.places.filter(isLeft) })
}

interface Template {
  inventoryId: string
  name: string
  namespace: string | undefined
}

/** A repository may bring the ConfigMap of its inventory along, as those for agentk could. */
export function withoutTemplate(all: readonly Manifest[]): { manifests: readonly Manifest[]; template: Template | undefined } {
  const templates = all.filter(
    ({ object }) => object.kind === 'ConfigMap' && object.metadata.labels?.[INVENTORY_ID] !== undefined,
  )
  const [only, second] = templates
  if (!only) return { manifests: all, template: undefined }
  if (second)
    throw new Failure(
      'invalid',
      `${only.source} and ${second.source} are both labelled ${INVENTORY_ID}; there is one inventory only`,
      {
        reason: 'SeveralInventories',
      },
    )
  const { labels, name, namespace } = only.object.metadata
  return {
    manifests: all.filter((one) => one !== only),
    template: { inventoryId: labels?.[INVENTORY_ID] ?? '', name, namespace },
  }
}
