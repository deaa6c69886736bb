import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import {
  acquireTools,
  type ControlPlane,
  isFree,
  startControlPlane,
  statusOf,
  stopControlPlane,
} from '../../../src/adapters/control-plane/index.ts'
import { connect } from '../../../src/adapters/kube/index.ts'
import { Deployments, Namespaces } from '../../../src/api/index.ts'
import { freezeServer, killServer, resumeServer } from '../../support/servers.ts'
import { describe } from '../../support/suite.ts'
import { apply, eventually, expectObject } from '../../support/verbs.ts'

const ROOM = new URL('../../../src/adapters/control-plane/index.ts', import.meta.url).pathname

describe('a control plane', (it) => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'berth-planes-')))
  const tools = acquireTools({ env: process.env })
  let first: ControlPlane
  it.before(async () => {
    first = await startControlPlane({ dir: join(home, 'first'), tools: await tools })
  })
  it.after(async () => {
    await first.remove()
    await stopControlPlane(join(home, 'detached'))
    await eventually(() => processesIn(home).length === 0)
    rmSync(home, { recursive: true })
  })

  it('lets the pods of a Deployment become available', async () => {
    const kube = connect({ kubeconfig: first.kubeconfig })
    await apply(kube, deployment)
    await expectObject(kube, Deployments, { name: 'web', namespace: 'default' }, ({ status }) =>
      assert.is(status?.availableReplicas, 2),
    )
    await kube.close()
  })

  it('keeps its folder and its kubeconfig from other users', () => {
    assert.is(statSync(first.dir).mode & 0o777, 0o700)
    assert.is(statSync(first.kubeconfig).mode & 0o777, 0o600)
  })

  it('runs beside another one, and goes without touching it', async () => {
    const second = await startControlPlane({ dir: join(home, 'second'), tools: await tools, nodes: 1 })
    assert.is.not(second.server, first.server)
    const here = connect({ kubeconfig: first.kubeconfig })
    const there = connect({ kubeconfig: second.kubeconfig })
    await apply(there, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'only-there' } })
    assert.is(await here.get(Namespaces, { name: 'only-there' }), undefined)
    await there.close()
    await second.remove()
    assert.equal(processesIn(second.dir), [])
    assert.ok(await here.get(Namespaces, { name: 'default' }))
    await here.close()
  })

  it('has what it had after its API server and etcd were killed and started again', async () => {
    const kube = connect({ kubeconfig: first.kubeconfig })
    await apply(kube, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kept' } })
    await killServer(first, 'kube-apiserver')
    const port = Number(new URL(first.server).port)
    assert.ok(await isFree(port), 'what was killed holds nothing any more')
    await killServer(first, 'etcd')
    await first.startServer('etcd')
    await first.startServer('kube-apiserver')
    assert.ok(await eventually(() => kube.get(Namespaces, { name: 'kept' })))
    await kube.close()
  })

  it('answers nothing while its API server is frozen, and goes on after it', async () => {
    const kube = connect({ kubeconfig: first.kubeconfig })
    await freezeServer(first, 'kube-apiserver')
    const asked = kube.get(Namespaces, { name: 'default' }, AbortSignal.timeout(300)).catch(() => 'no answer')
    assert.is(await asked, 'no answer')
    resumeServer(first, 'kube-apiserver')
    assert.ok(await eventually(() => kube.get(Namespaces, { name: 'default' })))
    await kube.close()
  })

  it('goes away with its parent, even when that is killed with -9', async () => {
    const dir = join(home, 'orphan')
    const parent = child(`await startControlPlane({ dir: '${dir}', tools: await acquireTools({ env: process.env }) })`)
    await eventually(() => statusOf(dir)?.dead.length === 0 && processesIn(dir).length >= 5)
    parent.kill('SIGKILL')
    await eventually(() => processesIn(dir).length === 0)
  })

  it('starts again in the folder of one that was killed', async () => {
    const dir = join(home, 'orphan')
    assert.is(statusOf(dir)?.running, false)
    const again = await startControlPlane({ dir, tools: await tools })
    assert.equal(statusOf(dir)?.dead, [])
    await again.remove()
    assert.is(statusOf(dir), undefined)
  })

  it('starts in the folder of one that was killed before its etcd had made its data', async () => {
    const dir = join(home, 'early')
    mkdirSync(join(dir, 'etcd', 'member', 'snap'), { recursive: true })
    writeFileSync(join(dir, 'etcd', 'member', 'snap', 'db'), 'half a page')
    writeFileSync(join(dir, '.berth-folder'), '')
    const plane = await startControlPlane({ dir, tools: await tools })
    assert.equal(statusOf(dir)?.dead, [])
    await plane.remove()
  })

  it('starts in the folder of one that was killed while it wrote its keys', async () => {
    const dir = join(home, 'half')
    mkdirSync(join(dir, 'certificates'), { recursive: true })
    for (const name of ['certificates/apiserver.crt', 'service-account.key', 'tokens.csv']) writeFileSync(join(dir, name), '')
    writeFileSync(join(dir, '.berth-folder'), '')
    const plane = await startControlPlane({ dir, tools: await tools, nodes: 1 })
    assert.equal(statusOf(dir)?.dead, [])
    await plane.remove()
  })

  it('outlives its parent when it was detached, until it is stopped by its folder', async () => {
    const dir = join(home, 'detached')
    const start = `await startControlPlane({ dir: '${dir}', detached: true, tools: await acquireTools({ env: process.env }) })`
    execFileSync(process.execPath, ['--input-type=module-typescript', '-e', program(`${start}; process.exit(0)`)])
    assert.equal(statusOf(dir)?.dead, [])
    const kube = connect({ kubeconfig: statusOf(dir)?.kubeconfig })
    assert.ok(await kube.get(Namespaces, { name: 'default' }))
    await kube.close()
    assert.ok(await stopControlPlane(dir))
    assert.equal(processesIn(dir), [])
    assert.is(statusOf(dir), undefined)
  })
})

const program = (body: string) => `import { acquireTools, startControlPlane } from '${ROOM}'\n${body}`

const child = (body: string): ChildProcess =>
  spawn(process.execPath, ['--input-type=module-typescript', '-e', program(`${body}; process.stdin.resume()`)], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })

/** All processes that work in the folder or below it. */
function processesIn(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`)
    } catch {
      return false
    }
  })
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: nginx }] }
`
