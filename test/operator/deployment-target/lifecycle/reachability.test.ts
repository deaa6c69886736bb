import * as assert from 'uvu/assert'
import { type Condition, conditionOf, type DeploymentTarget, DeploymentTargets, Secrets } from '../../../../src/api/index.ts'
import { targetLifecycle } from '../../../../src/operator/deployment-target/lifecycle/index.ts'
import { minutes, seconds } from '../../../../src/std/index.ts'
import { type Deployer, deployer } from '../../../support/builders/credentials.ts'
import { echoingServer, type StrangeServer, silentServer } from '../../../support/builders/strange-server.ts'
import { type SteppedClock, steppedClock } from '../../../support/clock.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../../support/operator.ts'
import { describe } from '../../../support/suite.ts'
import { sweep } from '../../../support/sweep.ts'
import { kubeconfigFor, kubeconfigSecret, target } from '../../../support/targets.ts'
import { expectObject } from '../../../support/verbs.ts'

describe('whether the API of a target answers', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const strangers: StrangeServer[] = []
  let operator: RunningOperator | undefined
  let namespace = ''
  let account: Deployer

  const open = async (clock?: SteppedClock) => {
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [targetLifecycle(context)],
      ...(clock && { clock }),
    })
    return operator
  }
  it.beforeEach(async () => {
    namespace = await cluster.namespace('reach')
    account = await deployer(kube, namespace)
  })
  it.afterEach(async () => {
    await operator?.stop()
    operator = undefined
    await sweep(kube, namespace)
    await Promise.all(strangers.splice(0).map((each) => each.close()))
  })
  it.after(() => cluster.close())

  const ref = (name: string) => ({ name, namespace })
  const encoded = (text: string) => ({ kubeconfig: Buffer.from(text).toString('base64') })
  const make = async (name: string, apiURL: string, kubeconfig: string) => {
    await kube.create(Secrets, kubeconfigSecret(namespace, kubeconfig, name))
    const kubernetesCredentials = {
      defaultNamespace: namespace,
      apiURL,
      clusterCredentialsSecret: name,
      // A stranger's certificate is nobody's; this cluster's own is in the kubeconfig.
      allowInsecureSkipTLSVerify: apiURL !== kube.server,
    }
    await kube.create(DeploymentTargets, target(namespace, name, { kubernetesCredentials }))
  }
  const reachOf = ({ status }: DeploymentTarget): Condition | undefined => conditionOf(status?.conditions, 'Reachable')
  const told = (name: string, reason: string) =>
    expectObject(kube, DeploymentTargets, ref(name), (object) => assert.is(reachOf(object)?.reason, reason))
  const stranger = async (making: Promise<StrangeServer>) => {
    const server = await making
    strangers.push(server)
    return server
  }
  const versionOf = async (name: string) => (await kube.get(DeploymentTargets, ref(name)))?.metadata.resourceVersion

  it('says so when it answers, in the same write as everything else', async () => {
    await open()
    await make('prod', kube.server, account.kubeconfig)
    const prod = await told('prod', 'Answers')
    assert.is(reachOf(prod)?.status, 'True')
    assert.is(prod.status?.phase, 'Available')
    assert.is(prod.status?.asked?.apiURL, kube.server)
  })

  it('says why when nobody answers, and offers the target all the same', async () => {
    await open()
    const closed = 'https://127.0.0.1:9'
    await make('prod', closed, kubeconfigFor(closed))
    const prod = await told('prod', 'NoAnswer')
    assert.is(reachOf(prod)?.status, 'False')
    assert.match(reachOf(prod)?.message ?? '', /127\.0\.0\.1:9 does not answer \(\w+\)\. Check apiURL/)
    assert.is(prod.status?.phase, 'Available')
    assert.is(conditionOf(prod.status?.conditions, 'Ready')?.status, 'True')
  })

  it('does not let a server that says nothing hold up the phase', async () => {
    await open()
    const silent = await stranger(silentServer())
    await make('prod', silent.url, kubeconfigFor(silent.url))
    const prod = await expectObject(kube, DeploymentTargets, ref('prod'), ({ status }) => status?.phase === 'Available')
    assert.is(reachOf(prod)?.status, 'Unknown')
    assert.is(reachOf(prod)?.reason, 'Asking')
  })

  it('tells a refused token, and what is no Kubernetes API, in its own words', async () => {
    await open()
    const [refusing, foreign] = [await stranger(echoingServer(401)), await stranger(echoingServer(200))]
    await make('refused', refusing.url, kubeconfigFor(refusing.url, 'canary-token'))
    await make('foreign', foreign.url, kubeconfigFor(foreign.url, 'canary-token'))
    const invalid = await stranger(echoingServer(400))
    await make('invalid', invalid.url, kubeconfigFor(invalid.url, 'canary-token'))
    const objects = [
      await told('refused', 'TokenRefused'),
      await told('foreign', 'NoKubernetes'),
      await told('invalid', 'NoKubernetes'),
    ]
    for (const object of objects) {
      assert.is(reachOf(object)?.status, 'False')
      assert.not.match(JSON.stringify(object.status), 'canary-token')
    }
  })

  it('asks nobody with credentials that cannot be used, and asks when they can', async () => {
    await open()
    const plain = kube.server.replace('https:', 'http:')
    await make('plain', plain, kubeconfigFor(plain))
    assert.match(reachOf(await told('plain', 'UnsupportedAPIURL'))?.message ?? '', 'no token is sent')
    await make('late', kube.server, 'nothing to use')
    assert.is(reachOf(await told('late', 'CredentialsNotUsable'))?.status, 'Unknown')
    await kube.patch(Secrets, ref('late'), { data: encoded(account.kubeconfig) })
    await told('late', 'Answers')
  })

  it('asks again when the Secret changes, and not otherwise', async () => {
    await open()
    const server = await stranger(echoingServer(401))
    await make('prod', server.url, kubeconfigFor(server.url))
    await told('prod', 'TokenRefused')
    assert.is(server.seen, 1)
    await kube.patch(DeploymentTargets, ref('prod'), { metadata: { annotations: { touched: 'yes' } } })
    await kube.patch(Secrets, ref('prod'), { data: encoded(kubeconfigFor(server.url, 'renewed')) })
    const { metadata } = await expectObject(kube, Secrets, ref('prod'), () => true)
    await expectObject(kube, DeploymentTargets, ref('prod'), ({ status }) =>
      assert.is(status?.asked?.secretVersion, `${metadata.uid}/${metadata.resourceVersion}`),
    )
    assert.is(server.seen, 2)
  })

  it('asks nobody and writes nothing after a restart', async () => {
    const server = await stranger(echoingServer(401))
    const first = await open()
    await make('dead', server.url, kubeconfigFor(server.url))
    await make('alive', kube.server, account.kubeconfig)
    await told('dead', 'TokenRefused')
    await told('alive', 'Answers')
    await first.quiet()
    await first.stop()
    const before = [await versionOf('dead'), await versionOf('alive'), server.seen]

    const second = await open()
    // Its turn comes after everything that was there at the start, so that has been looked at.
    await kube.create(DeploymentTargets, target(namespace, 'last'))
    await told('last', 'CredentialsNotUsable')
    await second.quiet()
    assert.equal([await versionOf('dead'), await versionOf('alive'), server.seen], before)
    assert.is(second.requests.patch, 2) // The finalizer and the status of `last`.
  })

  it('asks a dead target again, less and less often, and writes nothing for it', async () => {
    const clock = steppedClock()
    await open(clock)
    const server = await stranger(echoingServer(401))
    await make('prod', server.url, kubeconfigFor(server.url))
    await told('prod', 'TokenRefused')
    const { resourceVersion } = (await told('prod', 'TokenRefused')).metadata
    let at = 0
    const askedAgain = async () => {
      const before = server.seen
      for (; server.seen === before; at += 5) {
        await clock.step(seconds(5))
        // A round trip, so that an answer on its way may arrive.
        await versionOf('prod')
      }
      return at
    }
    // Each wait is at least as long as the target has been dead; the answers may be late, never early.
    for (const soonest of [1, 2, 4, 8]) assert.ok((await askedAgain()) >= minutes(soonest) / 1000, `not before minute ${soonest}`)
    assert.is(await versionOf('prod'), resourceVersion)
  })
})
