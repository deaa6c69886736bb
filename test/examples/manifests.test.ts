import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { acquireTools } from '../../src/adapters/control-plane/index.ts'
import { isFailure } from '../../src/std/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { documents, movedTo } from '../support/verbs.ts'

const ROOT = join(import.meta.dirname, '../..')

const folders = globSync('examples/**/kustomization.yaml', { cwd: ROOT }).map((file) => dirname(file))

/** Files below a kustomization are pieces: a base may lack what its overlays add. */
const isPiece = (file: string): boolean => folders.some((folder) => file.startsWith(`${folder}/`))
const isBase = (folder: string): boolean => folder.endsWith('/base')

/** A folder `x-second-commit` holds what a second commit changes in `x`: it is laid over it, as Git would. */
async function render(folder: string): Promise<string> {
  const tree = mkdtempSync(join(tmpdir(), 'berth-example-'))
  try {
    const first = folder.replace(/-second-commit(?=\/|$)/, '')
    for (const layer of new Set([first, folder])) copy(repositoryOf(layer), tree)
    const tools = await acquireTools({ env: process.env, wanted: ['kubectl'] })
    const inner = folder.slice(repositoryOf(folder).length)
    const rendered = execFileSync(tools.paths.kubectl ?? 'kubectl', ['kustomize', join(tree, inner)], { encoding: 'utf8' })
    return rendered.replaceAll(/\$\{(?:branch|host)\}/g, 'a.variable')
  } finally {
    rmSync(tree, { recursive: true })
  }
}

/** `examples/tour/shop` of `examples/tour/shop/overlays/development`. */
const repositoryOf = (folder: string): string => folder.split('/').slice(0, 3).join('/')
const copy = (from: string, to: string): void => cpSync(join(ROOT, from), to, { recursive: true })

describe('the examples', (it) => {
  const cluster = testCluster()
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('examples')
  })
  it.after(() => cluster.close())
  const files = globSync('examples/**/*.yaml', { cwd: ROOT }).sort()
  const plain = files.filter((file) => !isPiece(file))

  it('are there', () => assert.ok(files.length > 0))
  for (const file of plain) {
    it(`are accepted by the API server: ${file}`, async () => {
      for (const object of documents(readFileSync(join(ROOT, file), 'utf8'))) await rehearse(object)
    })
  }

  for (const folder of folders.filter((path) => !isBase(path)).sort()) {
    it(`are accepted as kustomize renders them: ${folder}`, async () => {
      for (const object of documents(await render(folder))) await rehearse(object)
    })
  }

  /** A dry run in a namespace of our own, since those of the examples may not be there yet. */
  async function rehearse(object: ReturnType<typeof documents>[number]): Promise<void> {
    const kind = await cluster.kube.resolve(object.apiVersion, object.kind)
    assert.ok(kind, `the server does not serve ${object.apiVersion} ${object.kind}`)
    const placed = kind.namespaced ? movedTo(namespace, object) : object
    const tried = await cluster.kube
      .apply(kind, placed, { manager: 'test', force: true, dryRun: true })
      .catch((thrown: unknown) => thrown)
    assert.not.ok(isFailure(tried), isFailure(tried) ? tried.message : '')
  }
})
