import { is, match } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import {
  ConfigMaps,
  conditionOf,
  DeploymentTargets,
  Environments,
  GitOpsDeploymentManagedEnvironments,
  Secrets,
} from '../../src/api/index.ts'
import { deployer } from '../support/builders/credentials.ts'
import { environment, managedSecret, viaCredentials } from '../support/builders/environments.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { type StrangeServer, silentServer } from '../support/builders/strange-server.ts'
import type { TestRepository } from '../support/git-host.ts'
import { describe } from '../support/suite.ts'
import { kubeconfigFor, kubeconfigSecret, target } from '../support/targets.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { bringCluster, bringUp, type Installation, sourceOf } from './installation.ts'

/** Hosts that are, or lead to, the machine that the operator runs on. */
const OWN = {
  address: '127.0.0.1',
  short: '127.1',
  number: '2130706433',
  octal: '0177.0.0.1',
  hex: '0x7f.1',
  another: '127.9.9.9',
  six: '[::1]',
  mapped: '[::ffff:127.0.0.1]',
  'mapped-hex': '[::ffff:7f00:1]',
  translated: '[64:ff9b::7f00:1]',
  compatible: '[::7f00:1]',
  name: 'localhost',
  'name-case': 'LocalHost',
  private: '10.0.0.1',
  'private-mapped': '[::ffff:192.168.0.1]',
  unique: '[fd00::1]',
}
/** Where clouds tell machines their credentials, and what belongs to no host: refused whatever the platform engineers say. */
const NEVER = {
  metadata: '169.254.169.254',
  'metadata-number': '2852039166',
  'metadata-mapped': '[::ffff:169.254.169.254]',
  'metadata-six': '[fd00:ec2::254]',
  'metadata-other': '100.100.100.200',
  'link-local': '[fe80::1]',
  unspecified: '0.0.0.0',
  'unspecified-six': '[::]',
}
const LOCAL = /leads to an address of this installation's own machines or networks/
const RESERVED = /leads to a link-local, metadata or reserved address/

/** Mallory says that her cluster is where the operator is. Whoever is connected to there is counted. */
describe('hostile: targets that are the operator’s own machine', (it) => {
  let berth: Installation
  let mallory: Kube
  let wire: StrangeServer
  /** How many had connected when the operator began to refuse it. */
  let before = 0
  let loot: TestRepository
  it.before(async () => {
    wire = await silentServer()
    berth = await bringUp(['team-a', 'evil'])
    mallory = await berth.person('mallory', 'evil', 'edit')
    loot = await berth.repository('evil', 'loot', { 'a.yaml': configMap('taken') })
  })
  it.after(async () => {
    await wire.close()
    await berth.stop()
  })

  const inEvil = (name: string) => ({ name, namespace: 'evil' })
  /** Her cluster at this host: as an environment with a deployment to it, and as a target. */
  const bring = async (name: string, host: string) => {
    const apiURL = wire.url.replace('127.0.0.1', host)
    await bringCluster(mallory, inEvil(name), kubeconfigFor(apiURL), { apiURL, allowInsecureSkipTLSVerify: true })
    await berth.follow('evil', name, { source: sourceOf(loot.url), destination: { environment: name, namespace: 'evil' } })
    await mallory.create(Secrets, kubeconfigSecret('evil', kubeconfigFor(apiURL), `target-${name}`))
    const kubernetesCredentials = { defaultNamespace: 'evil', apiURL, clusterCredentialsSecret: `target-${name}` }
    await mallory.create(DeploymentTargets, target('evil', name, { kubernetesCredentials }))
  }
  const isRefused = async (name: string, words: RegExp) => {
    await expectObject(berth.kube, GitOpsDeploymentManagedEnvironments, inEvil(name), ({ status }) => {
      const { reason, message = '' } = conditionOf(status?.conditions, 'Ready') ?? {}
      is(reason, 'UnsupportedAPIURL', `${name}: ${message}`)
      match(message, words)
    })
    await berth.told('evil', name, words)
    await expectObject(berth.kube, DeploymentTargets, inEvil(name), ({ status }) => {
      const { status: reached, message = '' } = conditionOf(status?.conditions, 'Reachable') ?? {}
      is(reached, 'False', `${name}: ${message}`)
      match(message, words)
    })
  }

  it('are never what clouds tell their secrets at, in whichever way that is written', async () => {
    for (const [name, host] of Object.entries(NEVER)) await bring(name, host)
    for (const name of Object.keys(NEVER)) await isRefused(name, RESERVED)
    is(wire.seen, 0)
  })

  it('are refused and told by an operator that refuses local targets, and nothing connects', async () => {
    // Another operator connects, so that it would be seen.
    await bring('open', OWN.address)
    await eventually(() => wire.seen > 0)
    await berth.restartOperator('--refuse-local-targets')
    before = wire.seen
    for (const [name, host] of Object.entries(OWN)) await bring(name, host)
    for (const name of Object.keys(OWN)) await isRefused(name, LOCAL)
    is(wire.seen, before)
  })

  it('are no receivers of notifications, nor behind an Environment, for that operator', async () => {
    const url = wire.url
    const data = Object.fromEntries(
      Object.entries({ url, secret: 'x' }).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    )
    await mallory.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: inEvil('hook'), data })
    await berth.follow('evil', 'tells', {
      source: sourceOf(loot.url),
      notifications: [{ kind: 'Webhook', secretRef: { name: 'hook' } }],
    })
    match(await berth.heard('evil', 'NotificationFailed'), LOCAL)
    await mallory.create(Secrets, managedSecret('evil', 'credentials', kubeconfigFor(url)))
    const named = viaCredentials({ apiURL: url, targetNamespace: 'evil', clusterCredentialsSecret: 'credentials' })
    await mallory.create(Environments, environment('evil', 'local', named))
    await expectObject(berth.kube, Environments, inEvil('local'), ({ status }) => {
      match(conditionOf(status?.conditions, 'Ready')?.message ?? '', LOCAL)
    })
    is(wire.seen, before)
  })

  it('are another matter than the own cluster, to which others deliver as before', async () => {
    const { kubeconfig } = await deployer(berth.kube, 'team-a', { role: 'admin' })
    await bringCluster(berth.kube, { name: 'own', namespace: 'team-a' }, kubeconfig, {
      apiURL: berth.kube.server,
      namespaces: ['team-a'],
    })
    const { url } = await berth.repository('team-a', 'app', { 'a.yaml': configMap('app') })
    await berth.follow('team-a', 'app', { source: sourceOf(url), destination: { environment: 'own', namespace: 'team-a' } })
    await expectObject(berth.kube, ConfigMaps, { name: 'app', namespace: 'team-a' }, () => true)
    is(wire.seen, before)
  })
})
