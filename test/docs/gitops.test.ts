import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { dependenciesOf, unknownWish, waveOf, wishesOf } from '../../src/engines/gitops/objects/annotations.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { documents, movedTo } from '../support/verbs.ts'
import { understood } from './command-lines.ts'
import { blocksOf } from './parts.ts'

const DOCS = join(import.meta.dirname, '..', '..', 'docs')
const text = readFileSync(join(DOCS, 'gitops.md'), 'utf8')
const blocks = (language: string) => blocksOf(text, language)

describe('the page about GitOps', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('shows objects that the server takes, with the fields they have', async () => {
    const namespace = await cluster.namespace('docs')
    const objects = blocks('yaml').flatMap(documents)
    assert.ok(objects.length >= 8)
    for (const object of objects) {
      const kind = await cluster.kube.resolve(object.apiVersion, object.kind)
      assert.ok(kind, object.kind)
      if (!kind) continue
      await cluster.kube.apply(kind, movedTo(namespace, object), { manager: 'docs-test', force: true, dryRun: true })
    }
  })

  it('shows command lines that are understood', async () => {
    assert.ok((await understood(text)) >= 10)
  })

  it('lists annotations that mean something, with values that are known', () => {
    const rows = [...text.matchAll(/^\| `(gitops\.berth\.dev\/[a-z-]+)` \| `([^`]+)` \|/gm)]
    assert.is(rows.length, 11)
    for (const [, annotation = '', value = ''] of rows) {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', annotations: { [annotation]: value } } }
      const plainly = { ...object, metadata: { name: 'a' } }
      const asks = JSON.stringify(wishesOf(object)) !== JSON.stringify(wishesOf(plainly))
      const says = asks || dependenciesOf(object).ids.length > 0 || waveOf(object) !== 0
      assert.ok(says, annotation)
      assert.is(unknownWish(object), undefined)
      assert.is(dependenciesOf(object).problem, undefined)
    }
  })

  it('links to what is there', () => {
    const links = [...text.matchAll(/\]\(([^)#]+)\)/g)].map(([, to = '']) => to)
    assert.ok(links.length > 2)
    for (const to of links) assert.ok(existsSync(join(DOCS, to)), to)
  })
})
