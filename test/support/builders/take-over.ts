import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import { type AnyObject, CustomResourceDefinitions, type Kind } from '../../../src/api/index.ts'
import type { ApplyRequest } from '../../../src/engines/gitops/apply/apply.ts'
import { place } from '../../../src/engines/gitops/objects/place.ts'
import { type Difference, differencesOf, type FieldChange, fieldChanges } from '../../../src/engines/gitops/preview/diff.ts'
import { systemClock } from '../../../src/std/index.ts'
import { apply, eventually } from '../verbs.ts'
import { type Applier, applyAmongOthers } from './applier.ts'

export const deployment = (spec: object = {}, pod: object = {}, template: object = {}, metadata: object = {}): AnyObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', ...metadata },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' }, ...template }, spec: { containers: [WEB], ...pod } },
    ...spec,
  },
})
export const WEB = { name: 'web', image: 'web:1' }

/** With what the kinds of the API server have not: sets, and mappings of objects. */
const GROUP = 'take-over.example.com'
export const GADGETS: Kind<AnyObject> = { group: GROUP, version: 'v1', kind: 'Gadget', plural: 'gadgets', namespaced: true }
export const gadget = (spec: object): AnyObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Gadget',
  metadata: { name: 'web' },
  spec,
})
const texts = { type: 'object', additionalProperties: { type: 'string' } }
const gadgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gadgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced' as const,
    names: { kind: 'Gadget', plural: 'gadgets' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  words: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                  places: { type: 'object', additionalProperties: texts },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  nul: { type: 'string', nullable: true, default: 'dflt' },
                  size: { type: 'integer', default: 3 },
                },
              },
            },
          },
        },
      },
    ],
  },
}

export async function serveGadgets(kube: Kube): Promise<void> {
  await apply(kube, gadgetDefinition)
  await eventually(() => kube.resolve(`${GROUP}/v1`, 'Gadget'))
}

export const forgetGadgets = (kube: Kube) => kube.delete(CustomResourceDefinitions, { name: `gadgets.${GROUP}` })

type More = Partial<Parameters<typeof differencesOf>[1]>

/** An object `web` that others have made: what a sync would do with it, and what it does. */
export function webOfOthers(kube: Kube, current: () => { namespace: string; applier: Applier }) {
  const live = (kind: Kind<AnyObject>) => kube.get(kind, { name: 'web', namespace: current().namespace })
  const make = (kind: Kind<AnyObject>, object: AnyObject, manager?: string) => {
    const placed = { ...object, metadata: { ...object.metadata, namespace: current().namespace } }
    if (manager === undefined) return kube.create(kind, placed, { manager: 'kubectl-create' })
    return kube.apply(kind, placed, { manager, force: true })
  }
  const would = async (git: AnyObject, more: More = {}): Promise<Difference | undefined> => {
    const { namespace, applier } = current()
    const { desired } = await place([{ object: git, source: 'a.yaml:1' }], { kube, namespace }, applier.owner)
    const uidOf = (key: string) => applier.held.find((held) => held.key === key)?.uid
    const [difference] = await differencesOf(desired, { kube, owner: applier.owner.id, clock: systemClock, uidOf, ...more })
    return difference
  }
  /** What the sync has changed then. */
  const done = async (kind: Kind<AnyObject>, git: AnyObject, more: Partial<ApplyRequest> = {}) => {
    const before = await live(kind)
    const entries = await applyAmongOthers(current().applier, [git], more)
    assert.equal(
      entries.map(({ why }) => why),
      [undefined],
    )
    return fieldChanges(before, await live(kind))
  }
  return { live, make, would, done }
}

/** A controller numbers the revisions at its own pace. */
export const told = (changes: readonly FieldChange[] = []) =>
  changes
    .filter(({ path }) => path !== '/metadata/annotations/deployment.kubernetes.io~1revision')
    .map(({ path, from, to }) => `${path}: ${from} -> ${to}`)
    .sort()
