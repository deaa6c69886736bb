import { randomUUID } from 'node:crypto'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import { type ApplyRequest, apply } from '../../../src/engines/gitops/apply/apply.ts'
import { exact, type Held, superset } from '../../../src/engines/gitops/inventory/inventory.ts'
import type { Entry } from '../../../src/engines/gitops/objects/change-set.ts'
import { type Owner, place } from '../../../src/engines/gitops/objects/place.ts'
import type { Manifest } from '../../../src/engines/render/manifest.ts'
import { isFailure, systemClock } from '../../../src/std/index.ts'
import { eventually } from '../verbs.ts'

export interface Applier {
  readonly owner: Owner
  readonly held: readonly Held[]
  /** Places and applies a set as a sync does, all of it, and remembers what it holds from then on. */
  apply(objects: object[], more?: Partial<ApplyRequest>): Promise<Entry[]>
}

/** The part of a sync between rendering and pruning, with its memory. */
export function createApplier(kube: Kube, namespace: string, title = 'Test team-a/shop'): Applier {
  const owner = { id: randomUUID(), title }
  let held: readonly Held[] = []
  return {
    owner,
    get held() {
      return held
    },
    async apply(objects, more = {}) {
      const manifests = objects.map((object, index): Manifest => ({ object: manifestOf(object), source: `${index}.yaml:1` }))
      const { desired, refused, waves } = await place(manifests, { kube: more.kube ?? kube, namespace }, owner)
      const before = superset(held, desired)
      const entries = await apply(desired, { kube, clock: systemClock, owner: owner.id, held: before, refused, waves, ...more })
      held = exact(before, desired, entries)
      return [...refused, ...entries]
    },
  }
}

const manifestOf = (object: object): Manifest['object'] => ({ apiVersion: '', kind: '', metadata: { name: '' }, ...object })

/** As reconciles do it: once more where a controller has written at the same moment. */
export const applyAmongOthers = ({ apply: applyOnce }: Applier, ...what: Parameters<Applier['apply']>): Promise<Entry[]> =>
  eventually(async () => {
    const entries = await applyOnce(...what)
    return entries.every(({ failure }) => !isFailure(failure, 'conflict')) && entries
  })

/** `ConfigMap a created`, in the order in which it happened. */
export const said = (entries: readonly Entry[]): string[] => entries.map(({ id, change }) => `${id.kind} ${id.name} ${change}`)

export const whyOf = (entries: readonly Entry[], name: string): string => entries.find(({ id }) => id.name === name)?.why ?? ''

export const named = (kind: string, name: string, more: Record<string, unknown> = {}, apiVersion = 'v1') => ({
  apiVersion,
  kind,
  metadata: { name },
  ...more,
})
