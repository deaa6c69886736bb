import { type AnyObject, type GitOpsDeployment, GitOpsDeployments, type KubeObject } from '../../../src/api/index.ts'
import { pause, seconds, systemClock } from '../../../src/std/index.ts'
import { print } from '../figures.ts'
import { requestsIn } from '../program.ts'
import { footprintOf, until } from '../waiting.ts'
import { fileOf, numbered } from './manifests.ts'
import type { Setup } from './setup.ts'
import { createSyncs, floorOf, inEffect, makeTenants, mayDoEverything, syncOf } from './syncs.ts'

const NAMESPACE = 'crs'

/** A CRD and very many of its resources in one commit: nothing may look wrong at any time, in the status or in an Event. */
export async function crs(setup: Setup, count: number): Promise<void> {
  const { user, kubeconfig, kas } = setup
  const spaces = [NAMESPACE, 'floor']
  await makeTenants(user, spaces)
  for (const name of spaces) await mayDoEverything(user, name)
  const resources = Array.from({ length: count }, (_, n) => resource('sync.example.com', numbered('gadget', n)))
  const commit = await setup.publish([
    ['deploy/crd.yaml', fileOf(definition('sync.example.com'))],
    ...resources.map((object): [string, string] => [`deploy/${object.metadata.name}.yaml`, fileOf(object)]),
  ])
  const floor = await floorWithDefinition(kubeconfig, count)
  await pause(systemClock, seconds(5))

  const operator = await setup.startOperator()
  const syncs = setup.caches.of(GitOpsDeployments)
  await setup.caches.ready()
  const told = new Set<string>()
  const end = syncs.onChange((now) => {
    for (const sentence of now ? troublesIn(now) : []) told.add(sentence)
  })
  const before = requestsIn(await operator.figures())
  const began = performance.now()
  await createSyncs(setup, [syncOf(setup, { namespace: NAMESPACE, path: 'deploy' })])
  await until(syncs, () => inEffect(syncs, commit) === 1, 'the sync is Ready')
  const took = performance.now() - began
  end()
  for (const warning of await warningsIn(setup)) told.add(warning)
  print(`a CRD and ${count} of its resources`, {
    'wall s': took / 1000,
    'floor s': floor / 1000,
    ratio: took / floor,
    'requests per object': (requestsIn(await operator.figures()) - before) / (count + 1),
    'errors told': told.size,
    ...(await footprintOf([operator, kas])),
  })
  for (const sentence of told) print('  told', { error: sentence.slice(0, 300) })
}

/** With what a loop has to wait for: the server serves the kind a moment after its definition. */
async function floorWithDefinition(kubeconfig: string, count: number): Promise<number> {
  const group = 'floor.example.com'
  const began = performance.now()
  await floorOf(kubeconfig, [{ object: definition(group), namespace: 'floor' }])
  const resources = Array.from({ length: count }, (_, n) => resource(group, numbered('gadget', n)))
  const [first, ...others] = resources.map((object) => ({ object, namespace: 'floor' }))
  for (let isServed = false; first && !isServed; ) {
    isServed = await floorOf(kubeconfig, [first]).then(
      () => true,
      () => false,
    )
    if (!isServed) await pause(systemClock, 20)
  }
  await floorOf(kubeconfig, others)
  return performance.now() - began
}

function troublesIn({ status }: GitOpsDeployment): string[] {
  const conditions = status?.conditions ?? []
  const errors = conditions.filter(({ type, status: is }) => (type === 'SyncError' || type === 'ErrorOccurred') && is === 'True')
  const sick = status?.health?.status === 'Degraded' ? [`health: ${status.health.message ?? ''}`] : []
  return [...errors.map(({ reason, message }) => `${reason}: ${message}`), ...sick]
}

interface Told extends KubeObject {
  type?: string
  reason?: string
  message?: string
}

async function warningsIn({ user }: Setup): Promise<string[]> {
  const { items } = await user.read<{ items: Told[] }>(`/api/v1/namespaces/${NAMESPACE}/events`)
  return items.filter(({ type }) => type === 'Warning').map(({ reason, message }) => `Event ${reason}: ${message}`)
}

const definition = (group: string): AnyObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gadgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: 'Gadget', listKind: 'GadgetList', plural: 'gadgets', singular: 'gadget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: SCHEMA } }],
  },
})

const SCHEMA = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { size: { type: 'integer' }, colour: { type: 'string' }, filler: { type: 'string' } } },
  },
}

const resource = (group: string, name: string): AnyObject => ({
  apiVersion: `${group}/v1`,
  kind: 'Gadget',
  metadata: { name },
  spec: { size: 3, colour: 'green', filler: 'x'.repeat(80) },
})
