import { execFile } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { acquireTools } from '../src/adapters/control-plane/index.ts'
import { testCluster } from './support/control-plane.ts'
import { describe } from './support/suite.ts'
import { documents, movedTo } from './support/verbs.ts'

const ROOT = join(import.meta.dirname, '..')
const EXAMPLES = join(ROOT, 'examples')

/** Files of a kustomization mean something only together: those are rendered, not taken one by one. */
function isPartOfKustomization(file: string): boolean {
  for (let folder = dirname(file); folder !== EXAMPLES; folder = dirname(folder)) {
    if (existsSync(join(folder, 'kustomization.yaml'))) return true
  }
  return false
}

describe('the examples', (it) => {
  const cluster = testCluster()
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('examples')
  })
  it.after(() => cluster.close())

  /** What the server would make of it, without making it. Objects move to a namespace that exists. */
  const tryOut = async (text: string, from: string) => {
    for (const object of documents(text)) {
      const kind = await cluster.kube.resolve(object.apiVersion, object.kind)
      assert.ok(kind, `${from}: the server does not serve ${object.apiVersion} ${object.kind}`)
      if (!kind) continue
      const placed = kind.namespaced ? movedTo(namespace, object) : object
      await cluster.kube.apply(kind, placed, { manager: 'examples-test', force: true, dryRun: true })
    }
  }

  const rendered = async (folder: string): Promise<string> => {
    const { paths } = await acquireTools({ env: process.env, wanted: ['kubectl'] })
    const { stdout } = await promisify(execFile)(paths.kubectl ?? 'kubectl', ['kustomize', folder])
    return stdout
  }

  it('are accepted by the API server, each file', async () => {
    const files = globSync('**/*.yaml', { cwd: EXAMPLES })
      .map((file) => join(EXAMPLES, file))
      .filter((file) => !isPartOfKustomization(file))
    assert.ok(files.length >= 7)
    for (const file of files) await tryOut(readFileSync(file, 'utf8'), file)
  })

  it('are accepted as the tour pushes them, first and second commit', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'berth-examples-'))
    try {
      cpSync(join(EXAMPLES, 'tour', 'shop'), folder, { recursive: true })
      const overlay = join(folder, 'overlays', 'development')
      const first = await rendered(overlay)
      await tryOut(first, 'first commit')
      cpSync(join(EXAMPLES, 'tour', 'shop-second-commit'), folder, { recursive: true })
      const second = await rendered(overlay)
      await tryOut(second, 'second commit')
      assert.is(documents(first).length - documents(second).length, 1)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
