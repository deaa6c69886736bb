import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import {
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  Environments,
  GitProjects,
  Namespaces,
  RoleBindings,
} from '../../../src/api/index.ts'
import { DELETION_ORDER } from '../../../src/cli/install/removal.ts'
import { ownKinds } from '../../../src/cli/manifests.ts'
import { parseConfig, start } from '../../../src/operator/index.ts'
import { letBerthIn } from '../../support/builders/credentials.ts'
import { environment, viaClaim } from '../../support/builders/environments.ts'
import { kubectl } from '../../support/builders/snapshots.ts'
import { type OwnControlPlane, ownControlPlane } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { claim, targetClass } from '../../support/targets.ts'
import { eventually, expectObject } from '../../support/verbs.ts'
import { berth, ROOT } from '../berth.ts'

describe('berth uninstall', (it) => {
  let plane: OwnControlPlane
  const run = async (parameters: string[], answer?: string) =>
    berth([...parameters, '--kubeconfig', plane.kubeconfig], answer === undefined ? {} : { answer })
  const rendered = async (...parameters: string[]) =>
    (await berth(['install', ...parameters], { env: { BERTH_KUBECTL: await kubectl() } })).stdout
  const call = async (...parameters: string[]) =>
    promisify(execFile)(await kubectl(), ['--kubeconfig', plane.kubeconfig, ...parameters], { maxBuffer: 2 ** 26 })
  /** As in `berth install | kubectl apply -f -`. */
  const apply = async (text: string) => {
    const running = promisify(execFile)(await kubectl(), ['--kubeconfig', plane.kubeconfig, 'apply', '-f', '-'])
    running.child.stdin?.end(text)
    await running
  }
  const CLUSTER_WIDE =
    'crd,ns,clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding,mutatingadmissionpolicy,mutatingadmissionpolicybinding'
  const clusterWide = async () => (await call('get', CLUSTER_WIDE, '-o', 'name')).stdout.trim().split('\n').toSorted()
  const isThere = async () => (await plane.kube.get(Namespaces, { name: 'berth-system' })) !== undefined
  /** While the work goes on, an operator leads. */
  const withOperator = async (work: () => Promise<void>) => {
    const stop = new AbortController()
    const config = parseConfig({ kubeconfig: plane.kubeconfig, operations: '127.0.0.1:0' }, {})
    const over = start(config, stop.signal, { log: { write: () => undefined } })
    try {
      await eventually(async () => (await run(['uninstall', '--dry-run'])).code === 0)
      await work()
    } finally {
      stop.abort()
      await over
    }
  }
  let before: string[]

  it.before(async () => {
    plane = await ownControlPlane({ nodes: 0 })
    before = await clusterWide()
    await apply(await rendered('--image', 'registry.example.com/berth:1'))
    await call('wait', '--for=condition=Established', 'crd', '--all')
    await apply(await rendered('--defaults'))
    const spec = { url: 'https://git.example.com/a.git', path: 'default/a' }
    const metadata = { name: 'a', namespace: 'default', finalizers: ['example.com/held'] }
    await letBerthIn(plane.kube, 'default')
    await plane.kube.create(GitProjects, { apiVersion: 'berth.dev/v1alpha1', kind: 'GitProject', metadata, spec })
  })
  it.after(() => plane.remove())

  it('says what goes and what stays', async () => {
    const { stdout } = await run(['uninstall', '--dry-run'])
    assert.match(stdout, /^GitProject +1 +deleted$/m)
    assert.match(stdout, /^WorkspaceClass +1 +deleted$/m)
    assert.match(stdout, /^RoleBinding +2 +deleted: by these namespaces let Berth in$/m)
    assert.match(stdout, /^STAYS$/m)
    assert.is(await isThere(), true)
  })

  it('begins nothing while nobody would free its objects', async () => {
    const { code, stderr } = await run(['uninstall', '--yes'])
    assert.is(code, 5)
    assert.match(
      stderr,
      /nobody would free what Berth's objects hold \(GitProject default\/a for one\): no operator has ever led/,
    )
    assert.is(await isThere(), true)
  })

  it('begins nothing without an answer, with another, or where Berth is not', async () => {
    await withOperator(async () => {
      const nobody = await run(['uninstall'])
      assert.is(nobody.code, 7)
      assert.match(nobody.stderr, 'nothing was changed: there is no terminal to ask at')
      const declined = await run(['uninstall'], 'no')
      assert.is(declined.code, 10)
      assert.match(declined.stderr, `nothing was changed: "no" is not ${new URL(plane.kube.server).host}`)
      const elsewhere = await run(['uninstall', '--yes', '--namespace', 'default'])
      assert.is(elsewhere.code, 7)
      assert.match(elsewhere.stderr, 'Berth is installed in namespace berth-system, and not in default')
    })
    assert.is(await isThere(), true)
  })

  it('removes all of it, says what holds it up, and goes on when it is called again', async () => {
    await withOperator(async () => {
      const namespace = 'team-a'
      await call('create', 'namespace', namespace)
      assert.is((await run(['onboard', namespace])).code, 0)
      const provisioner = 'appstudio.redhat.com/devsandbox'
      await plane.kube.create(DeploymentTargetClasses, targetClass('kept', { provisioner, reclaimPolicy: 'Retain' }))
      for (const [name, deploymentTargetClassName] of [
        ['dev', 'isolation-level-namespace'],
        ['prod', 'kept'],
      ] as const) {
        await plane.kube.create(DeploymentTargetClaims, claim(namespace, name, { deploymentTargetClassName }))
        await plane.kube.create(Environments, environment(namespace, name, viaClaim(name)))
      }
      for (const name of ['dev', 'prod'])
        await expectObject(plane.kube, DeploymentTargetClaims, { namespace, name }, ({ status }) => status?.phase === 'Bound')
      await plane.kube.delete(DeploymentTargetClaims, { namespace, name: 'prod' })
      await eventually(async () => (await plane.kube.list(DeploymentTargets)).some(({ status }) => status?.phase === 'Released'))
      const late = await run(['uninstall', '--timeout', '1'], new URL(plane.kube.server).host)
      assert.is(late.code, 6)
      assert.match(late.stderr, /is still there/)
      await plane.kube.patch(GitProjects, { name: 'a', namespace: 'default' }, { metadata: { finalizers: null } })
      const again = await run(['uninstall', '--yes'])
      assert.is(again.code, 0, again.stderr)
      assert.match(again.stdout, 'Berth is gone from this cluster.')
      const names = (kinds: readonly { metadata: { name: string } }[]) => kinds.map(({ metadata }) => metadata.name)
      assert.equal(names(await plane.kube.list(RoleBindings, { namespace })), [])
    })
    assert.equal(await clusterWide(), [...before, 'namespace/team-a'].toSorted())
    const nothing = await run(['uninstall', '--yes'])
    assert.is(nothing.code, 3)
    assert.match(nothing.stderr, 'Berth is not installed in namespace berth-system of the cluster at')
  })

  it('knows every kind of Berth', () => {
    assert.equal(
      DELETION_ORDER.map(({ kind }) => kind).toSorted(),
      ownKinds(ROOT)
        .map(({ kind }) => kind)
        .toSorted(),
    )
  })
})
