import * as assert from 'uvu/assert'
import {
  type Condition,
  type CoreSecret,
  conditionOf,
  type GitOpsDeploymentManagedEnvironment,
  GitOpsDeploymentManagedEnvironments,
  RoleBindings,
  Secrets,
} from '../../../src/api/index.ts'
import { type ManagedEnvironmentSettings, managedEnvironments } from '../../../src/operator/managed-environment/index.ts'
import { minutes, seconds } from '../../../src/std/index.ts'
import { type Deployer, deployer, grant } from '../../support/builders/credentials.ts'
import { managedEnvironment, managedSecret } from '../../support/builders/environments.ts'
import { echoingServer, endlessServer, type StrangeServer, silentServer } from '../../support/builders/strange-server.ts'
import { type SteppedClock, steppedClock } from '../../support/clock.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { kubeconfigFor } from '../../support/targets.ts'
import { eventually, expectObject } from '../../support/verbs.ts'

const TYPE = 'ConnectionInitializationSucceeded'

describe('the connection check of a managed environment', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const strangers: StrangeServer[] = []
  const operators: RunningOperator[] = []
  let namespace = ''
  let account: Deployer

  const open = async (settings: ManagedEnvironmentSettings = {}, clock?: SteppedClock) => {
    const operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [managedEnvironments(context, settings)],
      ...(clock && { clock }),
    })
    operators.push(operator)
    return operator
  }
  it.beforeEach(async () => {
    namespace = await cluster.namespace('connection')
    account = await deployer(kube, namespace, { role: 'view' })
  })
  it.afterEach(async () => {
    await Promise.all(operators.splice(0).map((each) => each.stop()))
    await Promise.all(strangers.splice(0).map((each) => each.close()))
  })
  it.after(() => cluster.close())

  const ref = (name: string) => ({ name, namespace })
  const make = async (
    spec: Partial<GitOpsDeploymentManagedEnvironment['spec']> = {},
    secret: Partial<CoreSecret> = {},
    name = 'cluster',
  ) => {
    await kube.create(Secrets, { ...managedSecret(namespace, name, account.kubeconfig), ...secret })
    const own = { apiURL: kube.server, credentialsSecret: name, namespaces: [namespace] }
    await kube.create(GitOpsDeploymentManagedEnvironments, managedEnvironment(namespace, name, { ...own, ...spec }))
  }
  const kubeconfig = (text: string) => ({ data: { kubeconfig: Buffer.from(text).toString('base64') } })
  const said = async (reason: string, name = 'cluster'): Promise<Condition> => {
    const object = await expectObject(
      kube,
      GitOpsDeploymentManagedEnvironments,
      ref(name),
      ({ metadata, status }) =>
        status?.observedGeneration === metadata.generation && conditionOf(status?.conditions, TYPE)?.reason === reason,
    )
    const condition = conditionOf(object.status?.conditions, TYPE)
    if (!condition) throw new Error('unreachable: the check asked for it')
    assert.is(condition.status, reason === 'Succeeded' ? 'True' : 'False')
    assert.is(conditionOf(object.status?.conditions, 'Ready')?.status, condition.status)
    return condition
  }
  const stranger = async (making: Promise<StrangeServer>) => {
    const server = await making
    strangers.push(server)
    return server
  }

  it('succeeds with a token that may read the first namespace of the list, and tells the version', async () => {
    await open()
    await make()
    assert.is((await said('Succeeded')).message, '')
    const { status } = await expectObject(kube, GitOpsDeploymentManagedEnvironments, ref('cluster'), () => true)
    assert.match(status?.serverVersion ?? '', /^v\d+\.\d+/)
    assert.ok(status?.lastCheckTime)
  })

  it('takes the API URL in any case', async () => {
    await open()
    await make({}, kubeconfig(account.kubeconfig.replace(kube.server, kube.server.toUpperCase())))
    await said('Succeeded')
  })

  it('lists namespaces where none is named, and says what to grant when that is not allowed', async () => {
    await open()
    await make({ namespaces: [] })
    const { message } = await said('UnableToValidateClusterCredentials')
    assert.match(message, /does not let it list namespaces\. Grant that, or name the namespaces/)
  })

  it('says which namespace it may not read, or is not there', async () => {
    await open()
    const powerless = await deployer(kube, namespace, { name: 'powerless' })
    await make({}, kubeconfig(powerless.kubeconfig))
    assert.match((await said('UnableToValidateClusterCredentials')).message, new RegExp(`get namespace "${namespace}"`))
  })

  it('InvalidSecretType: names the type it found, the Secret, and the type it wants', async () => {
    await open()
    await make({}, { type: 'Opaque' })
    await make({}, { type: 'example.com/odd' }, 'odd')
    assert.match((await said('InvalidSecretType')).message, /^invalid secret type: Opaque \(Secret .*\/cluster,/)
    const { message } = await said('InvalidSecretType', 'odd')
    assert.match(message, /^invalid secret type: example\.com\/odd .*with type managed-gitops\.redhat\.com\/managed-environment$/)
  })

  it('MissingKubeConfigField: names the Secret and the key, and recovers when it is filled in', async () => {
    await open()
    await make({}, { data: { config: 'eA==' } })
    assert.match((await said('MissingKubeConfigField')).message, /^missing kubeconfig field in Secret/)
    await kube.patch(Secrets, ref('cluster'), kubeconfig(account.kubeconfig))
    await said('Succeeded')
  })

  it('UnableToCreateClusterCredentials: a Secret that does not exist is named, and waited for', async () => {
    await open()
    await make({ credentialsSecret: 'later' })
    assert.match((await said('UnableToCreateClusterCredentials')).message, /Secret .*\/later, which does not exist/)
    await kube.create(Secrets, managedSecret(namespace, 'later', account.kubeconfig))
    await said('Succeeded')
  })

  it('UnableToParseKubeconfigData, UnableToLocateContext, UnableToCreateClient: a kubeconfig that is none, elsewhere, without token', async () => {
    await open()
    await make({}, kubeconfig('{ not: [yaml'))
    await make({}, kubeconfig(kubeconfigFor(`${kube.server}/`)), 'slash')
    await make({}, kubeconfig(kubeconfigFor(kube.server, '')), 'tokenless')
    await said('UnableToParseKubeconfigData')
    assert.ok((await said('UnableToLocateContext', 'slash')).message.includes(kube.server))
    assert.match((await said('UnableToCreateClient', 'tokenless')).message, /token/)
  })

  it('never runs, reads or follows what a hostile kubeconfig asks for', async () => {
    await open()
    const hostile = {
      exec: (user: string) => user.replace('"user":{', '"user":{"exec":{"command":"/bin/true"},'),
      file: (user: string) => user.replace('"user":{', '"user":{"tokenFile":"/etc/passwd",'),
      plugin: (user: string) => user.replace('"user":{', '"user":{"auth-provider":{"name":"oidc"},'),
      proxy: (user: string) => user.replace('"cluster":{', '"cluster":{"proxy-url":"http://127.0.0.1:1",'),
      authority: (user: string) => user.replace('"cluster":{', '"cluster":{"certificate-authority":"/etc/passwd",'),
    }
    for (const [name, spoil] of Object.entries(hostile)) {
      await make({}, kubeconfig(spoil(account.kubeconfig)), name)
      assert.match((await said('UnableToCreateClient', name)).message, /is not allowed/)
    }
  })

  it('UnsupportedAPIURL: a query or a user in the URL is refused, and not repeated', async () => {
    await open()
    await make({ apiURL: `${kube.server}?token=hush` })
    await make({ apiURL: kube.server.replace('//', '//me:hush@') }, {}, 'user')
    for (const name of ['cluster', 'user']) assert.not.match((await said('UnsupportedAPIURL', name)).message, /hush/)
  })

  it('UnsupportedAPIURL: local addresses are refused where the platform engineers say so', async () => {
    await open({ reach: { refuseLocal: true } })
    const byName = kube.server.replace('127.0.0.1', 'localhost')
    await make()
    await make({ apiURL: 'https://169.254.169.254' }, {}, 'metadata')
    await make({ apiURL: byName }, kubeconfig(account.kubeconfig.replace(kube.server, byName)), 'name')
    assert.match(
      (await said('UnsupportedAPIURL')).message,
      /^spec\.apiURL ".*" leads to an address of this installation's own machines or networks\. Use an address/,
    )
    await said('UnsupportedAPIURL', 'metadata')
    await said('UnsupportedAPIURL', 'name')
  })

  it("UnsupportedAPIURL: this installation's own API is reached all the same where --api-url names it", async () => {
    await open({ reach: { refuseLocal: true, own: kube.server } })
    await make()
    await said('Succeeded')
  })

  it('InvalidNamespaceList and UnableToInstallServiceAccount: says what it cannot do', async () => {
    await open()
    await make({ namespaces: ['ok', 'Not_Ok'] })
    await make({ createNewServiceAccount: true }, {}, 'account')
    assert.match((await said('InvalidNamespaceList')).message, /"Not_Ok"/)
    await said('UnableToInstallServiceAccount', 'account')
  })

  it('a right that is withdrawn is found out at the next check, and so is one that is granted', async () => {
    const clock = steppedClock(Date.now())
    await open({}, clock)
    await make()
    await said('Succeeded')
    // A check that is under way while the clock is moved runs out of time, and says so: the message tells them apart.
    const after = async (reason: string, message: RegExp) => {
      const check = async () => {
        await clock.step(minutes(6))
        const object = await kube.get(GitOpsDeploymentManagedEnvironments, ref('cluster'))
        const condition = conditionOf(object?.status?.conditions, TYPE)
        assert.is(condition?.reason, reason, condition?.message)
        assert.match(condition?.message ?? '', message)
        return true
      }
      await eventually(check)
    }
    await kube.delete(RoleBindings, ref('deployer-view'))
    await after('UnableToValidateClusterCredentials', /get namespace/)
    await grant(kube, namespace, 'deployer', 'view')
    await after('Succeeded', /^$/)
  })

  it('asks a cluster once for each change, not once for each event', async () => {
    const operator = await open()
    // A refusal of one of the two requests of a check ends the other, sent or not; with this status both are answered.
    const echo = await stranger(echoingServer(200))
    await make({ apiURL: echo.url, allowInsecureSkipTLSVerify: true }, kubeconfig(kubeconfigFor(echo.url)))
    await said('UnableToValidateClusterCredentials')
    const { seen } = echo
    await kube.patch(GitOpsDeploymentManagedEnvironments, ref('cluster'), { metadata: { labels: { nudge: 'yes' } } })
    await eventually(
      () => operator.caches.of(GitOpsDeploymentManagedEnvironments).get(ref('cluster'))?.metadata.labels?.nudge === 'yes',
    )
    assert.is(seen, 2)
    assert.is(echo.seen, 2)
  })

  it('a token that the server echoes appears nowhere, nor does anything else it says', async () => {
    await open()
    for (const status of [200, 302, 400, 401, 403, 404, 422, 500]) {
      const { url } = await stranger(echoingServer(status))
      const name = `echo-${status}`
      await make({ apiURL: url, allowInsecureSkipTLSVerify: true }, kubeconfig(kubeconfigFor(url, 'canary-token')), name)
    }
    for (const status of [200, 302, 400, 401, 403, 404, 422, 500])
      await said('UnableToValidateClusterCredentials', `echo-${status}`)
    const all = await kube.list(GitOpsDeploymentManagedEnvironments, { namespace })
    const events = await kube.read(`/api/v1/namespaces/${namespace}/events`)
    assert.not.match(JSON.stringify([all, events]), /canary-token/)
  })

  it('a cluster that never answers is told within seconds and holds nobody else up', async () => {
    // The one that answers must do so within that time, on a busy machine too.
    await open({ patience: seconds(5) })
    const { url } = await stranger(silentServer())
    for (let n = 0; n < 20; n++) await make({ apiURL: url }, kubeconfig(kubeconfigFor(url)), `silent-${n}`)
    await make()
    await said('Succeeded')
    assert.match((await said('UnableToValidateClusterCredentials', 'silent-0')).message, /does not answer within 5 s/)
  })

  it('an answer without end is cut off long before the time is up', async () => {
    await open({ patience: minutes(1) })
    const endless = await stranger(endlessServer())
    await make({ apiURL: endless.url, allowInsecureSkipTLSVerify: true }, kubeconfig(kubeconfigFor(endless.url)))
    await said('UnableToValidateClusterCredentials')
    assert.ok(endless.seen < 1000, `${endless.seen} blocks of 64 KiB`)
  })

  it('a certificate that nobody vouches for is refused unless the spec says otherwise', async () => {
    await open()
    const { url, ...echo } = await stranger(echoingServer(200))
    await make({ apiURL: url }, kubeconfig(kubeconfigFor(url)))
    assert.match(
      (await said('UnableToValidateClusterCredentials')).message,
      /does not answer \(.*(SELF_SIGNED|UNABLE_TO|CERT).*\)/,
    )
    assert.is(echo.seen, 0)
  })
})
