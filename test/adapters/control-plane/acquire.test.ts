import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { acquireTools, findSources, type Recipe, readRecipe, TOOLS } from '../../../src/adapters/control-plane/index.ts'
import { isAlive } from '../../../src/adapters/control-plane/servers/processes.ts'
import { isFailure } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

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
    assert.is(failure.message, 'no control plane is to be had here')
    const [, ...ways] = lines
    assert.equal(
      ways.map((line) => line.replace(/(:1\/).*/, '$1…')),
      [
        'KUBEBUILDER_ASSETS: not set.',
        'the cache: empty.',
        'release binaries: http://127.0.0.1:1/…',
        'a Go build: Go is not installed.',
      ],
    )
    const { remedy = '' } = failure
    assert.match(remedy, /^Correct BERTH_RELEASES or unset it\. Let .*api\.github\.com.* Or install Go 1\.26 or newer/)
    for (const tool of TOOLS) assert.match(remedy, tool)
  })

  it('say that KUBEBUILDER_ASSETS names a folder that is not there', async () => {
    const env = { HOME: home, KUBEBUILDER_ASSETS: '/nonexist', PATH: '', BERTH_RELEASES: 'off' }
    const [first] = await findSources({ env })
    assert.is(first?.why, 'there is no folder /nonexist')
  })

  it('are in the cache at home where XDG_CACHE_HOME is empty or relative', async () => {
    const folder = fakes(join(home, '.cache', 'berth', 'control-plane', readRecipe().digest), TOOLS)
    for (const named of ['', 'relative']) {
      const { paths } = await acquireTools({ env: { HOME: home, XDG_CACHE_HOME: named } })
      assert.is(paths.kwok, join(folder, 'kwok'))
    }
    const failure = await findSources({ env: { XDG_CACHE_HOME: 'relative' } }).catch((thrown: unknown) => thrown)
    assert.match(String(failure), 'no place for a cache')
  })

  it('are built by no Go that is older than the module wants', async () => {
    const PATH = join(home, 'go-of-some-age')
    mkdirSync(PATH)
    for (const [version, wanted, isOld] of [
      ['go1.26rc1', '1.26.0', true],
      ['go1.26rc1', '1.26', false],
      ['go1.26rc1', '1.26rc2', true],
      ['go1.26.0', '1.26rc2', false],
      ['go1.26.0', '1.26', false],
      ['go1.25.9', '1.26', true],
      ['go1.25.10', '1.25.9', false],
      ['devel go1.27-2f3e4d5', '1.26.3', false],
    ] as const) {
      fakeGo(PATH, `echo go version ${version} linux/amd64`)
      const env = { HOME: home, PATH, BERTH_RELEASES: 'off', XDG_CACHE_HOME: join(home, 'none') }
      const { why } = (await findSources({ env, recipe: { ...readRecipe(), go: wanted } })).at(-1) ?? {}
      assert.is(why?.includes(`is older than ${wanted}`), isOld, `${version} for ${wanted}`)
    }
  })

  it('leave nothing of a build that was stopped, and nothing of it runs any more', async () => {
    const PATH = join(home, 'go-for-ever')
    const started = join(PATH, 'started')
    mkdirSync(PATH)
    // As Go does: a folder of its own in GOTMPDIR, and a compiler that writes there.
    const compiler = 'mkdir "${GOTMPDIR:?}/go-build1"; while echo > "$GOTMPDIR/go-build1/part"; do sleep 0.01; done'
    fakeGo(
      PATH,
      `case $1 in version) echo go version go1.26.0 linux/amd64;; install) sh -c '${compiler}' & echo $! > ${started}; wait;; esac`,
    )
    const env = { XDG_CACHE_HOME: join(home, 'stopped'), PATH: `${PATH}:${process.env.PATH}`, BERTH_RELEASES: 'off' }
    const stop = new AbortController()
    const asked = acquireTools({ env, signal: stop.signal }).catch((thrown: unknown) => thrown)
    await eventually(() => existsSync(started) && readFileSync(started, 'utf8') !== '')
    stop.abort()
    assert.ok(isFailure(await asked, 'cancelled'))
    assert.equal(readdirSync(cacheOf('stopped')), [])
    await eventually(() => !isAlive(Number(readFileSync(started, 'utf8'))))
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
    assert.equal(readdirSync(cacheOf('broken-cache')), [])
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

function fakeGo(folder: string, script: string): void {
  writeFileSync(join(folder, 'go'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
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
