import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import type { AnyObject } from '../../src/api/index.ts'
import { troubleOf } from '../../src/cli/doctor/objects.ts'
import { minutes, timestamp } from '../../src/std/index.ts'
import { portOf } from '../support/addresses.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { apply } from '../support/verbs.ts'
import { berth, findingsIn, ROOT } from './berth.ts'

const NOW = Date.parse('2026-01-01T12:00:00Z')
const before = (ms: number) => timestamp(NOW - ms)

const claim = (change: { deletionTimestamp?: string; condition?: Record<string, string> }): AnyObject => ({
  apiVersion: 'appstudio.redhat.com/v1alpha1',
  kind: 'DeploymentTargetClaim',
  metadata: {
    name: 'dev',
    namespace: 'team-a',
    finalizers: ['x/y'],
    ...(change.deletionTimestamp && { deletionTimestamp: change.deletionTimestamp }),
  },
  status: {
    conditions: change.condition
      ? [{ type: 'Ready', status: 'False', reason: 'NoTarget', message: 'no target of class x', ...change.condition }]
      : [],
  },
})

const kubeconfigWithoutAuthority = (server: string): string =>
  JSON.stringify({
    clusters: [{ name: 'a', cluster: { server } }],
    users: [{ name: 'a', user: {} }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  })

describe('doctor', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  const examined = async (...parameters: string[]) => {
    const outcome = await berth(['doctor', '--kubeconfig', cluster.kubeconfig, '-o', 'json', ...parameters])
    const findings = findingsIn(outcome.stdout)
    return { ...outcome, findings, of: (check: string) => findings.filter((finding) => finding.check === check) }
  }

  it('finds the API, the kinds and the policies well', async () => {
    const { of } = await examined()
    for (const check of ['node', 'git', 'api', 'permissions', 'crds', 'policies'])
      assert.equal(
        of(check).map(({ mark }) => mark),
        ['ok'],
        check,
      )
  })

  it('fails with a remedy where no operator has ever led', async () => {
    const namespace = await cluster.namespace('doctor')
    const { code, of } = await examined('--namespace', namespace)
    assert.is(code, 8)
    assert.is(of('operator')[0]?.mark, 'fail')
    assert.match(of('operator')[0]?.message ?? '', `${namespace}/berth-operator`)
    assert.match(of('operator')[0]?.remedy ?? '', 'berth operator')
  })

  it('tells a fresh Lease from one that nobody renews', async () => {
    const [fresh, stale] = [await cluster.namespace('doctor'), await cluster.namespace('doctor')]
    const lease = (namespace: string, renewed: number) =>
      cluster.kube.post(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'berth-operator' },
        spec: {
          holderIdentity: 'operator-1',
          leaseDurationSeconds: 15,
          renewTime: new Date(renewed).toISOString().replace('Z', '000Z'),
        },
      })
    await lease(fresh, Date.now())
    await lease(stale, Date.now() - minutes(5))
    assert.is((await examined('--namespace', fresh)).of('operator')[0]?.mark, 'ok')
    const [finding] = (await examined('--namespace', stale)).of('operator')
    assert.is(finding?.mark, 'fail')
    assert.match(finding?.message ?? '', /not renewed it for \d+ s/)
  })

  it('looks for the Deployment of kas that deploy/ makes', async () => {
    const namespace = await cluster.namespace('doctor')
    const shipped: AnyObject = parse(readFileSync(join(ROOT, 'deploy', 'kas', 'program', 'deployment.yaml'), 'utf8'))
    await apply(cluster.kube, { ...shipped, metadata: { ...shipped.metadata, namespace } })
    const [found] = (await examined('--namespace', namespace)).of('kas')
    assert.is(found?.message, 'no replica of its Deployment is available')
  })

  it('names what has ended of all that berth up started, with its log', async () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'berth-doctor-')))
    const { server } = cluster.kube
    const { pid } = spawnSync(process.execPath, ['--version'])
    copyFileSync(cluster.kubeconfig, join(dir, 'kubeconfig'))
    writeFileSync(join(dir, 'control-plane.json'), JSON.stringify({ server, port: 1, pids: { kwok: pid } }))
    const parts = ['operator', 'kas', 'git-server'].map((name) => ({ name, pid, facts: { server } }))
    writeFileSync(join(dir, 'parts.json'), JSON.stringify(parts))
    const { code, findings } = await examined('--kubeconfig', join(dir, 'kubeconfig'))
    assert.is(code, 8)
    for (const name of ['kwok', 'git-server', 'kas', 'operator']) {
      const found = findings.find(({ message }) => message === `${name}, which \`berth up\` started in ${dir}, has ended`)
      assert.is(found?.mark, 'fail', name)
      assert.is(found?.remedy, `Read ${dir}/logs/${name}.log; \`berth up --dir ${dir}\` starts it again.`)
    }
    rmSync(dir, { recursive: true })
  })

  it('tells a certificate that is not trusted, and a server without TLS, as what they are', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'berth-doctor-'))
    const plain = createServer().listen(0, '127.0.0.1')
    await once(plain, 'listening')
    const file = join(dir, 'kubeconfig')
    const found: unknown[] = []
    for (const server of [cluster.kube.server, `https://127.0.0.1:${portOf(plain)}`]) {
      writeFileSync(file, kubeconfigWithoutAuthority(server))
      found.push((await examined('--kubeconfig', file)).of('api')[0])
    }
    plain.close()
    rmSync(dir, { recursive: true })
    const [untrusted, withoutTls] = found.map((finding) => JSON.stringify(finding))
    assert.match(untrusted ?? '', /the certificate of \S+ is not trusted: .*certificate-authority-data/)
    assert.match(withoutTls ?? '', /does not speak TLS.*Correct the server/)
  })

  it('gives every warning and failure a remedy', async () => {
    const { findings } = await examined()
    for (const { mark, message, remedy } of findings) assert.ok(mark === 'ok' || remedy, message)
  })

  it('prints at most 80 columns, and no colour under NO_COLOR', async () => {
    const { stdout } = await berth(['doctor', '--kubeconfig', cluster.kubeconfig], { env: { NO_COLOR: '1', FORCE_COLOR: '1' } })
    assert.not.match(stdout, '\u001B')
    const long = stdout.split('\n').filter((line) => line.length > 80 && line.trim().includes(' ', 20))
    assert.equal(long, [])
  })

  it('says why git or kubectl is missed', async () => {
    const outcome = await berth(['doctor', '--kubeconfig', cluster.kubeconfig, '-o', 'json'], { env: { PATH: '/nonexistent' } })
    const findings = findingsIn(outcome.stdout)
    assert.is(findings.find(({ check }) => check === 'git')?.mark, 'fail')
    assert.is(findings.find(({ check }) => check === 'kubectl')?.mark, 'warn')
  })

  it('repeats what an object says when it is not ready for long', () => {
    const [finding] = troubleOf(claim({ condition: { lastTransitionTime: before(minutes(3)) } }), NOW)
    assert.match(finding?.message ?? '', 'DeploymentTargetClaim team-a/dev is not ready (NoTarget): no target of class x')
    assert.is(
      finding?.remedy,
      '`kubectl describe deploymenttargetclaim dev -n team-a` shows what led to it; docs/conditions.md says what NoTarget means.',
    )
  })

  it('leaves alone what waits for a short time, or is stopped on purpose', () => {
    assert.equal(troubleOf(claim({ condition: { lastTransitionTime: before(minutes(1)) } }), NOW), [])
    assert.equal(troubleOf(claim({ condition: { lastTransitionTime: before(minutes(9)), reason: 'Stopped' } }), NOW), [])
  })

  it('repeats at once what is in error, with the remedy of the object', () => {
    const failure = { reason: 'ImagePullBackOff', message: 'the image cannot be pulled', remedy: 'Correct the image.' }
    const young = claim({ condition: { lastTransitionTime: before(10) } })
    const failed = { ...young, kind: 'Workspace', status: { actualState: 'Failed', failure } }
    const [finding] = troubleOf(failed, NOW)
    assert.is(finding?.message, 'Workspace team-a/dev (ImagePullBackOff): the image cannot be pulled')
    assert.is(finding?.remedy, 'Correct the image.')
    assert.match(troubleOf({ ...young, kind: 'GitProject' }, NOW)[0]?.message ?? '', 'no target of class x')
  })

  it('names the finalizer that holds a deletion up', () => {
    const [finding] = troubleOf(claim({ deletionTimestamp: before(minutes(3)) }), NOW)
    assert.match(finding?.message ?? '', 'held by x/y')
  })
})
