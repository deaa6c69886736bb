import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { equal, is, ok } from 'uvu/assert'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { documents } from '../support/verbs.ts'
import { understood } from './command-lines.ts'
import { blocksOf } from './parts.ts'

const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'workspaces.md'), 'utf8')
const blocks = blocksOf(text, 'yaml')
const crd = (plural: string) => readFileSync(join(import.meta.dirname, '..', '..', 'crds', `berth.dev_${plural}.yaml`), 'utf8')

describe('the page about workspaces', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('shows objects that the server takes', async () => {
    const namespace = await cluster.namespace('docs')
    const objects = blocks.flatMap(documents)
    is(objects.length, 2)
    for (const object of objects) {
      const kind = await cluster.kube.resolve(object.apiVersion, object.kind)
      ok(kind, object.kind)
      const metadata = kind?.namespaced ? { ...object.metadata, namespace } : object.metadata
      if (kind) await cluster.kube.apply(kind, { ...object, metadata }, { manager: 'docs-test', force: true, dryRun: true })
    }
  })

  it('shows command lines that are understood', async () => {
    const lines = await understood(text)
    ok(lines >= 9, `${lines} command lines`)
  })

  it('gives the defaults that the class has', () => {
    const rows = [...text.matchAll(/^\| .* \| `([\w.]+)` \((\d+)/gm)].map(([, field = '', value]) => [
      field.split('.').at(-1),
      value,
    ])
    equal(rows.length, 4)
    for (const [field, value] of rows)
      ok(
        new RegExp(`${field}:\\n(?: +\\w+: .*\\n)*? +default: ${value}\\n`).test(crd('workspaceclasses')),
        `${field} is ${value}`,
      )
  })

  it('explains each state', () => {
    const [, states = ''] = /enum: \[(CreationRequested[^\]]+)\]/.exec(crd('workspaces')) ?? []
    for (const state of states.split(', ').filter((word) => word !== 'RestartRequested')) ok(text.includes(state), state)
  })
})
