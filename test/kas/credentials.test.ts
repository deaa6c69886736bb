import { createHmac } from 'node:crypto'
import { equal, is, match, not, ok } from 'uvu/assert'
import { conditionOf, type GitProject, GitProjects, ServiceAccounts } from '../../src/api/index.ts'
import { Secret } from '../../src/std/index.ts'
import { tokenOf } from '../support/builders/credentials.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { failureOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { createAgent, createProject, createSecret, type RunningKas, runKas } from './running-kas.ts'

const CANARY = 'canary-7f3a9c51'
const never = new AbortController().signal

describe('kas: credentials', (it) => {
  const cluster = testCluster()
  let namespace = ''
  let host: GitHost
  let kas: RunningKas
  let agent = ''
  /** Everything that anybody outside could have seen. */
  const seen: string[] = []

  it.before(async () => {
    namespace = await cluster.namespace('kas')
    host = await gitHost({ credential: { username: 'berth', password: new Secret(CANARY) } })
    agent = await createAgent(cluster.kube, namespace, 'home')
    kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace, flags: { operator: `${namespace}/operator` } })
    await createSecret(cluster.kube, namespace, 'good', { username: 'berth', password: `${CANARY}\n`, secret: 'hook' })
    await createSecret(cluster.kube, namespace, 'wrong', { username: 'berth', password: `${CANARY}-wrong` })
    await createSecret(cluster.kube, namespace, 'useless', { note: 'nothing' })
  })
  it.after(async () => {
    await kas.stop()
    await host.close()
    await cluster.close()
  })

  const given = async (name: string, spec: Partial<GitProject['spec']> = {}) => {
    const repository = await host.repository(name)
    const commit = await repository.commit({ 'a.yaml': 'a: 1' })
    await createProject(cluster.kube, namespace, name, { url: repository.url, credentialsSecretRef: { name: 'good' }, ...spec })
    return { repository, commit }
  }
  const wanted = (name: string, more: object = {}) => ({
    projectId: `${namespace}/${name}`,
    ref: { kind: 'default' as const },
    globs: ['**'],
    ...more,
  })
  const readiness = async (name: string, reason: string) => {
    const { status } = await expectObject(cluster.kube, GitProjects, { name, namespace }, (object) => {
      is(conditionOf(object.status?.conditions, 'Ready')?.reason, reason)
    })
    seen.push(JSON.stringify(status))
    return conditionOf(status?.conditions, 'Ready')?.message ?? ''
  }
  const accountToken = async (name: string, audience = 'berth-kas') => {
    const metadata = { name, namespace }
    if (!(await cluster.kube.get(ServiceAccounts, metadata)))
      await cluster.kube.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
    return tokenOf(cluster.kube, metadata, [audience])
  }

  it('reads a private repository with the credentials of its Secret', async () => {
    const { commit } = await given('private')
    await readiness('private', 'Reachable')
    is((await kas.stream(agent).fetchObjects(wanted('private'), never))?.commitId, commit)
  })

  it('says in the status which Secret is missing, and recovers when it comes', async () => {
    await given('late', { credentialsSecretRef: { name: 'later' } })
    match(await readiness('late', 'SecretNotFound'), `Secret ${namespace}/later does not exist`)
    await createSecret(cluster.kube, namespace, 'later', { token: 'unused', username: 'berth', password: CANARY })
    await readiness('late', 'Reachable')
  })

  it('tells wrong credentials, useless Secrets and missing repositories apart', async () => {
    await given('wrong', { credentialsSecretRef: { name: 'wrong' } })
    await given('useless', { credentialsSecretRef: { name: 'useless' } })
    await createProject(cluster.kube, namespace, 'absent', {
      url: `${host.url}/absent.git`,
      credentialsSecretRef: { name: 'good' },
    })
    await createProject(cluster.kube, namespace, 'down', { url: 'http://127.0.0.1:1/x.git' })
    for (const [name, more] of [
      ['keyless', {}],
      ['half', { credentialsSecretRef: { name: 'good' } }],
    ] as const)
      await createProject(cluster.kube, namespace, name, { url: 'ssh://git@127.0.0.1:1/x.git', ...more })
    match(await readiness('wrong', 'AuthenticationFailed'), 'spec.credentialsSecretRef')
    match(await readiness('useless', 'SecretInvalid'), 'neither username and password nor token')
    await readiness('absent', 'RepositoryNotFound')
    await readiness('down', 'Unreachable')
    match(await readiness('keyless', 'KeyMissing'), 'spec.credentialsSecretRef')
    match(await readiness('half', 'SecretInvalid'), 'lacks ssh-privatekey')
  })

  it('keeps every field of a Secret to itself, whatever becomes of it', async () => {
    const fields = ['username', 'password', 'token', 'ssh-privatekey', 'known_hosts', 'ca.crt', 'secret']
    const every = Object.fromEntries(fields.map((field) => [field, `${CANARY}-${field}`]))
    await createSecret(cluster.kube, namespace, 'every', every)
    const spec = { credentialsSecretRef: { name: 'every' }, webhookSecretRef: { name: 'every' } }
    await given('every', spec)
    await createProject(cluster.kube, namespace, 'every-down', { url: 'http://127.0.0.1:1/x.git', ...spec })
    await createProject(cluster.kube, namespace, 'every-ssh', { url: 'ssh://git@127.0.0.1:1/x.git', ...spec })
    await readiness('every', 'AuthenticationFailed')
    await readiness('every-down', 'Unreachable')
    await readiness('every-ssh', 'Unreachable')
    const hook = await fetch(`http://${kas.addresses.webhooks}/webhooks/${namespace}/every`, {
      method: 'POST',
      body: '{',
      headers: { 'x-gitlab-token': every.secret ?? '' },
    })
    seen.push(await hook.text())
    is(hook.status, 400)
  })

  it('tells a caller why its project cannot be read', async () => {
    await given('refused', { credentialsSecretRef: { name: 'wrong' } })
    await readiness('refused', 'AuthenticationFailed')
    const failure = await failureOf(() => kas.stream(agent).fetchObjects(wanted('refused'), never))
    seen.push(failure.message, failure.stack ?? '', JSON.stringify(failure))
    equal([failure.code, failure.reason], ['invalid', 'AuthenticationFailed'])
    ok(failure.remedy)
  })

  it('lets the operator read on behalf of a namespace, by the grants of the project', async () => {
    const { commit } = await given('granted', {
      grants: {
        serviceAccounts: [
          { name: '*', namespace: 'friends' },
          { name: 'deployer', namespace: 'single' },
        ],
      },
    })
    await readiness('granted', 'Reachable')
    const operator = kas.stream(await accountToken('operator'))
    const read = (behalf: string | undefined, serviceAccount?: string) =>
      operator.fetchObjects(wanted('granted', { namespace: behalf, serviceAccount }), never)
    is((await read(namespace))?.commitId, commit)
    is((await read('friends'))?.commitId, commit)
    is((await read('single', 'deployer'))?.commitId, commit)
    is((await failureOf(() => read('single'))).reason, 'ProjectNotAccessible')
    is((await failureOf(() => read('strangers'))).reason, 'ProjectNotAccessible')
    is((await failureOf(() => read(undefined))).reason, 'InvalidRequest')
  })

  it('ends the stream of a namespace whose grant is taken away', async () => {
    const { commit } = await given('taken', {
      pollInterval: '1h',
      grants: { serviceAccounts: [{ name: '*', namespace: 'friends' }] },
    })
    await readiness('taken', 'Reachable')
    const operator = kas.stream(await accountToken('operator'))
    const held = failureOf(() => operator.fetchObjects(wanted('taken', { namespace: 'friends' }), never, commit))
    await cluster.kube.patch(GitProjects, { name: 'taken', namespace }, { spec: { grants: null } })
    equal([(await held).code, (await held).reason], ['forbidden', 'ProjectNotAccessible'])
  })

  it('believes nobody but the operator about namespaces', async () => {
    await given('guarded')
    const impostor = kas.stream(await accountToken('impostor'))
    ok(
      await impostor.fetchObjects(wanted('guarded', { namespace: 'strangers' }), never),
      'its own namespace counts, not the one it says',
    )
    const foreign = await accountToken('operator', 'somebody-else')
    is((await failureOf(() => kas.stream(foreign).fetchObjects(wanted('guarded', { namespace }), never))).code, 'unauthorized')
  })

  it('answers the same for a project that is closed and one that is not there', async () => {
    const operator = kas.stream(await accountToken('operator'))
    const messages = await Promise.all(
      ['private', 'no-such'].map(async (name) => {
        const failure = await failureOf(() => operator.fetchObjects(wanted(name, { namespace: 'strangers' }), never))
        return `${failure.code} ${failure.reason} ${failure.message.replace(name, 'x')}`
      }),
    )
    is(messages[0], messages[1])
  })

  it('looks at once when a signed webhook says that something was pushed', async () => {
    const { repository, commit } = await given('hooked', { pollInterval: '1h', webhookSecretRef: { name: 'good' } })
    await readiness('hooked', 'Reachable')
    const held = kas.stream(agent).fetchObjects(wanted('hooked'), never, commit)
    const second = await repository.commit({ 'a.yaml': 'a: 2' })
    const body = '{"ref":"refs/heads/main"}'
    const post = (headers: Record<string, string>, name = 'hooked') =>
      fetch(`http://${kas.addresses.webhooks}/webhooks/${namespace}/${name}`, { method: 'POST', body, headers })
    const signature = `sha256=${createHmac('sha256', 'hook').update(body).digest('hex')}`
    is((await post({ 'x-hub-signature-256': `${signature}0` })).status, 401)
    is((await post({})).status, 401)
    is((await post({ 'x-hub-signature-256': signature }, 'no-such')).status, 401)
    await eventually(async () => {
      const answer = await post({ 'x-hub-signature-256': signature })
      return answer.status === 202 && (await answer.text()) === '1 polls woken.\n'
    })
    is((await held)?.commitId, second)
  })

  it('follows a project to another repository when its url is changed', async () => {
    const { commit } = await given('moving', { pollInterval: '1h' })
    const { repository } = await given('moved')
    const elsewhere = await repository.commit({ 'a.yaml': 'elsewhere' })
    await readiness('moving', 'Reachable')
    const commits: string[] = []
    const ending = new AbortController()
    const done = kas
      .stream(agent)
      .follow(wanted('moving'), { onBatch: ({ commitId }) => void commits.push(commitId), signal: ending.signal })
    await eventually(() => commits.length === 1)
    await cluster.kube.patch(GitProjects, { name: 'moving', namespace }, { spec: { url: repository.url } })
    await eventually(() => commits.length === 2)
    ending.abort()
    await done
    equal(commits, [commit, elsewhere])
  })

  it('serves probes and metrics', async () => {
    const get = async (path: string) => {
      const answer = await fetch(`http://${kas.addresses.operations}${path}`)
      return [answer.status, await answer.text()] as const
    }
    equal(await get('/livez'), [200, 'ok\n'])
    equal(await get('/readyz'), [200, 'ok\n'])
    const [, metrics] = await get('/metrics')
    match(metrics, /berth_kas_batches_total \d/)
    seen.push(metrics)
  })

  it('shows the password in no log, status, error or metric', () => {
    const everything = [kas.log(), ...seen].join('\n')
    ok(everything.length > 1000)
    not.match(everything, CANARY)
    not.match(everything, Buffer.from(`berth:${CANARY}`).toString('base64').slice(0, 16))
    not.match(everything, agent)
  })
})
