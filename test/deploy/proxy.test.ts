import { equal, match } from 'uvu/assert'
import {
  Agents,
  annotations,
  ConfigMaps,
  DeploymentTargetClaims,
  Environments,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  GitProjects,
  type Kind,
  type KubeObject,
  Secrets,
  Workspaces,
} from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'

const SECRETS = ['berth-proxy-keys', 'berth-proxy-ssh', 'berth-proxy-ssh-authority']

describe('the rights of the proxy', (it) => {
  const cluster = testCluster()
  const proxy = cluster.kube.as({ user: 'system:serviceaccount:berth-system:berth-proxy' })
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('rights')
    const metadata = { name: 'web', namespace, annotations: { 'example.com/own': '1' } }
    await cluster.kube.create(Workspaces, { apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace', metadata, spec: {} })
    await eventually(() => proxy.list(Workspaces, { namespace }))
  })
  it.after(() => cluster.close())

  const patch = (change: object) => proxy.patch(Workspaces, { name: 'web', namespace }, change)

  it('let it write when a workspace was used', async () => {
    const now = '2030-01-01T00:00:00Z'
    await patch({ metadata: { annotations: { [annotations.lastActivity]: now, [annotations.activityWatched]: now } } })
    const later = { [annotations.lastActivity]: '2030-01-01T00:01:00Z', [annotations.lastActivityBy]: 'Connection' }
    await patch({ metadata: { annotations: later } })
  })

  it('let it change nothing else of a workspace', async () => {
    match(await refusalOf(patch({ spec: { desiredState: 'Stopped' } })), /nothing else of it/)
    match(
      await refusalOf(patch({ spec: { shares: [{ name: 'a', user: 'eve', ports: ['app'] }] } })),
      /can be changed by the owner|nothing else of it/,
    )
    match(await refusalOf(patch({ metadata: { labels: { a: 'b' } } })), /nothing else of it/)
    match(
      await refusalOf(patch({ metadata: { finalizers: ['example.com/mine'] } })),
      /can be changed by the owner|nothing else of it/,
    )
    for (const value of ['2', null])
      match(
        await refusalOf(patch({ metadata: { annotations: { 'example.com/own': value } } })),
        /of annotations the proxy may write/,
      )
    match(await refusalOf(patch({ metadata: { annotations: { 'berth.dev/refresh-variables': '1' } } })), /of annotations/)
  })

  it('let it see no Secret but its own, and make nothing elsewhere', async () => {
    match(await refusalOf(proxy.list(Secrets, { namespace })), /forbidden/i)
    match(await refusalOf(proxy.list(Secrets, { namespace: 'berth-system' })), /forbidden/i)
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'mine', namespace } }
    match(await refusalOf(proxy.create(Secrets, secret)), /forbidden/i)
    for (const name of SECRETS) await proxy.list(Secrets, { namespace: 'berth-system', fields: `metadata.name=${name}` })
  })

  it('let it make its own Secret and ConfigMaps, and nothing that could be the settings of another program, or its token', async () => {
    const make = (kind: Kind, name: string, more: object = {}) => {
      const object = { apiVersion: 'v1', kind: kind.kind, metadata: { name, namespace: 'berth-system' }, ...more }
      return proxy.create(kind, object, { dryRun: true })
    }
    for (const name of SECRETS) await make(Secrets, name, { type: 'Opaque' })
    for (const name of ['berth-proxy-sign-outs', 'berth-proxy-connections', 'berth-proxy-ssh']) await make(ConfigMaps, name)
    match(
      await refusalOf(make(Secrets, 'mine')),
      'of secrets the proxy creates berth-proxy-keys and berth-proxy-ssh and berth-proxy-ssh-authority only',
    )
    match(await refusalOf(make(ConfigMaps, 'berth')), 'of configmaps the proxy creates')
    const metadata = {
      name: 'berth-proxy-keys',
      namespace: 'berth-system',
      annotations: { 'kubernetes.io/service-account.name': 'berth-operator' },
    }
    const token = { type: 'kubernetes.io/service-account-token', metadata }
    match(await refusalOf(make(Secrets, 'berth-proxy-keys', token)), 'without a type of its own')
  })

  it('let its dashboard hear of all that its pages list, and change none of it', async () => {
    const kinds = [Agents, DeploymentTargetClaims, Environments, GitOpsDeployments, GitOpsDeploymentSyncRuns, GitProjects]
    for (const kind of kinds) {
      equal(await proxy.list<KubeObject>(kind, { namespace }), [])
      match(await refusalOf(proxy.delete(kind, { name: 'any', namespace })), /cannot delete resource/)
    }
  })

  it('let its dashboard act as people, and as nothing that is none', async () => {
    const may = async (resource: string): Promise<boolean> => {
      const { status } = await proxy.post<{ status: { allowed: boolean } }>(
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { resourceAttributes: { verb: 'impersonate', resource } },
        },
      )
      return status.allowed
    }
    equal(await Promise.all(['users', 'groups', 'serviceaccounts', 'uids'].map(may)), [true, true, false, false])
  })
})
