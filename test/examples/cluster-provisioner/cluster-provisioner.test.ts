import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { stopControlPlane } from '../../../src/adapters/control-plane/index.ts'
import { kubeFromSecret } from '../../../src/adapters/kube/index.ts'
import {
  ClusterRoleBindings,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  finalizers,
  type Kind,
  Namespaces,
  Secrets,
  ServiceAccounts,
  type TokenRequest,
} from '../../../src/api/index.ts'
import { targetLifecycle } from '../../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../../src/operator/deployment-target-claim/binding/index.ts'
import { Secret } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { claim, holderOf } from '../../support/targets.ts'
import { apply, documents, eventually, expectGone, expectObject } from '../../support/verbs.ts'

const EXAMPLE = new URL('../../../examples/cluster-provisioner/', import.meta.url).pathname
const Nodes: Kind = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false }

describe('example cluster provisioner', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'berth-clusters-')))
  const dir = join(home, 'clusters')
  let kubeconfig = ''
  let operator: RunningOperator
  let program: ChildProcess | undefined
  let namespace = ''
  let className = ''

  /** The program gets no more than the role that is shipped with it. */
  const itsOwnKubeconfig = async (): Promise<string> => {
    const metadata = { name: 'cluster-provisioner', namespace }
    await apply(kube, readFileSync(join(EXAMPLE, 'manifests/role.yaml'), 'utf8'))
    await kube.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
    await kube.create(ClusterRoleBindings, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-provisioner' },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    })
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${metadata.name}/token`
    const { status } = await kube.post<TokenRequest>(path, request)
    const admin = parse(readFileSync(cluster.kubeconfig, 'utf8'))
    const users = admin.users.map(({ name }: { name: string }) => ({ name, user: { token: status?.token } }))
    const file = join(home, 'kubeconfig')
    writeFileSync(file, JSON.stringify({ ...admin, users }), { mode: 0o600 })
    return file
  }
  const start = () => {
    const flags = ['--kubeconfig', kubeconfig, '--dir', dir, '--namespace', namespace]
    program = spawn(process.execPath, [join(EXAMPLE, 'main.ts'), ...flags], { stdio: 'inherit' })
  }
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    const ended = new Promise((resolve) => program?.once('exit', resolve))
    if (!program?.kill(signal)) return
    await ended
    program = undefined
  }

  it.before(async () => {
    namespace = await cluster.namespace('clusters')
    className = `cluster-small-${namespace.slice(-8)}`
    const [shipped] = documents(readFileSync(join(EXAMPLE, 'manifests/class.yaml'), 'utf8'))
    assert.ok(shipped)
    await apply(kube, { ...shipped, metadata: { name: className } })
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [claimBinding(context), targetLifecycle(context)],
    })
    kubeconfig = await itsOwnKubeconfig()
    mkdirSync(dir)
    start()
  })
  it.after(async () => {
    await stop()
    await operator.stop()
    await sweep(kube, namespace)
    for (const uid of readdirSync(dir)) await stopControlPlane(join(dir, uid))
    rmSync(home, { recursive: true, force: true })
    await kube.delete(ClusterRoleBindings, { name: namespace })
    await kube.delete(DeploymentTargetClasses, { name: className })
    await cluster.close()
  })

  const at = (name: string) => ({ name, namespace })
  const ask = (name: string) =>
    kube.create(DeploymentTargetClaims, claim(namespace, name, { deploymentTargetClassName: className }))
  const bound = async (name: string) => {
    const { spec } = await expectObject(kube, DeploymentTargetClaims, at(name), ({ status }) => status?.phase === 'Bound')
    const target = await kube.get(DeploymentTargets, at(spec.targetName ?? ''))
    assert.ok(target)
    return target
  }
  const clientOf = async ({ spec }: Awaited<ReturnType<typeof bound>>) => {
    const { clusterCredentialsSecret, apiURL } = spec.kubernetesCredentials
    const secret = await kube.get(Secrets, at(clusterCredentialsSecret))
    return kubeFromSecret(new Secret(Buffer.from(secret?.data?.kubeconfig ?? '', 'base64').toString('utf8')), {
      server: apiURL,
      reach: undefined,
    })
  }

  it('gives a claim a second control plane with the nodes that its class says, and takes it back', async () => {
    const { metadata } = await ask('dev')
    const target = await bound('dev')
    assert.equal(holderOf(target), { name: 'dev', uid: metadata.uid })
    assert.ok(target.metadata.finalizers?.includes(finalizers.provisioner))
    const tenant = await clientOf(target)
    assert.is.not(tenant.server, kube.server)
    assert.is((await tenant.list(Nodes)).length, 3)
    await tenant.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'only-there' } })
    assert.is(await kube.get(Namespaces, { name: 'only-there' }), undefined)

    await kube.delete(DeploymentTargetClaims, at('dev'))
    await expectGone(kube, DeploymentTargetClaims, at('dev'))
    await expectGone(kube, DeploymentTargets, at(target.metadata.name))
    await expectGone(kube, Secrets, at(target.spec.kubernetesCredentials.clusterCredentialsSecret))
    assert.not(existsSync(join(dir, metadata.uid ?? '')))
    const silence = await tenant.get(Namespaces, { name: 'only-there' }).then(
      () => 'answered',
      () => 'silent',
    )
    assert.is(silence, 'silent')
    await tenant.close()
  })

  it('finishes, once, what it had begun when it was killed', async () => {
    const { metadata } = await ask('again')
    await eventually(() => existsSync(join(dir, metadata.uid ?? '')))
    await stop('SIGKILL')
    start()
    const target = await bound('again')
    const tenant = await clientOf(target)
    await eventually(async () => (await tenant.list(Nodes)).length === 3)
    await tenant.close()
    assert.is((await kube.list(DeploymentTargets, { namespace })).length, 1)
    assert.equal(readdirSync(dir), [metadata.uid])
    await kube.delete(DeploymentTargetClaims, at('again'))
    await expectGone(kube, DeploymentTargets, at(target.metadata.name))
    await eventually(() => readdirSync(dir).length === 0)
  })

  it('removes a cluster whose claim went before it had its target', async () => {
    const { metadata } = await ask('hasty')
    await eventually(() => existsSync(join(dir, metadata.uid ?? '')))
    await stop('SIGKILL')
    await kube.delete(DeploymentTargetClaims, at('hasty'))
    // Where the kill came late there is a target, and the claim goes after it.
    start()
    await expectGone(kube, DeploymentTargetClaims, at('hasty'))
    await eventually(() => readdirSync(dir).length === 0)
    await eventually(async () => (await kube.list(DeploymentTargets, { namespace })).length === 0)
  })
})
