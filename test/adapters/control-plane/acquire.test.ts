import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { acquireTools, type Recipe, readRecipe, TOOLS } from '../../../src/adapters/control-plane/index.ts'
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
    const env = { XDG_CACHE_HOME: join(home, 'none'), KUBEBUILDER_ASSETS: assets, PATH: '' }
    const tools = await acquireTools({ env, report, index: '' })
    assert.equal(tools.missing, ['kube-controller-manager', 'kube-scheduler', 'kwok'])
    assert.match(lines[0] ?? '', /without kube-controller-manager namespaces do not finish deleting/)
  })

  it('fail with what to install when there is nothing', async () => {
    const env = { XDG_CACHE_HOME: join(home, 'none'), PATH: '' }
    const failure = await acquireTools({ env, report, index: 'http://127.0.0.1:1/index.yaml' }).catch((thrown: unknown) => thrown)
    assert.ok(isFailure(failure, 'unavailable'))
    assert.match(
      failure.message,
      /KUBEBUILDER_ASSETS: not set; the cache: empty; .*127\.0\.0\.1:1.*; a Go build: Go is not installed/,
    )
    assert.match(failure.remedy ?? '', /Install Go/)
  })

  it('come from the envtest archive where there is a network and no Go', async () => {
    const { server, url } = await archiveServer(join(home, 'archive'))
    try {
      const env = { XDG_CACHE_HOME: join(home, 'net'), PATH: '' }
      const tools = await acquireTools({ env, report, index: `${url}/index.yaml`, recipe: recipe('none', 'v1.36.3') })
      assert.equal(Object.keys(tools.paths), HALF)
      assert.match(lines.at(-1) ?? '', /from the envtest archive/)
    } finally {
      server.close()
    }
  })

  it('are not taken from an archive whose checksum is not the announced one', async () => {
    const { server, url } = await archiveServer(join(home, 'forged'), '0'.repeat(128))
    try {
      const env = { XDG_CACHE_HOME: join(home, 'forged-cache'), PATH: '' }
      const asked = acquireTools({ env, report, index: `${url}/index.yaml`, recipe: recipe('none', 'v1.36.3') })
      const failure = await asked.catch((thrown: unknown) => thrown)
      assert.ok(isFailure(failure, 'unavailable'))
      assert.match(failure.message, /SHA-512/)
      assert.not.ok(existsSync(cacheOf('forged-cache')))
    } finally {
      server.close()
    }
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

const recipe = (folder: string, kubernetes: string): Recipe => ({ folder, digest: 'no-such-digest', kubernetes })

function fakes(folder: string, names: readonly string[]): string {
  mkdirSync(folder, { recursive: true })
  for (const name of names) {
    writeFileSync(join(folder, name), '#!/bin/sh\necho fake\n')
    chmodSync(join(folder, name), 0o755)
  }
  return folder
}

/** Another XDG_CACHE_HOME would move Go's own cache too, and the standard library would be compiled for each test. */
const goEnvironment = () => ({ ...process.env, GOCACHE: execFileSync('go', ['env', 'GOCACHE'], { encoding: 'utf8' }).trim() })

/** A module with one tool, as hack/control-plane has six. */
function goModule(folder: string, body = 'func main() { println2("built") }'): Recipe {
  mkdirSync(join(folder, 'kwok'), { recursive: true })
  writeFileSync(join(folder, 'go.mod'), 'module example.test/tools\n\ngo 1.24\n\ntool example.test/tools/kwok\n')
  const source = ['package main', 'import "os"', 'func println2(text string) { os.Stdout.WriteString(text + "\\n") }', body]
  writeFileSync(join(folder, 'kwok', 'main.go'), `${source.join('\n')}\n`)
  return { folder, digest: 'digest-of-the-module', kubernetes: 'v1.36.3' }
}

/** The archive as the Kubernetes project lays it out, and its index, on loopback. */
async function archiveServer(folder: string, announced?: string): Promise<{ server: Server; url: string }> {
  fakes(join(folder, 'controller-tools', 'envtest'), HALF)
  const archive = execFileSync('tar', ['-cz', '-C', folder, 'controller-tools'])
  const sum = announced ?? createHash('sha512').update(archive).digest('hex')
  const server = createServer((request, response) => {
    const [os, arch] = [process.platform === 'darwin' ? 'darwin' : 'linux', process.arch === 'arm64' ? 'arm64' : 'amd64']
    const entry = `    envtest-v1.36.0-${os}-${arch}.tar.gz:\n      hash: ${sum}\n      selfLink: ${url}/archive\n`
    response.end(request.url === '/archive' ? archive : `releases:\n  v1.36.0:\n${entry}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  return { server, url }
}
