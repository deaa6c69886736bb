import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { equal, is, ok } from 'uvu/assert'
import { parse } from 'yaml'
import { parseConfigurationFile } from '../../src/agentcfg/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { documents, movedTo } from '../support/verbs.ts'
import { understood } from './command-lines.ts'
import { blocksOf } from './parts.ts'

const DOCS = join(import.meta.dirname, '..', '..', 'docs')
const text = readFileSync(join(DOCS, 'agents.md'), 'utf8')
const blocks = blocksOf(text, 'yaml')
const objects = blocks.filter((block) => block.startsWith('apiVersion')).flatMap(documents)
const files = blocks.filter((block) => !block.startsWith('apiVersion'))

describe('the page about agents', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('shows objects that the server takes', async () => {
    const namespace = await cluster.namespace('docs')
    is(objects.length, 4)
    for (const object of objects) {
      const kind = await cluster.kube.resolve(object.apiVersion, object.kind)
      ok(kind, object.kind)
      const placed = kind?.namespaced ? movedTo(namespace, object) : object
      if (kind) await cluster.kube.apply(kind, placed, { manager: 'docs-test', force: true, dryRun: true })
    }
  })

  it('shows a configuration without a mistake, and names every section of it', () => {
    is(files.length, 1)
    const [file = ''] = files
    equal(parseConfigurationFile(Buffer.from(file), 'team-a/config').mistakes, undefined)
    equal(Object.keys(parse(file)), ['gitops', 'observability', 'user_access', 'ci_access'])
  })

  it('shows command lines that are understood', async () => {
    ok((await understood(text)) >= 8)
  })

  it('links to what is there', () => {
    const links = [...text.matchAll(/\]\(([^)#]+)\)/g)].map(([, to = '']) => to)
    ok(links.length > 2)
    for (const to of links) ok(existsSync(join(DOCS, to)), to)
  })
})
