import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import { equal, is, match, not, ok } from 'uvu/assert'
import { annotations, GitProjects, isTrue } from '../../src/api/index.ts'
import type { Batch } from '../../src/rpc/index.ts'
import { berth } from '../cli/berth.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { createAgent, createProject, createSecret, type RunningKas, runKas } from './running-kas.ts'

const SECRET = 'canary-hook-5c1e'
const hmac = (body: string, secret = SECRET): string => createHmac('sha256', secret).update(body).digest('hex')

/** How each kind of server proves that it knows the secret. */
const SIGNERS: Record<string, (body: string, secret?: string) => Record<string, string>> = {
  GitHub: (body, secret) => ({ 'x-hub-signature-256': `sha256=${hmac(body, secret)}` }),
  GitLab: (_, secret = SECRET) => ({ 'x-gitlab-token': secret }),
  Gitea: (body, secret) => ({ 'x-gitea-signature': hmac(body, secret) }),
  'plain HMAC': (body, secret) => ({ 'x-berth-signature': `sha256=${hmac(body, secret)}` }),
}

describe('kas: webhooks and pokes', (it) => {
  const cluster = testCluster()
  let namespace = ''
  let host: GitHost
  let kas: RunningKas
  let token = ''
  const ending = new AbortController()
  const followings: Promise<void>[] = []

  it.before(async () => {
    namespace = await cluster.namespace('kas')
    host = await gitHost()
    token = await createAgent(cluster.kube, namespace, 'home')
    await createSecret(cluster.kube, namespace, 'hook', { secret: SECRET })
    await createSecret(cluster.kube, namespace, 'useless', { note: 'no secret here' })
    kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace })
  })
  it.after(async () => {
    ending.abort()
    await Promise.all(followings)
    await kas.stop()
    await host.close()
    await cluster.close()
  })

  /** A project that is polled once an hour, and what its streams have got so far, by ref. */
  const given = async (name: string, refs: string[] = ['main']) => {
    const repository = await host.repository(name)
    const first = await repository.commit({ 'a.yaml': '0' })
    for (const ref of refs.filter((one) => one !== 'main')) await repository.commit({ 'a.yaml': '0' }, ref)
    const spec = { url: repository.url, pollInterval: '1h', webhookSecretRef: { name: 'hook' } }
    await createProject(cluster.kube, namespace, name, spec)
    await expectObject(cluster.kube, GitProjects, { name, namespace }, ({ status }) => isTrue(status?.conditions, 'Ready'))
    const got = new Map<string, Batch[]>()
    for (const ref of refs) {
      const list: Batch[] = []
      got.set(ref, list)
      const wanted = { projectId: `${namespace}/${name}`, ref: { kind: 'branch' as const, name: ref }, globs: ['**'] }
      followings.push(kas.stream(token).follow(wanted, { onBatch: (batch) => void list.push(batch), signal: ending.signal }))
    }
    await eventually(() => [...got.values()].every((list) => list.length === 1))
    return { repository, first, got }
  }
  const post = (name: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`http://${kas.addresses.webhooks}/webhooks/${namespace}/${name}`, { method: 'POST', body, headers })
  const push = (ref: string) => JSON.stringify({ ref: `refs/heads/${ref}` })

  it('wakes the polls of a project for each kind of Git server, and for nobody who does not know the secret', async () => {
    const { repository, got } = await given('signed')
    for (const [title, sign] of Object.entries(SIGNERS)) {
      const commit = await repository.commit({ 'a.yaml': title })
      for (const wrong of [
        {},
        sign(push('main'), 'guess'),
        sign(push('main'), ''),
        { ...sign(push('main')), 'x-gitlab-token': 'guess' },
      ])
        is((await post('signed', push('main'), wrong)).status, 401, title)
      is((await post('signed', push('main'), sign(push('main')))).status, 202, title)
      await eventually(() => got.get('main')?.at(-1)?.commitId === commit)
    }
  })

  it('wakes only what follows the pushed ref, and everything when the payload does not say', async () => {
    await given('exact', ['main', 'mai', 'main2'])
    const woken = async (body: string) => (await post('exact', body, SIGNERS.GitHub?.(body))).text()
    const all = '3 polls woken.\n'
    await eventually(async () => (await woken('{"zen":"Keep it simple"}')) === all)
    // A poll that is woken while its follower is on the way back is over, and begins anew when he is here.
    await eventually(async () => (await woken(push('main'))) === '1 polls woken.\n')
    is(await woken(push('.*')), '0 polls woken.\n')
    is(await woken(push('other')), '0 polls woken.\n')
    await eventually(async () => (await woken('')) === all)
  })

  it('answers what is malformed with 4xx, and only to who knows the secret', async () => {
    await given('malformed')
    for (const body of ['{', '[]', '{"ref":7}', '\0'])
      equal(
        [(await post('malformed', body, SIGNERS.GitHub?.(body))).status, (await post('malformed', body)).status],
        [400, 401],
        body,
      )
  })

  it('answers the same for a project that is not there, one without a secret, and a wrong signature', async () => {
    await given('there')
    await createProject(cluster.kube, namespace, 'closed', { url: `${host.url}/there.git` })
    await createProject(cluster.kube, namespace, 'useless', {
      url: `${host.url}/there.git`,
      webhookSecretRef: { name: 'useless' },
    })
    const answers = await Promise.all(
      ['there', 'absent', 'closed', 'useless'].map(async (name) => {
        const answer = await post(name, push('main'), SIGNERS.GitHub?.(push('main'), 'guess'))
        const headers = [...answer.headers].filter(([key]) => key !== 'date')
        return JSON.stringify([answer.status, headers, await answer.text()])
      }),
    )
    is(new Set(answers).size, 1, answers.join('\n'))
  })

  it('reads no more than a mebibyte, announced or not', async () => {
    await given('large')
    const body = 'x'.repeat(2 ** 20 + 1)
    is((await post('large', body, SIGNERS.GitHub?.(body))).status, 413)
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const call = request(`http://${kas.addresses.webhooks}/webhooks/${namespace}/large`, { method: 'POST' }, (answer) => {
        resolve(answer.statusCode)
        answer.resume()
        call.destroy()
      })
      call.on('error', reject)
      for (let at = 0; at < 17; at++) call.write('x'.repeat(2 ** 16))
    })
    is(status, 413)
  })

  it('goes on serving after paths and methods that make no sense', async () => {
    const raw = (path: string, method = 'POST') =>
      new Promise<number | undefined>((resolve, reject) => {
        const [hostname, port] = kas.addresses.webhooks.split(':')
        const call = request({ hostname, port, path, method }, ({ statusCode }) => resolve(statusCode))
        call.on('error', reject).end()
      })
    is(await raw('//'), 400)
    is(await raw('/webhooks/../../etc/passwd'), 404)
    is(await raw('/webhooks/a/b/c'), 404)
    is(await raw(`/webhooks/${namespace}/%2e%2e`), 404)
    is(await raw(`/webhooks/${namespace}/signed`, 'GET'), 405)
  })

  it('is woken by anything new in the annotation of the GitProject', async () => {
    const { repository, got } = await given('annotated')
    for (const value of ['1', '2']) {
      const commit = await repository.commit({ 'a.yaml': value })
      const patch = { metadata: { annotations: { [annotations.poke]: value } } }
      await cluster.kube.patch(GitProjects, { name: 'annotated', namespace }, patch)
      await eventually(() => got.get('main')?.at(-1)?.commitId === commit)
    }
  })

  it('is woken by berth poke', async () => {
    const { repository, got } = await given('poked')
    const commit = await repository.commit({ 'a.yaml': '1' })
    const { code, stdout } = await berth(['poke', 'poked', '-n', namespace, '--kubeconfig', cluster.kubeconfig])
    equal([code, stdout], [0, `kas looks for new commits of GitProject ${namespace}/poked.\n`])
    await eventually(() => got.get('main')?.at(-1)?.commitId === commit)
    const absent = await berth(['poke', 'absent', '-n', namespace, '--kubeconfig', cluster.kubeconfig])
    is(absent.code, 3)
    match(absent.stderr, `there is no GitProject absent in namespace ${namespace}`)
  })

  it('lets who knows the secret wake polls once a second and hears all of it, and refuses the hurry of all others', async () => {
    const { repository, got } = await given('hurried')
    const headers = SIGNERS.GitHub?.(push('main'))
    const answers: string[] = []
    const began = performance.now()
    for (let at = 0; at < 40; at++) {
      const answer = await post('hurried', push('main'), headers)
      is(answer.status, 202)
      answers.push(await answer.text())
    }
    const late = answers.filter((text) => text.startsWith('Too many at once'))
    // 30 at once, and one more for each second that it took.
    const least = 9 - Math.floor((performance.now() - began) / 1000)
    ok(late.length >= least && late.length <= 10, `${late.length} of 40 are told later`)
    const commit = await repository.commit({ 'a.yaml': 'last' })
    is((await post('hurried', push('main'), headers)).status, 202)
    await eventually(() => got.get('main')?.at(-1)?.commitId === commit)
    const flood: number[] = []
    // Many at a time: what comes one by one may be slower than what is let through.
    const many = () => Promise.all(Array.from({ length: 100 }, async () => (await post('absent', push('main'), headers)).status))
    while (flood.length < 5000 && !flood.includes(429)) flood.push(...(await many()))
    equal([...new Set(flood)].sort(), [401, 429])
    is((await post('signed', push('main'), headers)).status, 202)
  })

  it('shows the secret in no log', () => {
    match(kas.log(), 'kas started')
    not.match(kas.log(), SECRET)
  })
})
