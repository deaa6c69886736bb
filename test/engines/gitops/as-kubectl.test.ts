import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import type { KubeObject } from '../../../src/api/index.ts'
import { type Inventory, type InventoryStore, sync } from '../../../src/engines/gitops/index.ts'
import { createRenderer, type Render } from '../../../src/engines/render/index.ts'
import { systemClock } from '../../../src/std/index.ts'
import { kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'

const secret = (fields: string) => `apiVersion: v1\nkind: Secret\nmetadata: {name: w}\n${fields}\n`

/** Manifests of an object "w" that arrive by a sync as they do by kubectl. */
const ARRIVES: [why: string, path: string, text: string][] = [
  ['texts in stringData', 'secrets', secret('stringData: {a: "0123", b: "", c: "null", d: "1e3"}')],
  ['nothing in stringData', 'secrets', secret('stringData:\n  a:\n  b: ~\n  c: null\ndata: {d: eA==}')],
  ['no stringData', 'secrets', secret('stringData:\ndata: {a: eA==}')],
  ['stringData over nothing in data', 'secrets', secret('stringData: {a: x}\ndata:')],
]

describe('manifests as kubectl sends them', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let render: Render
  let folder = ''
  let program = ''
  it.before(async () => {
    program = await kubectl()
    render = createRenderer({ kubectl: program })
    folder = await mkdtemp(join(tmpdir(), 'berth-as-kubectl-'))
  })
  it.after(async () => {
    await rm(folder, { recursive: true })
    await cluster.close()
  })

  const byKubectl = async (namespace: string, text: string) => {
    const file = join(folder, `${namespace}.yaml`)
    await writeFile(file, text)
    await promisify(execFile)(program, ['--kubeconfig', cluster.kubeconfig, '-n', namespace, 'create', '-f', file])
  }
  const bySync = async (namespace: string, text: string) => {
    let held: Inventory | undefined
    const inventory: InventoryStore = {
      load: async () => held,
      save: async (next) => {
        held = next
      },
    }
    const owner = { id: randomUUID(), title: 'Test team-a/shop' }
    const request = { snapshot: snapshot({ 'a.yaml': text }), path: '.', destination: { kube, namespace }, owner, inventory }
    const { entries } = await sync(request, { render, clock: systemClock })
    assert.equal(
      entries.map(({ change, why }) => why ?? change),
      entries.map(() => 'created'),
    )
  }
  /** All that the server keeps of it, but for what it says of every object. */
  const contentOf = async (namespace: string, path: string) => {
    const at = path.includes('/')
      ? `/apis/${path.replace(/\/(?=[^/]+$)/, `/namespaces/${namespace}/`)}`
      : `/api/v1/namespaces/${namespace}/${path}`
    const { metadata: _, ...content } = await kube.read<KubeObject>(`${at}/w`)
    return content
  }

  for (const [why, path, text] of ARRIVES)
    it(`arrive with ${why}`, async () => {
      const [one, other] = [await cluster.namespace('kubectl'), await cluster.namespace('sync')]
      await byKubectl(one, text)
      await bySync(other, text)
      assert.equal(await contentOf(other, path), await contentOf(one, path))
    })
})
