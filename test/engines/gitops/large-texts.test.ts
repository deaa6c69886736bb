import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { type Inventory, type InventoryStore, sync } from '../../../src/engines/gitops/index.ts'
import { createRenderer, type Render } from '../../../src/engines/render/index.ts'
import { Failure, systemClock } from '../../../src/std/index.ts'
import { configMap, kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { effort } from '../../support/effort.ts'
import { describe } from '../../support/suite.ts'

const failureOf = async (work: Promise<unknown>): Promise<Failure> => {
  try {
    await work
  } catch (thrown) {
    return Failure.from(thrown)
  }
  throw new Failure('internal', 'it did not fail')
}

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large}\n'
const keys = (count: number) => `${head}data:\n${Array.from({ length: count }, (_, at) => `  k${at}: v\n`).join('')}`
const list = (count: number) => `${head}x: [${'a,'.repeat(count)}a]\n`
const aliases = (at: number) => Array.from({ length: 9 }, () => `*a${at}`).join(', ')
const BOMB = `${head}a0: &a0 [x, x]\n${Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${aliases(at)}]`).join('\n')}\n`

const REFUSED: [why: string, text: string, reason: string, said: RegExp][] = [
  [
    'a list of half a million',
    list(2 ** 19),
    'DocumentTooLarge',
    /^commit [0-9a-f]{12}: w\.yaml:4:\d+: The document consists of more than 300000 words/,
  ],
  [
    'a document of 3.9 MiB',
    list(3.9 * 2 ** 19),
    'DocumentTooLarge',
    /^commit [0-9a-f]{12}: w\.yaml:1:1: The document is larger than 2097152 char/,
  ],
  [
    'a file of 5 MiB',
    `${head}data: {x: ${'y'.repeat(5 * 2 ** 20)}}\n`,
    'FileTooLarge',
    /^commit [0-9a-f]{12}: w\.yaml: is larger than 4194304 bytes/,
  ],
  [
    'nesting without end',
    `${head}x: ${'['.repeat(100_000)}\n`,
    'DocumentTooLarge',
    /^commit [0-9a-f]{12}: w\.yaml:4:\d+: The document is nested more/,
  ],
  [
    'aliases of aliases',
    BOMB,
    'DocumentTooLarge',
    /^commit [0-9a-f]{12}: w\.yaml:\d+:\d+: An alias leads nowhere or expands to too much/,
  ],
]

describe('large texts', (it) => {
  const cluster = testCluster()
  let render: Render
  let namespace = ''
  const empty = (): Inventory => ({ server: cluster.kube.server, held: [] })
  let held = empty()
  const inventory: InventoryStore = {
    load: async () => held,
    save: async (next) => {
      held = next
    },
  }

  it.before(async () => {
    render = createRenderer({ kubectl: await kubectl() })
    namespace = await cluster.namespace('large')
  })
  it.after(() => cluster.close())

  /** How often others had their turn until it was done. */
  const turnsDuring = async (work: Promise<unknown>): Promise<number> => {
    let isDone = false
    let turns = 0
    const done = work.finally(() => {
      isDone = true
    })
    while (!isDone) {
      await turn()
      turns++
    }
    await done
    return turns
  }

  it('of many keys are read while everything else goes on', async () => {
    for (const count of [10_000, 31_000]) {
      const files = snapshot({ 'w.yaml': keys(count) })
      const spent = effort()
      assert.ok((await turnsDuring(render(files, '.'))) > 20)
      assert.ok(spent() < 20_000, `${count} keys: ${spent()} ms`)
      const [manifest] = await render(files, '.')
      assert.is(Object.keys(manifest?.object.data ?? {}).length, count)
    }
  })

  it('that kustomize writes are read as well', async () => {
    const files = { 'kustomization.yaml': 'resources: [w.yaml]\n', 'w.yaml': keys(5000) }
    const turns = await turnsDuring(render(snapshot(files), '.'))
    assert.ok(turns > 20, `${turns} turns`)
  })

  for (const [why, text, reason, said] of REFUSED)
    it(`end the sync with a word, and nothing is deleted: ${why}`, async () => {
      const owner = { id: randomUUID(), title: 'Test team-a/large' }
      const run = (files: Record<string, string | object>) =>
        sync(
          { snapshot: snapshot(files), path: '.', destination: { kube: cluster.kube, namespace }, owner, inventory },
          { render, clock: systemClock },
        )
      held = empty()
      await run({ 'a.yaml': configMap(`a-${owner.id}`) })
      const before = held
      const failure = await failureOf(run({ 'w.yaml': text }))
      assert.is(failure.reason, reason, failure.message)
      assert.match(failure.message, said)
      assert.is(held, before)
    })

  it('are no kustomizations', async () => {
    const large = `# ${'x'.repeat(2 ** 18)}\nresources: []\n`
    const failure = await failureOf(render(snapshot({ 'k/kustomization.yaml': large }), 'k'))
    assert.match(failure.message, /^k\/kustomization\.yaml: is larger than 262144 bytes/)
    const nested = `resources: ${'['.repeat(10_000)}`
    assert.match((await failureOf(render(snapshot({ 'kustomization.yaml': nested }), '.'))).message, /nested more than 200 deep/)
  })

  it('in place of a variable stay texts', async () => {
    const variables = { values: new Map([['x', '['.repeat(20_000)]]), strict: true }
    const files = snapshot({ 'a.yaml': configMapWith('${x}') })
    const owner = { id: randomUUID(), title: 'Test team-a/large' }
    held = empty()
    const request = { snapshot: files, path: '.', destination: { kube: cluster.kube, namespace }, owner, inventory, variables }
    const { entries } = await sync(request, { render, clock: systemClock })
    assert.is(entries[0]?.change, 'created')
  })

  it('names that no file system takes are refused, and say so', async () => {
    const name = `${'n'.repeat(256)}.yaml`
    const failure = await failureOf(render(snapshot({ 'kustomization.yaml': 'resources: []\n', [name]: configMap('a') }), '.'))
    assert.is(failure.code, 'invalid')
    assert.match(failure.message, /^n{100}…: is longer than a file's name may be/)
    const plain = await render(snapshot({ [name]: configMap('a') }), '.')
    assert.is(plain.length, 1)
  })
})

const configMapWith = (value: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: with-variable}\ndata:\n  filled: ${value}\n`
