import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { Workspaces } from '../../src/api/index.ts'
import { exitCodes } from '../../src/cli/exit-codes.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { berth, startBerth } from './berth.ts'

describe('status', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('lists what is in error at once, with reason and remedy', async () => {
    const namespace = await cluster.namespace('status')
    const ref = { name: 'web', namespace }
    const { kube, kubeconfig } = cluster
    await kube.create(Workspaces, { apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace', metadata: ref, spec: {} })
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
    const { components, kinds }: { components: object[]; kinds: { kind: string }[] } = JSON.parse(counted.stdout)
    assert.equal(components, [])
    assert.ok(kinds.some(({ kind }) => kind === 'Workspace'))
    const nothing = await berth(['status', '--dir', dir])
    assert.is(nothing.code, exitCodes.notFound)
    assert.match(nothing.stderr, `nothing runs in ${dir}`)
    assert.match(nothing.stderr, 'KUBECONFIG')
    assert.match(nothing.stderr, `berth up --dir ${dir}`)
    rmSync(dir, { recursive: true })
  })
})
