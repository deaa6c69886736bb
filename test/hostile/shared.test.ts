import { equal, is, match, ok } from 'uvu/assert'
import { stringify } from 'yaml'
import type { Kube } from '../../src/adapters/kube/index.ts'
import {
  annotations,
  Deployments,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  type Kind,
  type KubeObject,
  labels,
  PersistentVolumeClaims,
  type Ref,
  Secrets,
  Services,
  type Workspace,
  WorkspaceClasses,
  type WorkspaceSpec,
  Workspaces,
} from '../../src/api/index.ts'
import { allow, deployer } from '../support/builders/credentials.ts'
import { describe } from '../support/suite.ts'
import { kubeconfigSecret, target, targetClass } from '../support/targets.ts'
import { expectGone, expectObject } from '../support/verbs.ts'
import { workspace, workspaceClass } from '../support/workspaces.ts'
import { bringUp, type Installation } from './installation.ts'

const SHARED = 'pool'
const HERS = { name: 'web', namespace: 'team-a' }
const SECRET = Buffer.from('hers alone').toString('base64')
const inPool = (name: string) => ({ name, namespace: SHARED })
const his = (name: string) => ({ name, namespace: 'evil' })
const runs = ({ status }: Workspace) => status?.actualState === 'Running'

/** A devfile with one container, whose component has what is given, and what else the devfile has. */
const devfile = (component: object = {}, more: { components?: object[]; [key: string]: unknown } = {}) => {
  const { components = [], ...rest } = more
  const tools = { name: 'tools', ...component, container: { image: 'tools:1', endpoints: [{ name: 'web', targetPort: 8080 }] } }
  return { inline: stringify({ schemaVersion: '2.3.0', ...rest, components: [tools, ...components] }) }
}
const overriding = (pod: object) => devfile({}, { attributes: { 'pod-overrides': pod } })
const podOf = (name: string, spec: object, apiVersion = 'v1') => ({
  name,
  kubernetes: { inlined: stringify({ apiVersion, kind: 'Pod', metadata: { name }, spec }) },
})

/** Alice and bob make workspaces, in namespaces of their own, of a class whose workspaces all lie in one. Bob writes claims, too. */
describe('hostile: a namespace that workspaces share', (it) => {
  let berth: Installation
  let bob: Kube
  it.before(async () => {
    berth = await bringUp(['team-a', 'evil', SHARED])
    const { kubeconfig } = await deployer(berth.kube, SHARED, { role: 'admin' })
    await berth.kube.create(DeploymentTargetClasses, targetClass(SHARED))
    await berth.kube.create(
      WorkspaceClasses,
      workspaceClass(SHARED, { deploymentTargetClassName: SHARED, sharedNamespace: SHARED }),
    )
    for (const namespace of ['team-a', 'evil']) await berth.kube.create(Secrets, kubeconfigSecret(namespace, kubeconfig))
    const alice = await member('alice', 'team-a')
    bob = await member('bob', 'evil')
    await berth.kube.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'of-team', namespace: 'team-a', labels: { [labels.variablesLevel]: 'group' } },
      data: { PASSWORD: SECRET },
    })
    await develop(alice, 'team-a', 'web')
    await expectObject(berth.kube, Workspaces, HERS, runs)
  })
  it.after(() => berth.stop())

  async function member(name: string, namespace: string): Promise<Kube> {
    await allow(berth.kube, namespace, name, { group: 'berth.dev', resource: 'workspaces' })
    await allow(berth.kube, namespace, name, { group: 'appstudio.redhat.com', resource: 'deploymenttargetclaims' })
    return berth.as(name)
  }
  /** In a target that the platform has for it. */
  async function develop(as: Kube, namespace: string, name: string, spec: WorkspaceSpec = {}): Promise<void> {
    const kubernetesCredentials = { defaultNamespace: SHARED, apiURL: berth.kube.server, clusterCredentialsSecret: 'credentials' }
    const place = target(namespace, `for-${name}`, { deploymentTargetClassName: SHARED, kubernetesCredentials })
    await berth.kube.create(DeploymentTargets, place)
    await as.create(Workspaces, workspace(namespace, name, { workspaceClassName: SHARED, devfile: devfile(), ...spec }))
  }
  const marked = <T extends KubeObject>(kind: Kind<T>, uid = '') =>
    berth.kube.list(kind, { namespace: SHARED, labels: `${labels.workspaceUid}=${uid}` })
  const uidOf = async (ref: Ref) => (await berth.kube.get(Workspaces, ref))?.metadata.uid
  const fails = (name: string, words: RegExp) =>
    expectObject(berth.kube, Workspaces, his(name), ({ status }) => words.test(JSON.stringify(status?.failure ?? '')))
  /** Her objects are there, hers, and as she wants them. */
  const assertHers = async () => {
    const uid = await uidOf(HERS)
    for (const kind of [PersistentVolumeClaims, Deployments]) {
      const names = (await marked<KubeObject>(kind, uid)).map(({ metadata }) => metadata.name)
      equal(names, ['workspace-web'])
    }
    is((await berth.kube.get(Secrets, inPool('workspace-web-variables')))?.data?.PASSWORD, SECRET)
    await expectObject(berth.kube, Workspaces, HERS, runs)
  }

  it('is not taken from the one by the other’s workspace of the same name, nor when that is deleted', async () => {
    await develop(bob, 'evil', 'web')
    await fails('web', /ObjectTaken/)
    await bob.delete(Workspaces, his('web'))
    await expectGone(berth.kube, Workspaces, his('web'))
    await assertHers()
  })

  it('has nothing in it that another’s devfile reaches: her volume, her Secrets, her traffic', async () => {
    const hers = { volumes: [{ name: 'a', persistentVolumeClaim: { claimName: 'workspace-web' } }] }
    const attempts: [name: string, devfile: { inline: string }, words: RegExp][] = [
      ['volume', overriding({ spec: hers }), /volumes cannot be set/],
      ['labels', overriding({ metadata: { labels: { [labels.workspace]: 'web' } } }), /labels cannot be set/],
      ['account', overriding({ spec: { serviceAccountName: 'deployer' } }), /serviceAccountName cannot be set/],
      [
        'secret',
        devfile({ attributes: { 'container-overrides': { envFrom: [{ secretRef: { name: 'workspace-web-variables' } }] } } }),
        /envFrom cannot be set/,
      ],
      [
        'pod',
        devfile({}, { components: [podOf('thief', { ...hers, containers: [{ name: 'a', image: 'a' }] })] }),
        /bob may not create/,
      ],
      // A version is a part of the path that is asked, with the rights of the target.
      ['version', devfile({}, { components: [podOf('reader', {}, `v1%2fnamespaces%2f${SHARED}%2fsecrets`)] }), /has no v1%2fnam/],
    ]
    for (const [name, hostile, words] of attempts) {
      await develop(bob, 'evil', name, { devfile: hostile })
      await fails(name, words)
      is(await berth.kube.get(Deployments, inPool(`workspace-${name}`)), undefined)
    }
    await assertHers()
  })

  it('has her volume in none of his pods, whatever he writes on his claim', async () => {
    const volume = { metadata: { annotations: { [annotations.volume]: 'workspace-web' } } }
    await develop(bob, 'evil', 'plain')
    await expectObject(berth.kube, Workspaces, his('plain'), runs)
    await bob.patch(DeploymentTargetClaims, his('workspace-plain'), volume)
    await bob.patch(Workspaces, his('plain'), { spec: { devfile: devfile({}, { metadata: { name: 'again' } }) } })
    await fails('plain', /workspace-web in namespace pool is there, but not this workspace/)
    await bob.patch(DeploymentTargetClaims, his('workspace-plain'), { metadata: { annotations: { [annotations.volume]: null } } })
    await expectObject(berth.kube, Workspaces, his('plain'), runs)
    const uid = await uidOf(his('plain'))
    const [deployment] = await marked(Deployments, uid)
    const { volumes = [] } = deployment?.spec?.template.spec ?? {}
    const names = volumes.flatMap(
      ({ persistentVolumeClaim, secret }) => persistentVolumeClaim?.claimName ?? secret?.secretName ?? [],
    )
    ok(names.length > 0)
    for (const name of names) match(name, /^workspace-plain/)
    for (const { spec } of await marked(Services, await uidOf(HERS))) is(spec?.selector?.[labels.workspaceUid], await uidOf(HERS))
    await bob.patch(DeploymentTargetClaims, his('workspace-plain'), volume)
    await bob.delete(Workspaces, his('plain'))
    await expectGone(berth.kube, Workspaces, his('plain'))
    await assertHers()
  })
})
