import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import type { KubeObject } from '../../../src/api/index.ts'
import { sync } from '../../../src/engines/gitops/index.ts'
import { createRenderer, type Render } from '../../../src/engines/render/index.ts'
import { systemClock } from '../../../src/std/index.ts'
import { inMemory } from '../../support/builders/inventory.ts'
import { kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'

const secret = (fields: string) => `apiVersion: v1\nkind: Secret\nmetadata: {name: w}\n${fields}\n`

/** An object that may hold anything. */
const revision = (data: string) =>
  `apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: w}\nrevision: 1\ndata: ${data}\n`
const CORE = 'api/v1'
const APPS = 'apis/apps/v1'

/** Manifests of an object "w" that arrive by a sync as they do by kubectl. */
const ARRIVES: [why: string, path: string, text: string][] = [
  ['texts in stringData', `${CORE}/NS/secrets`, secret('stringData: {a: "0123", b: "", c: "null", d: "1e3"}')],
  ['nothing in stringData', `${CORE}/NS/secrets`, secret('stringData:\n  a:\n  b: ~\n  c: null\ndata: {d: eA==}')],
  ['no stringData', `${CORE}/NS/secrets`, secret('stringData:\ndata: {a: eA==}')],
  ['stringData over nothing in data', `${CORE}/NS/secrets`, secret('stringData: {a: x}\ndata:')],
  [
    'nothing in a ConfigMap',
    `${CORE}/NS/configmaps`,
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: w}\ndata: {a: , b: ""}\n',
  ],
  [
    'numbers in many spellings',
    `${APPS}/NS/controllerrevisions`,
    revision(
      '{a: [0o17, 0O17, 017, 0x1F, 0X1F, 0b11, 0B11, 1_000, 08, 1e3, .5, 9007199254740992, 1e20, 0o8, 0x, ., e5, -e5, E12, .e5, ._5, -._5, 1.e5, 1e_5, 5_.]}',
    ),
  ],
  [
    'words, dates and keys that are none',
    `${APPS}/NS/controllerrevisions`,
    revision(
      '{a: [yes, off, y, 2024-01-01, 1:20, "\\U0001F600", !!str 5, !!int "0o17"], 1: a, 0x10: b, 1.5: c, on: d, 9007199254740993: e}',
    ),
  ],
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
    const owner = { id: randomUUID(), title: 'Test team-a/shop' }
    const request = {
      snapshot: snapshot({ 'a.yaml': text }),
      path: '.',
      destination: { kube, namespace },
      owner,
      inventory: inMemory(),
    }
    const { entries } = await sync(request, { render, clock: systemClock })
    assert.equal(
      entries.map(({ change, why }) => why ?? change),
      entries.map(() => 'created'),
    )
  }
  /** All that the server keeps of it, but for what it says of every object. */
  const contentOf = async (namespace: string, path: string) => {
    const { metadata: _, ...content } = await kube.read<KubeObject>(`/${path.replace('NS', `namespaces/${namespace}`)}/w`)
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
