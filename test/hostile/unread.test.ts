import { is, match, not } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import {
  type Condition,
  ConfigMaps,
  CoreEvents,
  DeploymentTargetClaims,
  DeploymentTargets,
  Environments,
  type GitOpsDeployment,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  type Kind,
  type KubeObject,
  labels,
  Pods,
  Secrets,
  type Workspace,
  Workspaces,
} from '../../src/api/index.ts'
import { environment, managedEnvironment, managedSecret, viaCredentials } from '../support/builders/environments.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { plainServer, type StrangeServer } from '../support/builders/strange-server.ts'
import { describe } from '../support/suite.ts'
import { API_URL, kubeconfigFor, target } from '../support/targets.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { workspace } from '../support/workspaces.ts'
import { bringUp, type Installation, sourceOf } from './installation.ts'

const CANARY = 'for-the-eyes-of-team-a'
const DEVFILE = `schemaVersion: 2.2.0\ncomponents: [{ name: ${CANARY}, container: { image: 'example.com/${CANARY}:1' } }]\n`
const base64 = (plain: string) => Buffer.from(plain).toString('base64')

/** Ways to write `vault` of team-a where the name of a Secret of the own namespace belongs. */
const NAMES = [
  '../team-a/vault',
  '../../team-a/secrets/vault',
  'team-a/vault',
  'team-a:vault',
  '..%2F..%2Fteam-a%2Fsecrets%2Fvault',
  'vault?namespace=team-a',
]

/** Team-a has a Secret and a private project, and uses both. Mallory has `edit` in `evil`, knows their names, and names them wherever one can. */
describe('hostile: what another keeps to himself', (it) => {
  let berth: Installation
  let mallory: Kube
  /** Who holds the Secret of team-a makes it ring. */
  let bell: StrangeServer
  it.before(async () => {
    bell = await plainServer((_, response) => response.end())
    berth = await bringUp(['team-a', 'evil'])
    mallory = await berth.person('mallory', 'evil', 'edit')
    const vault = managedSecret('team-a', 'vault', kubeconfigFor(API_URL, CANARY))
    const said = Object.entries({ url: bell.url, secret: CANARY, token: CANARY, password: CANARY })
    const data = { ...vault.data, ...Object.fromEntries(said.map(([key, value]) => [key, base64(value)])) }
    // As open as its owner may make it: only whose namespace it is in stands between.
    const marks = { [labels.workspaceVariables]: 'true', [labels.gitCredentials]: 'true' }
    await berth.kube.create(Secrets, { ...vault, metadata: { ...vault.metadata, labels: marks }, data })
    const own = await berth.repository('team-a', 'own', { 'a.yaml': configMap('own', { is: '${token}' }) })
    await berth.follow('team-a', 'own', {
      source: sourceOf(own.url),
      variables: { from: [{ kind: 'Secret', name: 'vault' }] },
      notifications: [{ kind: 'Webhook', secretRef: { name: 'vault' } }],
    })
    await expectObject(berth.kube, ConfigMaps, { name: 'own', namespace: 'team-a' }, ({ data: now }) => now?.is === CANARY)
    await eventually(() => bell.seen === 1)
  })
  it.after(async () => {
    await bell.close()
    await berth.stop()
  })

  const inEvil = (name: string) => ({ name, namespace: 'evil' })
  /** Neither in what she reads, nor in what was made for her anywhere, whoever may read that. */
  const assertNothing = async () => {
    is(bell.seen, 1)
    const kinds = [
      ConfigMaps,
      CoreEvents,
      DeploymentTargetClaims,
      DeploymentTargets,
      Environments,
      GitOpsDeploymentManagedEnvironments,
      GitOpsDeploymentSyncRuns,
      GitOpsDeployments,
      Workspaces,
    ]
    for (const kind of kinds) not.match(JSON.stringify(await mallory.list(kind, { namespace: 'evil' })), CANARY)
    const secrets = (await berth.kube.list(Secrets)).filter(({ metadata }) => metadata.namespace !== 'team-a')
    for (const { data = {} } of secrets)
      for (const value of Object.values(data)) not.match(Buffer.from(value, 'base64').toString(), CANARY)
  }
  /** What she has brought is a ConfigMap of this name, in which the loot would stand. */
  const follow = async (name: string, spec: Partial<GitOpsDeployment['spec']>) => {
    const { url } = await berth.repository('evil', name, { 'a.yaml': configMap(name, { is: '${token:=nothing}' }) })
    await berth.follow('evil', name, { source: sourceOf(url), ...spec })
  }
  const told = <T extends KubeObject & { status?: { conditions?: Condition[] } }>(kind: Kind<T>, name: string, words: RegExp) =>
    expectObject(berth.kube, kind, inEvil(name), ({ status }) => {
      match(status?.conditions?.map(({ message }) => message).join('\n') ?? '', words)
    })

  it('is not read by the notifications of her deployment, whatever name they give it', async () => {
    for (const kind of ['Webhook', 'GitHub'] as const)
      await follow(`tells-${kind.toLowerCase()}`, { notifications: NAMES.map((name) => ({ kind, secretRef: { name } })) })
    for (const kind of ['Webhook', 'GitHub'])
      for (const [at, name] of NAMES.entries())
        await eventually(async () =>
          (await mallory.list(CoreEvents, { namespace: 'evil' })).some(({ message = '' }) =>
            message.startsWith(`spec.notifications[${at}] (${kind}): there is no Secret ${name} in this namespace`),
          ),
        )
    await assertNothing()
  })

  it('is not read as variables of her deployment, which says so, or goes on without', async () => {
    for (const [at, name] of NAMES.entries()) await follow(`takes-${at}`, { variables: { from: [{ kind: 'Secret', name }] } })
    const words = /spec\.variables\.from\[0\]: there is no Secret .*vault.* in namespace evil/
    for (const at of NAMES.keys()) await told(GitOpsDeployments, `takes-${at}`, words)
    await follow('goes-on', { variables: { from: NAMES.map((name) => ({ kind: 'Secret', name, optional: true })) } })
    await expectObject(berth.kube, ConfigMaps, inEvil('goes-on'), ({ data }) => data?.is === 'nothing')
    await assertNothing()
  })

  it('is not taken for the credentials of an environment, of a target, or of a cluster', async () => {
    for (const [at, name] of NAMES.entries()) {
      const spec = { apiURL: API_URL, credentialsSecret: name }
      await mallory.create(GitOpsDeploymentManagedEnvironments, managedEnvironment('evil', `brings-${at}`, spec))
      const kubernetesCredentials = { defaultNamespace: 'evil', apiURL: API_URL, clusterCredentialsSecret: name }
      await mallory.create(DeploymentTargets, target('evil', `brings-${at}`, { kubernetesCredentials }))
      const named = viaCredentials({ targetNamespace: 'evil', clusterCredentialsSecret: name })
      await mallory.create(Environments, environment('evil', `names-${at}`, named))
    }
    for (const at of NAMES.keys()) {
      const missing = /credentialsSecret names Secret evil\/.*vault.*, which does not exist/
      await told(GitOpsDeploymentManagedEnvironments, `brings-${at}`, missing)
      await told(DeploymentTargets, `brings-${at}`, /clusterCredentialsSecret names Secret .*vault.*, which does not exist/)
      await told(Environments, `names-${at}`, /the secret .*vault.* referenced by the Environment resource was not found/)
    }
    await assertNothing()
  })

  it('is not taken for the variables or the Git credentials of her workspace', async () => {
    await berth.repository('evil', 'shop', { 'README.md': 'A shop.' })
    for (const [at, name] of NAMES.entries()) {
      const variables: Workspace['spec']['variables'] = [{ name: 'LOOT', secretKeyRef: { name, key: 'token' } }]
      await mallory.create(Workspaces, workspace('evil', `vars-${at}`, { variables }))
    }
    const byCopy = { git: { delivery: 'ByCopy', credentialsSecretRef: { name: '../team-a/vault' } } } as const
    await mallory.create(Workspaces, workspace('evil', 'git', { project: { gitProject: 'shop' }, ...byCopy }))
    for (const at of NAMES.keys())
      await told(Workspaces, `vars-${at}`, /spec\.variables "LOOT": (there is no Secret .*vault|nothing can be called)/)
    await told(Workspaces, 'git', /spec\.git\.credentialsSecretRef: there is no Secret \.\.\/team-a\/vault labelled/)
    await assertNothing()
  })

  it('is no parent of her devfile, and no object in it, where it lies in a private project', async () => {
    const beside = JSON.stringify(configMap(CANARY))
    await berth.repository('team-a', 'devfiles', { 'devfile.yaml': DEVFILE, 'k8s.yaml': beside })
    const child = (uri: string) => `schemaVersion: 2.2.0\nparent: { uri: '${uri}' }\n`
    const holder = (uri: string) =>
      `schemaVersion: 2.2.0\ncomponents: [{ name: tools, container: { image: tools } }, { name: k, kubernetes: { uri: '${uri}' } }]\n`
    const uris = [
      'berth://git/team-a/devfiles/-/devfile.yaml',
      'berth://git/team-a/devfiles/-/devfile.yaml?ref=main',
      'berth://git/team-a/devfiles/-/k8s.yaml',
      'berth://git/evil/shop/../../team-a/devfiles/-/devfile.yaml',
      'berth://git/evil/../team-a/devfiles/-/devfile.yaml',
      'berth://git/team-a%2Fdevfiles/-/devfile.yaml',
      'berth://git/evil/shop/-/../../team-a/devfiles/-/devfile.yaml',
      'BERTH://git/team-a/devfiles/-/devfile.yaml',
    ]
    await berth.kube.create(Workspaces, workspace('team-a', 'heir', { devfile: { inline: child(uris[0] ?? '') } }))
    await expectObject(
      berth.kube,
      Workspaces,
      { name: 'heir', namespace: 'team-a' },
      ({ status }) => status?.actualState === 'Running',
    )
    for (const [at, uri] of uris.entries()) {
      await mallory.create(Workspaces, workspace('evil', `heir-${at}`, { devfile: { inline: child(uri) } }))
      await mallory.create(Workspaces, workspace('evil', `holder-${at}`, { devfile: { inline: holder(uri) } }))
    }
    const words = /cannot be read: there is no GitProject with path .*team-a.*devfiles that namespace evil may read/
    for (const at of uris.keys()) for (const name of [`heir-${at}`, `holder-${at}`]) await told(Workspaces, name, words)
    const pods = (await berth.kube.list(Pods)).filter(({ metadata }) =>
      /^(heir|holder)-/.test(metadata.labels?.[labels.workspace] ?? ''),
    )
    is(pods.length, 0)
    await assertNothing()
  })
})
