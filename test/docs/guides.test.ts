import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { equal, is, ok } from 'uvu/assert'
import { readRecipe } from '../../src/adapters/control-plane/index.ts'
import { readValues } from '../../src/cli/install/values.ts'
import { kubectl } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { documents, movedTo } from '../support/verbs.ts'
import { understood } from './command-lines.ts'
import { blocksOf } from './parts.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const DOCS = join(ROOT, 'docs')
const run = promisify(execFile)

/** The guides, with the least number of objects and of Berth's command lines that each shows. */
const GUIDES = [
  { page: 'targets.md', objects: 12, lines: 2, overlays: 0 },
  { page: 'installation.md', objects: 0, lines: 8, overlays: 1 },
  { page: 'installation-values.md', objects: 0, lines: 0, overlays: 0 },
  { page: 'troubleshooting.md', objects: 0, lines: 20, overlays: 0 },
] as const

/** What is written for kubectl, and no object of the API. */
const isOverlay = (block: string): boolean => block.includes('kind: Kustomization')
/** What is written for `berth install`. */
const isValues = (block: string): boolean => /^image: /m.test(block)
const objectsIn = (text: string) =>
  blocksOf(text, 'yaml')
    .filter((block) => !isOverlay(block) && !isValues(block))
    .flatMap(documents)

/** As kubectl makes it of an overlay that lies beside the clone. */
async function render(overlay: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-overlay-'))
  try {
    const text = overlay.replaceAll('../berth/', `${relative(await realpath(folder), ROOT)}/`)
    await writeFile(join(folder, 'kustomization.yaml'), text)
    return (await run(await kubectl(), ['kustomize', folder])).stdout
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The words in the first column of tables that begin with a reason. */
const reasonsIn = (text: string): string[] =>
  [...text.matchAll(/^\| Reason.*\n((?:\|.*\n)*)/gm)]
    .flatMap(([, rows = '']) => rows.split('\n'))
    .flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`(\w+)`/g)].map(([, word = '']) => word))

describe('the guides', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('help with reasons that there are', () => {
    const told = readFileSync(join(DOCS, 'conditions.md'), 'utf8')
    const helped = reasonsIn(readFileSync(join(DOCS, 'troubleshooting.md'), 'utf8'))
    ok(helped.length > 60, `${helped.length} reasons`)
    equal(
      helped.filter((word) => !told.includes(`| \`${word}\``)),
      [],
    )
  })

  it('name the versions that the control plane of the tests has', () => {
    const { kubernetes, etcd, kwok } = readRecipe()
    const page = readFileSync(join(DOCS, 'compatibility.md'), 'utf8')
    for (const version of [kubernetes, etcd, kwok]) ok(page.includes(` ${version.replace('v', '')} |`), version)
  })

  for (const { page, objects: least, lines, overlays } of GUIDES) {
    const text = readFileSync(join(DOCS, page), 'utf8')

    it(`show objects that the server takes: ${page}`, async () => {
      const namespace = await cluster.namespace('guides')
      const objects = objectsIn(text)
      ok(objects.length >= least, `${objects.length} objects`)
      for (const object of objects) {
        const kind = await cluster.kube.resolve(object.apiVersion, object.kind)
        ok(kind, object.kind)
        const placed = kind?.namespaced ? movedTo(namespace, object) : object
        if (kind) await cluster.kube.apply(kind, placed, { manager: 'docs-test', force: true, dryRun: true })
      }
    })

    it(`show overlays that render, with folders that are there: ${page}`, async () => {
      const found = blocksOf(text, 'yaml').filter(isOverlay)
      is(found.length, overlays)
      for (const overlay of found) {
        const rendered = await render(overlay)
        ok(documents(rendered).length > 50)
        ok(rendered.includes('image: registry.example.com/berth:0.1.0'))
      }
      for (const [, folder = ''] of text.matchAll(/ -k \.\.\/berth([\w/-]*)/g))
        ok(existsSync(join(ROOT, folder, 'kustomization.yaml')), folder)
    })

    it(`show values that \`berth install\` takes: ${page}`, async () => {
      for (const block of blocksOf(text, 'yaml').filter(isValues)) {
        const read = await readValues(ROOT, { name: page, text: block }, {})
        ok('values' in read && read.values.image, JSON.stringify(read))
      }
    })

    it(`show command lines that are understood: ${page}`, async () => {
      const found = await understood(text)
      ok(found >= lines, `${found} command lines`)
    })
  }
})
