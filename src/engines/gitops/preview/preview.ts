import { setImmediate as breathe } from 'node:timers/promises'
import { weightOf } from '../../../adapters/kube/index.ts'
import type { Clock } from '../../../std/index.ts'
import { eachOf } from '../../../std/index.ts'
import { byKey, keyOfId } from '../../apply/index.ts'
import type { Render } from '../../render/index.ts'
import type { TakeOverRules } from '../apply/take-over.ts'
import type { IgnoreRules } from '../fields/ignore.ts'
import { type Held, type InventoryStore, loadFor } from '../inventory/inventory.ts'
import type { Entry } from '../objects/change-set.ts'
import { hookRun, isOfRun } from '../objects/hook-runs.ts'
import { type Wanted, type Wanting, wantedOf } from '../plan/wanted.ts'
import { GUARDS, type Guards } from '../prune/guards.ts'
import { released } from '../prune/leaving.ts'
import { assess } from '../prune/prune.ts'
import { type Difference, differencesOf, type FieldChange, fieldChanges } from './diff.ts'
import { type Hiding, hiding } from './hidden.ts'

interface PreviewRequest extends Wanting {
  inventory: InventoryStore
  ignore?: IgnoreRules | undefined
  /** Whether objects are made anew for a field that cannot be changed. */
  force?: boolean
  /** Whether a sync is there whose owner label an object carries. */
  knows?: (otherOwner: string) => boolean
  takeOver?: TakeOverRules | undefined
  /** Whether what was changed in the cluster stays as it is. */
  detectOnly?: boolean
  prune?: boolean
  guards?: Partial<Guards> | undefined
  confirmed?: boolean
  /** Values that came from Secrets: they are never shown. */
  secrets?: ReadonlySet<string>
}

/** Tells what a sync of this commit would do. Nothing that came from a Secret can be read in it. */
export interface Previewed {
  readonly commitId: string
  readonly differences: readonly Difference[]
  /** Objects that may not be applied, with the reason. */
  readonly refused: readonly Entry[]
  /** Objects that left the repository: `pruned` would be deleted, `withheld` when it is confirmed, the rest stays for the reason given. */
  readonly leaving: readonly Entry[]
}

/** Looks at everything and writes nothing: two requests for each object, as the tenant, and one more where a take-over removes something. */
export async function preview(request: PreviewRequest, tools: PreviewTools, signal?: AbortSignal): Promise<Previewed> {
  // What was encrypted is known only when it has been looked at.
  const secretsOf = (): ReadonlySet<string> => new Set([...(request.secrets ?? []), ...(request.decryption?.secrets() ?? [])])
  try {
    const found = await look(request, tools, signal)
    const secrets = secretsOf()
    return secrets.size > 0 ? await hiddenIn(found, hiding(secrets), tools, signal) : found
  } catch (thrown) {
    throw hiding(secretsOf()).failure(thrown)
  }
}

interface PreviewTools {
  render: Render
  clock: Clock
  /** So many bytes are looked through for secrets. */
  searching?: ((bytes: number) => void) | undefined
}

async function look(request: PreviewRequest, { render, clock }: PreviewTools, signal?: AbortSignal): Promise<Previewed> {
  const { snapshot, destination, owner, ignore, force, knows } = request
  const { kube } = destination
  const wanted = await wantedOf(request, render, {}, signal)
  const { inventory } = await loadFor(kube.server, request.inventory)
  const kept = wanted.desired.filter(({ key }) => !wanted.hooks?.byKey.has(key))
  const ofHooks = hookDifferences(wanted, inventory.held)
  const records = byKey(inventory.held)
  const uidOf = (key: string) => records.get(key)?.uid
  const { podSecurityLabels } = destination
  const comparing = {
    kube,
    owner: owner.id,
    clock,
    signal,
    ignore,
    force,
    knows,
    takeOver: request.takeOver,
    podSecurityLabels,
    uidOf,
  }
  const all = [...ofHooks, ...(await differencesOf(kept, comparing))]
  const differences = request.detectOnly ? all.map(drifted(wanted, inventory.held)) : all
  const undone = wanted.refused.length + all.filter(({ would }) => would === 'refused').length
  const leaving = await leavingOf(request, { wanted, held: inventory.held, undone }, clock, signal)
  return { commitId: snapshot.commitId, differences, refused: wanted.refused, leaving }
}

/** They are not compared: one that is due is made anew, whatever is there. */
function hookDifferences({ desired, hooks, leftOut }: Wanted, held: readonly Held[]): Difference[] {
  const notRun = leftOut.map(({ id, why = '', source = '' }): Difference => ({ id, source, would: 'nothing', fields: [], why }))
  if (!hooks) return notRun
  const run = hookRun(hooks.content, undefined)
  const records = byKey(held)
  const ours = desired.flatMap(({ key, id, object, source }): Difference[] => {
    const hook = hooks.byKey.get(key)
    if (!hook) return []
    if (isOfRun(records.get(key)?.hash, run)) return [{ id, source, would: 'nothing', fields: [] }]
    const why = hook.phase === 'SyncFail' ? 'would run if the sync failed' : `would run as a ${hook.phase} hook`
    return [{ id, source, would: hook.phase === 'SyncFail' ? 'nothing' : 'create', fields: fieldChanges(undefined, object), why }]
  })
  return [...notRun, ...ours]
}

/** Bytes after which others get their turn: what takes a few milliseconds. */
const BREATH = 2 ** 18

async function hiddenIn(
  { commitId, differences, refused, leaving }: Previewed,
  hide: Hiding,
  { searching }: PreviewTools,
  signal: AbortSignal | undefined,
): Promise<Previewed> {
  let sinceBreath = 0
  const pass = async (value: unknown): Promise<void> => {
    const bytes = weightOf(value)
    searching?.(bytes)
    sinceBreath += bytes
    if (sinceBreath < BREATH) return
    sinceBreath = 0
    await breathe()
    signal?.throwIfAborted()
  }
  const told = async <T extends { why?: string }>(entry: T): Promise<T> => {
    if (entry.why === undefined) return entry
    await pass(entry.why)
    return { ...entry, why: hide.text(entry.why) }
  }
  const hidden = async (difference: Difference): Promise<Difference> => {
    const fields: FieldChange[] = []
    for (const change of difference.fields) {
      await pass([change.from, change.to])
      fields.push(hiddenChange(change, hide))
    }
    return told({ ...difference, fields })
  }
  return {
    commitId,
    differences: await eachOf(differences, 1, hidden),
    refused: await eachOf(refused, 1, told),
    leaving: await eachOf(leaving, 1, told),
  }
}

/** An object that is in effect as this commit has it, and differs, was changed in the cluster. */
function drifted({ desired }: Wanted, held: readonly Held[]): (difference: Difference) => Difference {
  const inEffect = byKey(held)
  const known = new Set(desired.filter(({ key, hash }) => inEffect.get(key)?.hash === hash).map(({ key }) => key))
  return (difference) =>
    difference.would === 'change' && known.has(keyOfId(difference.id))
      ? { ...difference, would: 'nothing', why: 'was changed in the cluster, and drift is only told' }
      : difference
}

async function leavingOf(
  { destination, owner, prune = true, guards, confirmed = false }: PreviewRequest,
  { wanted: { keys, rendered }, held, undone }: { wanted: Wanted; held: readonly Held[]; undone: number },
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<Entry[]> {
  const left = held.filter(({ key }) => !keys.has(key))
  if (!prune) return left.map(released)
  if (undone > 0)
    return left.map(({ id }) => ({ id, change: 'waiting', why: 'is deleted when the rest of the commit is in effect' }))
  const { kube } = destination
  const pruning = {
    kube,
    clock,
    owner: owner.id,
    held,
    limits: destination,
    rendered,
    guards: { ...GUARDS, ...guards },
    confirmed,
    signal,
  }
  const { entries } = await assess(left, pruning)
  return left.map(({ id, key }) => entries.get(key) ?? { id, change: 'pruned' })
}

/** Where the new value is secret, the old one was: it may be an earlier value of the same variable. */
function hiddenChange({ path, from, to }: FieldChange, hide: Hiding): FieldChange {
  const [before, after] = [hide.value(from), hide.value(to)]
  const isSecret = !Object.is(before, from) || !Object.is(after, to)
  const shown = (value: unknown, masked: unknown, other: unknown) =>
    value === undefined ? undefined : isSecret && other !== undefined ? '***' : masked
  return { path, from: shown(from, before, to), to: shown(to, after, from) }
}
