import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readRecipe, toolsIn } from '../../src/adapters/control-plane/index.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { berth, startBerth, tooWide } from './berth.ts'
import { processesIn } from './leftovers.ts'

const CACHE = process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? '', '.cache')

/** A control plane of its own where it costs seconds; else the cluster of the run. Tours on a real node are in test/e2e. */
const ground = (): string[] => {
  const cached = toolsIn(join(CACHE, 'berth', 'control-plane', readRecipe().digest)).missing.length === 0
  return cached || !process.env.TEST_KUBECONFIG ? ['--no-node'] : ['--kubeconfig', process.env.TEST_KUBECONFIG]
}

/** What somebody may have exported for other programs: nothing of it is to reach those that the tour starts. */
function exportedIn(root: string): Record<string, string> {
  const HOME = join(root, 'home')
  mkdirSync(join(HOME, '.kube'), { recursive: true })
  writeFileSync(join(HOME, '.kube', 'config'), '{no kubeconfig')
  const proxy = 'http://127.0.0.1:1'
  const missing = join(root, 'missing')
  return {
    HOME,
    XDG_CACHE_HOME: CACHE,
    KUBECONFIG: missing,
    BERTH_KAS_CA: missing,
    BERTH_LOG_LEVEL: 'none',
    ETCD_CERT_FILE: missing,
    POD_NAME: '?',
    HTTP_PROXY: proxy,
    http_proxy: proxy,
  }
}

describe('the tour', (it) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'berth-tour-test-')))
  it.after(() => rmSync(root, { recursive: true, force: true }))

  it('goes from a claim to the end of a branch, whatever is exported, and ends with 0', async () => {
    const dir = join(root, 'whole')
    const { code, stdout, stderr } = await startBerth(['tour', '--exit', '--dir', dir, ...ground()], { env: exportedIn(root) })
      .ended
    assert.is(code, 0, `${stdout}\n${stderr}`)
    const lines = stdout.trim().split('\n')
    for (const step of [
      'claim is Bound: to namespace',
      'pushed manifests run: Deployment',
      'workspace is Running',
      'second commit',
      'shop-banner is gone',
      'branch has its environment: shop-feature-cart-',
      'open it: http://shop-feature-cart-',
      'delete the branch: namespace',
    ]) {
      assert.ok(
        lines.some((line) => line.startsWith('ok') && line.includes(step)),
        step,
      )
    }
    // Each step says how long it took and, on a line of its own, what a person would have typed.
    const steps = stdout.split(/^(?=ok)/m).filter((text) => text.startsWith('ok'))
    for (const text of steps) assert.match(text, /^ok +\d+\.\d s {2}\S.+\n( {14}.+\n)* {14}\$ \S/)
    assert.equal(tooWide(stdout + stderr), [])
    // The keeper of a server goes a moment after it.
    await eventually(() => processesIn(dir).length === 0)
  })

  const leftIn = (dir: string) => readdirSync(dir).filter((name) => name.startsWith('berth-tour-'))

  it('names a part that ends, with the last line of its log, which stays', async () => {
    const tour = startBerth(['tour', ...ground()], { env: { TMPDIR: root } })
    const started = /git-server (\d+)/
    await eventually(() => started.test(tour.printed().stdout))
    process.kill(Number(started.exec(tour.printed().stdout)?.[1]), 'SIGKILL')
    const { code, stderr } = await tour.ended
    assert.is(code, 5, stderr)
    assert.match(stderr, /^berth: git-server ended(: .+)?\. Read \S+\.$/m)
    const [folder = ''] = leftIn(root)
    assert.match(stderr, join(root, folder, 'logs', 'git-server.log'))
    assert.equal(readdirSync(join(root, folder)).sort(), ['.berth-folder', 'logs'])
    rmSync(join(root, folder), { recursive: true })
    await eventually(() => processesIn(root).length === 0)
  })

  it('ends and tidies up when nobody reads it any more', async () => {
    const tour = startBerth(['tour', '--exit', ...ground()], { env: { TMPDIR: root } })
    await eventually(() => processesIn(root).length > 0)
    tour.process.stdout?.destroy()
    const { code, stderr } = await tour.ended
    assert.is(code, 0, stderr)
    assert.not.match(stderr, 'berth:')
    await eventually(() => processesIn(root).length === 0)
    assert.equal(leftIn(root), [])
  })

  it('refuses a time in which nothing can come to pass', async () => {
    for (const text of ['0', '-5']) {
      const { code, stderr } = await berth(['tour', '--timeout', text])
      assert.is(code, 2)
      assert.match(stderr, 'It must be a whole number, 1 or more.')
    }
  })

  it('goes away on Ctrl-C in the middle with 130, its folder included', async () => {
    const tour = startBerth(['tour', ...ground()], { env: { TMPDIR: root } })
    await eventually(() => tour.printed().stdout.includes('bring up a control plane'))
    tour.process.kill('SIGINT')
    assert.is((await tour.ended).code, 130)
    await eventually(() => processesIn(root).length === 0)
    assert.equal(leftIn(root), [])
  })

  it('names the step that failed, and why', async () => {
    const kubeconfig = join(root, 'nothing')
    const { code, stdout, stderr } = await startBerth(['tour', '--exit', '--kubeconfig', kubeconfig]).ended
    assert.is.not(code, 0)
    assert.match(stdout, /^FAIL .*/m)
    assert.match(stderr, 'the step "')
  })
})
