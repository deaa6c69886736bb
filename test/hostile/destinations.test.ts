import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { is, match, not } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import { ConfigMaps, GitOpsDeploymentManagedEnvironments, GitOpsDeployments } from '../../src/api/index.ts'
import { deployer } from '../support/builders/credentials.ts'
import { managedEnvironment } from '../support/builders/environments.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { answeringServer, type StrangeServer } from '../support/builders/strange-server.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { kubeconfigFor } from '../support/targets.ts'
import { bringCluster, bringUp, type Installation, sourceOf } from './installation.ts'

const CANARY = 'read from a file of the operator'
type Spec = Parameters<Installation['follow']>[2]

/** Mallory says where her deployments go, and what they read, by kubeconfigs that she wrote and by names that would lead to ada's. */
describe('hostile: where a deployment goes', (it) => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-destinations-'))
  const [file, trace] = [join(folder, 'file'), join(folder, 'trace')]
  let berth: Installation
  let mallory: Kube
  /** Where she would have requests go; and what sends who asks it there. */
  let elsewhere: StrangeServer
  let redirecting: StrangeServer
  let asked = ''
  /** Her repositories: of what has no namespace, and of what has ada's. */
  let [loot, abroad] = ['', '']
  it.before(async () => {
    writeFileSync(file, CANARY)
    elsewhere = await answeringServer(({ headers }, response) => {
      asked += JSON.stringify(headers)
      response.writeHead(404).end()
    })
    redirecting = await answeringServer(({ url }, response) =>
      response.writeHead(307, { location: `${elsewhere.url}${url}` }).end(),
    )
    berth = await bringUp(['team-a', 'evil'])
    mallory = await berth.person('mallory', 'evil', 'edit')
    const { kubeconfig } = await deployer(berth.kube, 'team-a', { role: 'admin' })
    await bringCluster(berth.kube, { name: 'prod', namespace: 'team-a' }, kubeconfig, { apiURL: berth.kube.server })
    await berth.kube.create(ConfigMaps, configMap('settings', { word: CANARY }, 'team-a'))
    loot = (await berth.repository('evil', 'loot', { 'a.yaml': configMap('taken', { is: '${word:=nothing}' }) })).url
    abroad = (await berth.repository('evil', 'abroad', { 'a.yaml': configMap('taken', {}, 'team-a') })).url
  })
  it.after(async () => {
    await elsewhere.close()
    await redirecting.close()
    await berth.stop()
    rmSync(folder, { recursive: true })
  })

  /** Her cluster, by a kubeconfig with these additions. */
  const bring = async (name: string, apiURL: string, { user = {}, cluster = {} }: { user?: object; cluster?: object } = {}) => {
    const plain = JSON.parse(kubeconfigFor(apiURL))
    Object.assign(plain.users[0].user, user)
    Object.assign(plain.clusters[0].cluster, cluster)
    const spec = { apiURL, allowInsecureSkipTLSVerify: true }
    await bringCluster(mallory, { name, namespace: 'evil' }, JSON.stringify(plain), spec)
    await follow(name, { destination: { environment: name, namespace: 'evil' } })
  }
  const follow = (name: string, spec: Partial<Spec>) => berth.follow('evil', name, { source: sourceOf(loot), ...spec })
  const assertNothing = async () => {
    is(await berth.kube.get(ConfigMaps, { name: 'taken', namespace: 'team-a' }), undefined)
    const hers = [
      await mallory.list(GitOpsDeployments, { namespace: 'evil' }),
      await mallory.list(ConfigMaps, { namespace: 'evil' }),
      asked,
    ]
    not.match(JSON.stringify(hers), CANARY)
  }

  const kubeconfigs: [what: string, additions: () => { user?: object; cluster?: object }, words: RegExp][] = [
    [
      'exec',
      () => ({ user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'touch', args: [trace] } } }),
      /user\.exec/,
    ],
    [
      'provider',
      () => ({ user: { 'auth-provider': { name: 'oidc', config: { 'cmd-path': 'touch', 'cmd-args': trace } } } }),
      /auth-provider/,
    ],
    ['token', () => ({ user: { tokenFile: file } }), /tokenFile/],
    ['certificate', () => ({ user: { 'client-certificate': file, 'client-key': file } }), /client-certificate/],
    ['authority', () => ({ cluster: { 'certificate-authority': file } }), /certificate-authority/],
    ['proxy', () => ({ cluster: { 'proxy-url': elsewhere.url } }), /proxy-url/],
    ['guise', () => ({ user: { as: 'system:admin', 'as-groups': ['system:masters'] } }), /user\.as/],
  ]
  it('runs nothing, and reads nothing, that a kubeconfig names', async () => {
    for (const [what, additions] of kubeconfigs) await bring(what, elsewhere.url, additions())
    for (const [what, , words] of kubeconfigs) await berth.told('evil', what, words)
    is(existsSync(trace), false)
    is(elsewhere.seen, 0)
    await assertNothing()
  })

  it('is not where a redirection leads, nor without TLS', async () => {
    await bring('redirected', redirecting.url)
    await berth.told('evil', 'redirected', /HTTP 307/)
    is(elsewhere.seen, 0)
    const spec = { apiURL: elsewhere.url.replace('https:', 'http:'), credentialsSecret: 'redirected' }
    match(
      await refusalOf(mallory.create(GitOpsDeploymentManagedEnvironments, managedEnvironment('evil', 'plain', spec))),
      'https://',
    )
    await assertNothing()
  })

  const names: [what: string, spec: () => Partial<Spec>, words: RegExp][] = [
    ['abroad', () => ({ source: sourceOf(abroad) }), /forbidden/],
    ['environment', () => ({ destination: { environment: '../team-a/prod', namespace: 'team-a' } }), /prod/],
    ['environment-of', () => ({ destination: { environment: 'team-a/prod', namespace: 'team-a' } }), /prod/],
    ['variables', () => ({ variables: { from: [{ kind: 'ConfigMap', name: '../../team-a/configmaps/settings' }] } }), /settings/],
    ['waits', () => ({ dependsOn: [{ name: 'app', namespace: 'team-a' }] }), /is in another namespace/],
  ]
  it('is not in another’s namespace, whatever it names', async () => {
    for (const serviceAccountName of ['../team-a/deployer', 'team-a:deployer'])
      match(await refusalOf(follow('account', { serviceAccountName })), 'spec.serviceAccountName')
    for (const [what, spec] of names) await follow(what, spec())
    for (const [what, , words] of names) await berth.told('evil', what, words)
    await assertNothing()
  })
})
