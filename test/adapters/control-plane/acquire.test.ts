import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { acquireTools, findSources, type Recipe, readRecipe, TOOLS } from '../../../src/adapters/control-plane/index.ts'
import { isFailure } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

const HALF = ['etcd', 'kube-apiserver', 'kubectl']

describe('control plane programs', (it) => {
  const home = mkdtempSync(join(tmpdir(), 'berth-acquire-'))
  const lines: string[] = []
  const report = { line: (text: string) => void lines.push(text), progress: () => undefined }
  const cacheOf = (name: string) => join(home, name, 'berth', 'control-plane')
  it.beforeEach(() => void lines.splice(0))
  it.after(() => rmSync(home, { recursive: true }))

  it('have a cache key that is made of the bytes of go.mod and go.sum', () => {
    const { folder, digest, kubernetes } = readRecipe()
    const bytes = ['go.mod', 'go.sum'].map((name) => readFileSync(join(folder, name)))
    assert.is(digest, createHash('sha256').update(Buffer.concat(bytes)).digest('hex').slice(0, 16))
    assert.match(kubernetes, /^v1\.\d+\.\d+$/)
  })

  it('come from KUBEBUILDER_ASSETS when all are there', async () => {
    const folder = fakes(join(home, 'assets'), TOOLS)
    const tools = await acquireTools({ env: { HOME: home, KUBEBUILDER_ASSETS: folder }, report })
    assert.equal(tools.missing, [])
    assert.equal(lines, ['Control plane programs from KUBEBUILDER_ASSETS.'])
  })

  it('come from the cache when KUBEBUILDER_ASSETS has only half of them, and it says so', async () => {
    const assets = fakes(join(home, 'half'), HALF)
    const folder = fakes(join(cacheOf('cached'), readRecipe().digest), TOOLS)
    const tools = await acquireTools({ env: { XDG_CACHE_HOME: join(home, 'cached'), KUBEBUILDER_ASSETS: assets }, report })
    assert.is(tools.paths.kwok, join(folder, 'kwok'))
    assert.match(lines[0] ?? '', /from the cache \(KUBEBUILDER_ASSETS: has no kube-controller-manager, kube-scheduler, kwok\)/)
  })

  it('are an incomplete set, with its price, when nothing better is to be had', async () => {
    const assets = fakes(join(home, 'half-2'), HALF)
    const env = { XDG_CACHE_HOME: join(home, 'none'), KUBEBUILDER_ASSETS: assets, PATH: '', BERTH_RELEASES: 'off' }
    const tools = await acquireTools({ env, report })
    assert.equal(tools.missing, ['kube-controller-manager', 'kube-scheduler', 'kwok'])
    assert.match(lines[0] ?? '', /without kube-controller-manager namespaces do not finish deleting/)
    const found = await findSources({ env })
    assert.equal(
      found.map(({ state }) => state),
      ['used', 'passed over', 'passed over', 'passed over'],
    )
    assert.match(found[0]?.why ?? '', /has no kube-controller-manager, kube-scheduler, kwok, but no other source has more$/)
  })

  it('fail with what to install when there is nothing', async () => {
    const env = { XDG_CACHE_HOME: join(home, 'none'), PATH: '', BERTH_RELEASES: 'http://127.0.0.1:1' }
    const failure = await acquireTools({ env, report }).catch((thrown: unknown) => thrown)
    assert.ok(isFailure(failure, 'unavailable'))
    assert.match(
      failure.message,
      /KUBEBUILDER_ASSETS: not set; the cache: empty; release binaries: http:\/\/127\.0\.0\.1:1.*; a Go build: Go is not installed/,
    )
    assert.match(failure.remedy ?? '', /; or install Go 1\.26 or newer/)
  })

  it('are built by Go once, even when two runs want them at the same time', async () => {
    const built = goModule(join(home, 'module'))
    const env = { ...goEnvironment(), XDG_CACHE_HOME: join(home, 'built') }
    const ask = () => acquireTools({ env, report, recipe: built, wanted: ['kwok'] })
    const [first, second] = await Promise.all([ask(), ask()])
    assert.equal(first, second)
    assert.is(execFileSync(first.paths.kwok ?? '', { encoding: 'utf8' }), 'built\n')
    assert.is(lines.filter((line) => line.startsWith('Building')).length, 1)
    assert.is(lines.filter((line) => line.startsWith('Another run')).length, 1)
    assert.equal(readdirSync(cacheOf('built')), [built.digest])
  })

  it('are built anew when a run was killed in the middle of it', async () => {
    const built = goModule(join(home, 'module-2'))
    const cache = cacheOf('killed')
    fakes(join(cache, `${built.digest}.building`), ['kwok'])
    const dead = execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).trim()
    writeFileSync(join(cache, `${built.digest}.lock`), `${hostname()} ${dead}`)
    const env = { ...goEnvironment(), XDG_CACHE_HOME: join(home, 'killed') }
    const tools = await acquireTools({ env, report, recipe: built, wanted: ['kwok'] })
    assert.is(execFileSync(tools.paths.kwok ?? '', { encoding: 'utf8' }), 'built\n')
    assert.equal(readdirSync(cache), [built.digest])
  })

  it('leave nothing in the cache when the build fails', async () => {
    const broken = goModule(join(home, 'broken'), 'this is not Go')
    const env = { ...goEnvironment(), XDG_CACHE_HOME: join(home, 'broken-cache') }
    const failure = await acquireTools({ env, report, recipe: broken, wanted: ['kwok'] }).catch((thrown: unknown) => thrown)
    assert.ok(isFailure(failure, 'internal'))
    assert.not.ok(existsSync(join(cacheOf('broken-cache'), broken.digest)))
    assert.not.ok(existsSync(join(cacheOf('broken-cache'), `${broken.digest}.lock`)))
  })
})

function fakes(folder: string, names: readonly string[]): string {
  mkdirSync(folder, { recursive: true })
  for (const name of names) {
    writeFileSync(join(folder, name), '#!/bin/sh\necho fake\n')
    chmodSync(join(folder, name), 0o755)
  }
  return folder
}

/** Another XDG_CACHE_HOME would move Go's own cache too, and the standard library would be compiled for each test. */
const goEnvironment = () => ({
  ...process.env,
  BERTH_RELEASES: 'off',
  GOCACHE: execFileSync('go', ['env', 'GOCACHE'], { encoding: 'utf8' }).trim(),
})

/** A module with one tool, as hack/control-plane has six. */
function goModule(folder: string, body = 'func main() { println2("built") }'): Recipe {
  mkdirSync(join(folder, 'kwok'), { recursive: true })
  writeFileSync(join(folder, 'go.mod'), 'module example.test/tools\n\ngo 1.24\n\ntool example.test/tools/kwok\n')
  const source = ['package main', 'import "os"', 'func println2(text string) { os.Stdout.WriteString(text + "\\n") }', body]
  writeFileSync(join(folder, 'kwok', 'main.go'), `${source.join('\n')}\n`)
  return { ...readRecipe(), folder, digest: 'digest-of-the-module' }
}
