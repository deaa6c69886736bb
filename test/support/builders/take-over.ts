import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import { type AnyObject, CustomResourceDefinitions, type Kind } from '../../../src/api/index.ts'
import type { ApplyRequest } from '../../../src/engines/gitops/apply/apply.ts'
import { place } from '../../../src/engines/gitops/objects/place.ts'
import { type Difference, differencesOf, type FieldChange, fieldChanges } from '../../../src/engines/gitops/preview/diff.ts'
import { systemClock } from '../../../src/std/index.ts'
import { testCluster } from '../control-plane.ts'
import type { It } from '../suite.ts'
import { apply, eventually } from '../verbs.ts'
import { type Applier, applyAmongOthers, createApplier } from './applier.ts'

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

const texts = { type: 'object', additionalProperties: { type: 'string' } }
const openAPIV3Schema = {
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
}

/** A kind with what those of the API server have not: sets, mappings of objects, and keys that no schema names. Each file has its own. */
export function createGadgets() {
  const group = `x${randomUUID().slice(0, 8)}.example.com`
  const [name, apiVersion, plural] = ['web', `${group}/v1`, 'gadgets']
  const kind: Kind<AnyObject> = { group, version: 'v1', kind: 'Gadget', plural, namespaced: true }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
  }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
  return {
    kind,
    gadget: (spec: object): AnyObject => ({ apiVersion, kind: 'Gadget', metadata: { name }, spec }),
    async serve(kube: Kube): Promise<void> {
      const spec = { group, scope: 'Namespaced', names: { kind: 'Gadget', plural }, versions }
      const whole = { ...definition, spec }
      await apply(kube, whole)
      await eventually(() => kube.resolve(apiVersion, 'Gadget'))
    },
    forget: (kube: Kube) => kube.delete(CustomResourceDefinitions, definition.metadata),
  }
}

/** Objects of others in a namespace of each test, beside the kind of the file: what `webOfOthers` gives, and where it does. */
export function takeOverStage(
  it: It,
  hint: string,
  { serve, forget }: Pick<ReturnType<typeof createGadgets>, 'serve' | 'forget'>,
) {
  const { kube, kubeconfig, ...cluster } = testCluster()
  let namespace = ''
  let applier: Applier
  it.before(() => serve(kube))
  it.beforeEach(async () => {
    namespace = await cluster.namespace(hint)
    applier = createApplier(kube, namespace)
  })
  it.after(async () => {
    await forget(kube)
    await cluster.close()
  })
  return {
    kube,
    kubeconfig,
    ...webOfOthers(kube, () => ({ namespace, applier })),
    get namespace() {
      return namespace
    },
    get applier() {
      return applier
    },
  }
}

type More = Partial<Parameters<typeof differencesOf>[1]>

/** An object `web` that others have made: what a sync would do with it, and what it does. */
function webOfOthers(kube: Kube, current: () => { namespace: string; applier: Applier }) {
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
