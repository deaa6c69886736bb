import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { equal, ok } from 'uvu/assert'
import { staleSpecPages } from '../../hack/verify-spec-docs.ts'
import { nameOf } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { documents, movedTo } from '../support/verbs.ts'

const folder = join(import.meta.dirname, '../../docs/spec/v1')
const pages = readdirSync(folder).filter((name) => name.endsWith('.md'))
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
const examplesIn = (name: string) =>
  [...read(name).matchAll(/^```yaml\n(.*?)^```$/gms)].flatMap(([, text = '']) =>
    text.includes('apiVersion:') ? documents(text) : [],
  )

describe('the pages of docs/spec/v1', (it) => {
  const cluster = testCluster()
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('pages')
  })
  it.after(() => cluster.close())

  it('list the fields as the CRDs have them', () => equal(staleSpecPages(), []))

  for (const name of pages) {
    it(`${name}: links to pages that exist`, () => {
      const links = [...read(name).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link)
      equal(
        links.filter((link) => !existsSync(join(folder, link))),
        [],
      )
    })
    it(`${name}: shows what the API server takes`, async () => {
      for (const object of examplesIn(name)) {
        const kind = await cluster.kube.resolve(object.apiVersion, object.kind)
        ok(kind, `${nameOf(object)} is of a kind that nobody serves`)
        if (!kind) continue
        // Under a name of its own: the shared cluster may have the example already.
        const placed = kind.namespaced
          ? movedTo(namespace, object)
          : { ...object, metadata: { ...object.metadata, name: namespace } }
        await cluster.kube.apply(kind, placed, { manager: 'pages', dryRun: true })
      }
    })
  }
})
