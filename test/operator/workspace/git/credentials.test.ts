import { access, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { equal, is, match, not, ok } from 'uvu/assert'
import {
  annotations,
  DeploymentTargets,
  GitProjects,
  Pods,
  RoleBindings,
  Secrets,
  type Workspace,
  Workspaces,
  workspaceObjectName,
} from '../../../../src/api/index.ts'
import { type GitPlan, gitPlanOf } from '../../../../src/operator/workspace/git/index.ts'
import { Failure, Secret } from '../../../../src/std/index.ts'
import { createProject, createSecret, type RunningKas, runKas } from '../../../kas/running-kas.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { type GitHost, gitHost, type TestRepository } from '../../../support/git-host.ts'
import { describe } from '../../../support/suite.ts'
import { target } from '../../../support/targets.ts'
import { eventually, expectGone } from '../../../support/verbs.ts'
import { letDevelop, type PodFolder, podFolder, podToken, runningWorkspace } from './pod.ts'

const OWNER = 'alice@example.com'
const CANARY = 'canary=pass/word %41\\x"$(id)'

describe('workspace: Git credentials', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const folders: PodFolder[] = []
  let namespace = ''
  let host: GitHost
  let kas: RunningKas
  let repository: TestRepository
  let other: TestRepository

  it.before(async () => {
    namespace = await cluster.namespace('git')
    host = await gitHost({ credential: { username: 'bert', password: new Secret(CANARY) } })
    repository = await host.repository('shop')
    other = await host.repository('other')
    await repository.commit({ 'README.md': 'one\n' })
    await other.commit({ 'README.md': 'other\n' })
    await createSecret(kube, namespace, 'login', { username: 'bert', password: CANARY })
    const credentialsSecretRef = { name: 'login' }
    await createProject(kube, namespace, 'shop', { url: repository.url, credentialsSecretRef })
    await createProject(kube, namespace, 'other', { url: other.url, credentialsSecretRef })
    await letDevelop(kube, namespace, OWNER)
    kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace })
  })
  it.after(async () => {
    await kas.stop()
    await Promise.all(folders.map((folder) => folder.remove()))
    await host.close()
    await cluster.close()
  })

  const workspace = (name: string, spec: Workspace['spec'] = {}) =>
    runningWorkspace(kube, namespace, name, { owner: OWNER, project: { gitProject: 'shop' }, ...spec })

  const planOf = (made: Workspace, url = repository.url): GitPlan => {
    const settings = { settings: {}, git: { kas: `http://${kas.addresses.gitCredentials}` }, copied: undefined }
    const plan = gitPlanOf(made, { url, path: 'team/shop' }, settings)
    if (!plan) throw new Failure('internal', 'no plan')
    return plan
  }
  const pod = async (made: Workspace, token: string, plan = planOf(made)) => {
    const folder = await podFolder(plan, { 'token/token': token })
    folders.push(folder)
    return folder
  }
  const asked = (url: string) => {
    const { protocol, host: name, pathname } = new URL(url)
    return `protocol=${protocol.slice(0, -1)}\nhost=${name}\npath=${pathname.slice(1)}\n\n`
  }
  /** The answer of kas, without the helper's eyes. */
  const answerTo = async (made: Workspace, token: string, url = repository.url) => {
    const { namespace: home, name } = made.metadata
    const answer = await fetch(`http://${kas.addresses.gitCredentials}/git/${home}/${name}/info/refs`, {
      headers: { authorization: `Bearer ${token}`, 'berth-git-url': url },
    })
    return { code: answer.status, text: await answer.text() }
  }

  it('clone, commit and push work without setting anything up', async () => {
    const made = await workspace('web')
    const folder = await pod(made, await podToken(kube, made))
    const cloned = await folder.clone()
    is(cloned.code, 0, cloned.err)
    match(await readFile(folder.lastWords, 'utf8'), /^cloned http.*shop\.git at [0-9a-f]{7,}$/)
    await writeFile(join(folder.projects, 'shop', 'new.txt'), 'two\n')
    equal((await folder.git('shop', 'add', '--all')).code, 0)
    equal((await folder.git('shop', 'commit', '--quiet', '-m', 'from inside')).code, 0)
    is((await folder.git('shop', 'log', '-1', '--format=%an <%ae>')).out, `${OWNER} <${OWNER}>\n`)
    const pushed = await folder.git('shop', 'push', '--quiet')
    is(pushed.code, 0, pushed.err)
    is(
      (await folder.git('shop', 'ls-remote', 'origin', 'main')).out.slice(0, 7),
      (await folder.git('shop', 'rev-parse', 'HEAD')).out.slice(0, 7),
    )
  })

  it('are told to Git as they are, whatever bytes they have, and end soon', async () => {
    const made = await workspace('bytes')
    const folder = await pod(made, await podToken(kube, made))
    const { out, err } = await folder.fill(asked(repository.url))
    is(err, '')
    const fields = new Map(
      out
        .trim()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const),
    )
    is(fields.get('username'), 'bert')
    is(fields.get('password'), CANARY)
    const left = Number(fields.get('password_expiry_utc')) - Date.now() / 1000
    ok(left > 200 && left <= 300, String(left))
    const timeless = (text: string) => text.replace(/utc=\d+/, 'utc=')
    is(timeless((await folder.fill(asked(repository.url.replace('.git', '')))).out), timeless(out))
  })

  it('are for no other repository and no other host: kas is not even asked', async () => {
    const made = await workspace('narrow')
    const folder = await pod(made, await podToken(kube, made))
    const before = kas.log()
    for (const url of [other.url, repository.url.replace('127.0.0.1', 'localhost'), repository.url.replace('http:', 'https:')]) {
      equal(await folder.fill(asked(url)), { code: 0, out: '', err: '' })
    }
    is(kas.log(), before)
    const refused = await folder.git('.', 'clone', other.url)
    is(refused.code, 128)
    const byKas = await answerTo(made, await podToken(kube, made), other.url)
    is(byKas.code, 403)
    match(byKas.text, 'for nothing else')
  })

  it('are refused alike to whoever is not a pod of the workspace', async () => {
    const made = await workspace('mine')
    const theirs = await workspace('theirs', { project: { gitProject: 'other' } })
    const expired = (await podToken(kube, made)).replace(/\.[^.]+$/, '.c2lnbmF0dXJl')
    const words = new Set<string>()
    for (const token of [
      await podToken(kube, theirs),
      // The right account, and a token for another workspace or for another door.
      await podToken(kube, made, { audience: `berth-git/${theirs.metadata.uid}` }),
      await podToken(kube, made, { audience: 'berth-kas' }),
      // It would outlive the pod.
      await podToken(kube, made, { bound: false }),
      expired,
      'nonsense',
    ]) {
      const { code, text } = await answerTo(made, token)
      is(code, 403)
      words.add(text)
    }
    const absent: Workspace = { ...made, metadata: { ...made.metadata, name: 'absent' } }
    words.add((await answerTo(absent, await podToken(kube, made))).text)
    is(words.size, 1, [...words].join('|'))
    is((await answerTo(made, await podToken(kube, made))).code, 200)
  })

  it('are for a pod in a private space, too, which is in this cluster by whatever name', async () => {
    const made = await workspace('outside')
    const apiURL = 'https://api.outside.example:6443'
    const kubernetesCredentials = { defaultNamespace: namespace, apiURL, clusterCredentialsSecret: 'none' }
    await kube.create(DeploymentTargets, target(namespace, 'outside', { kubernetesCredentials }))
    const status = { target: { claimName: 'outside', name: 'outside', namespace, apiURL } }
    await kube.patch(Workspaces, { name: 'outside', namespace }, { status }, { subresource: 'status' })
    const token = await podToken(kube, made)
    await eventually(async () => (await answerTo(made, token)).code === 403)
    await kube.patch(
      DeploymentTargets,
      { name: 'outside', namespace },
      { metadata: { annotations: { [annotations.privateTo]: '' } } },
    )
    await eventually(async () => (await answerTo(made, token)).code === 200)
  })

  it('open no other door of kas', async () => {
    const made = await workspace('doors')
    const token = await podToken(kube, made)
    const wanted = { projectId: `${namespace}/shop`, ref: { kind: 'default' as const }, globs: ['**'] }
    try {
      await kas.stream(token).fetchObjects(wanted, AbortSignal.timeout(10_000))
    } catch (thrown) {
      is(Failure.from(thrown).code, 'unauthorized')
      return
    }
    throw new Failure('internal', 'the stream was opened')
  })

  it('end with the pod', async () => {
    const made = await workspace('podless')
    const token = await podToken(kube, made)
    is((await answerTo(made, token)).code, 200)
    const ref = { name: workspaceObjectName(made), namespace }
    await kube.delete(Pods, ref)
    await expectGone(kube, Pods, ref)
    await eventually(async () => (await answerTo(made, token)).code === 403, { within: 20_000 })
  })

  it('end with the workspace at once', async () => {
    const made = await workspace('ends')
    const folder = await pod(made, await podToken(kube, made))
    const token = await podToken(kube, made)
    is((await answerTo(made, token)).code, 200)
    await kube.patch(Workspaces, { name: 'ends', namespace }, { spec: { desiredState: 'Terminated' } })
    is((await answerTo(made, token)).code, 403)
    const { code, err } = await folder.clone()
    is(code, 1)
    match(err, 'cannot clone')
    const said = await readFile(folder.lastWords, 'utf8')
    match(said, /^cannot clone http\S+: no credentials for http\S+: No such workspace/)
    is(said.split('\n').length, 1)
    await access(join(folder.projects, 'shop')).then(
      () => not.ok('something is left'),
      () => undefined,
    )
  })

  it('end when the owner may not develop the project any more', async () => {
    const owner = 'bob@example.com'
    const binding = await letDevelop(kube, namespace, owner)
    const made = await workspace('bobs', { owner })
    const token = await podToken(kube, made)
    await eventually(async () => (await answerTo(made, token)).code === 200)
    await kube.delete(RoleBindings, { name: binding.metadata.name, namespace })
    const { text } = await eventually(
      async () => {
        const answer = await answerTo(made, token)
        return answer.code === 403 && answer
      },
      { within: 30_000 },
    )
    match(text, 'bob@example.com, the owner of the workspace, may not develop GitProject shop')
    match(text, 'to this user by name')
  })

  it("are the owner's own where the workspace names them, and nobody else's", async () => {
    const credentialsSecretRef = { name: 'own' }
    const made = await workspace('own', { git: { credentialsSecretRef } })
    const token = await podToken(kube, made)
    const metadata = (owner: string) => ({
      name: 'own',
      namespace,
      labels: { 'berth.dev/git-credentials': 'true' },
      annotations: { 'berth.dev/git-owner': owner },
    })
    is((await answerTo(made, token)).code, 403)
    const stringData = { token: 'mine' }
    await kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: metadata('bob@example.com'), stringData })
    match((await answerTo(made, token)).text, 'there is no Secret own')
    await kube.patch(Secrets, { name: 'own', namespace }, { metadata: metadata(OWNER) })
    match((await answerTo(made, token)).text, /refs\/berth\/password\/mine\W/)
  })

  it('are asked for in vain by strangers who come too often, and given all the same to those who are known', async () => {
    const made = await workspace('busy')
    const token = await podToken(kube, made)
    is((await answerTo(made, token)).code, 200)
    // Many beside one another, because in ten of them a second nobody sees anything; each comes again, because those who come
    // together are all let in.
    const codes = new Set<number>()
    const insist = async () => {
      for (let n = 0; n < 10; n++) codes.add((await answerTo(made, 'nonsense')).code)
    }
    await eventually(async () => {
      await Promise.all(Array.from({ length: 40 }, insist))
      return codes.has(429)
    })
    equal([...codes].sort(), [403, 429])
    is((await answerTo(made, token)).code, 200)
  })

  it('are nowhere in what kas logs', () => {
    not.match(kas.log(), CANARY)
    not.match(kas.log(), 'canary')
    match(kas.log(), 'A Git credential was given')
  })

  it('tell what is missing', async () => {
    const made = await workspace('gone', { project: { gitProject: 'absent' } })
    const token = await podToken(kube, made)
    // Who is new waits behind the strangers who came too often.
    const { code, text } = await eventually(async () => {
      const answer = await answerTo(made, token)
      return answer.code !== 429 && answer
    })
    is(code, 404)
    match(text, 'GitProject')
    ok(await kube.get(GitProjects, { name: 'shop', namespace }))
  })
})
