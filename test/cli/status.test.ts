import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { Workspaces } from '../../src/api/index.ts'
import { exitCodes } from '../../src/cli/exit-codes.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { workspace } from '../support/workspaces.ts'
import { berth, startBerth } from './berth.ts'

describe('status', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('lists what is in error at once, with reason and remedy', async () => {
    const namespace = await cluster.namespace('status')
    const ref = { name: 'web', namespace }
    const { kube, kubeconfig } = cluster
    await kube.create(Workspaces, workspace(namespace, 'web'))
    const failure = { reason: 'CrashLoopBackOff', message: 'the container ends again and again', remedy: 'Read its log.' }
    await kube.patch(Workspaces, ref, { status: { actualState: 'Failed', failure } }, { subresource: 'status' })
    const { code, stdout } = await berth(['status', '--kubeconfig', kubeconfig, '-o', 'json'])
    assert.is(code, 0)
    const { errors }: { errors: { object: string }[] } = JSON.parse(stdout)
    const mine = errors.find(({ object }) => object.includes(`${namespace}/web`))
    assert.equal(mine, { object: `Workspace ${namespace}/web`, ...failure })
    const table = await berth(['status', '--kubeconfig', kubeconfig])
    assert.match(table.stdout, 'In error:')
    await kube.delete(Workspaces, ref)
  })

  it('is about the cluster of KUBECONFIG where nothing runs, and says so where there is none', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'berth-status-'))
    // The variable is read by the client itself: only a process has one of its own.
    const counted = await startBerth(['status', '--dir', dir, '-o', 'json'], { env: { KUBECONFIG: cluster.kubeconfig } }).ended
    assert.is(counted.code, 0, counted.stderr)
    const { cluster: server, components, kinds } = JSON.parse(counted.stdout)
    assert.is(server, cluster.kube.server)
    assert.equal(components, [])
    assert.ok(kinds.some(({ kind }: { kind: string }) => kind === 'Workspace'))
    const nothing = await berth(['status', '--dir', dir])
    assert.is(nothing.code, exitCodes.notFound)
    assert.match(nothing.stderr, `nothing runs in ${dir}`)
    assert.match(nothing.stderr, 'KUBECONFIG')
    assert.match(nothing.stderr, `berth up --dir ${dir}`)
    writeFileSync(join(dir, 'mine'), '')
    const other = await berth(['status', '--dir', dir])
    assert.match(other.stderr, /holds things that are not Berth's.*`berth up --dir <new folder>`/)
    rmSync(dir, { recursive: true })
  })

  it('names the servers of the control plane that have ended, and what starts them again', async () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'berth-status-')))
    const { pid } = spawnSync(process.execPath, ['--version'])
    const alive = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { cwd: dir })
    const state = { server: 'https://127.0.0.1:1', port: 1, pids: { etcd: alive.pid, kwok: pid } }
    writeFileSync(join(dir, 'control-plane.json'), JSON.stringify(state))
    const { code, stdout } = await berth(['status', '--dir', dir])
    alive.kill()
    assert.is(code, exitCodes.failed)
    assert.match(stdout, `Folder   ${dir}`)
    assert.match(stdout, /^control-plane +ended \(kwok\)/m)
    assert.match(stdout.replace(/\s+/g, ' '), `\`berth up --dir ${dir}\` starts`)
    rmSync(dir, { recursive: true })
  })
})
