import { randomBytes } from 'node:crypto'
import { equal, is, match, ok } from 'uvu/assert'
import { Agents, GitProjects, isTrue } from '../../src/api/index.ts'
import { Failure, isFailure } from '../../src/std/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { createAgent, createProject, type RunningKas, runKas } from './running-kas.ts'

const text = (data: Uint8Array | undefined): string | undefined => data && Buffer.from(data).toString()
const never = new AbortController().signal

/** The failure with which something ends. */
async function failureOf(work: Promise<unknown>): Promise<Failure> {
  try {
    await work
  } catch (thrown) {
    if (isFailure(thrown)) return thrown
    throw thrown
  }
  throw new Failure('internal', 'it succeeded')
}

describe('kas: object stream', (it) => {
  const cluster = testCluster()
  let namespace = ''
  let host: GitHost
  let kas: RunningKas
  let token = ''

  it.before(async () => {
    namespace = await cluster.namespace('kas')
    host = await gitHost()
    token = await createAgent(cluster.kube, namespace, 'home')
    kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace, flags: { maxFiles: '1000' } })
  })
  it.after(async () => {
    await kas.stop()
    await host.close()
    await cluster.close()
  })

  const wanted = (name: string, more: object = {}) => ({
    projectId: `${namespace}/${name}`,
    ref: { kind: 'default' as const },
    globs: ['**/*.yaml'],
    ...more,
  })

  /** A repository with these files, its GitProject, and kas knowing it. */
  const given = async (name: string, files: Record<string, string | Uint8Array>, spec: object = {}) => {
    const repository = await host.repository(name)
    const commit = await repository.commit(files)
    await createProject(cluster.kube, namespace, name, { url: repository.url, ...spec })
    await expectObject(cluster.kube, GitProjects, { name, namespace }, ({ status }) => isTrue(status?.conditions, 'Ready'))
    return { repository, commit }
  }

  it('delivers the names of files alone, however large they are', async () => {
    const large = 'x'.repeat(3 * 2 ** 20)
    await given('names', { 'apps/web/a.yaml': large, 'apps/api/b.yaml': 'b', 'other/c.yaml': 'c' })
    const batch = await kas.stream(token).fetchObjects(wanted('names', { globs: ['apps/**'], names: true }), never)
    equal(
      batch?.files.map(({ source, data }) => [source, data.length]),
      [
        ['apps/api/b.yaml', 0],
        ['apps/web/a.yaml', 0],
      ],
    )
  })

  it('delivers refs that match instead of files, as they come and go', async () => {
    const { repository, commit } = await given('listed-refs', { 'a.yaml': '1' })
    const ending = new AbortController()
    const batches: Record<string, string | undefined>[] = []
    const following = kas
      .stream(token)
      .follow(wanted('listed-refs', { ref: { kind: 'refs', name: 'refs/heads/feature/*' }, globs: ['**'] }), {
        onBatch: ({ files }) => void batches.push(Object.fromEntries(files.map(({ source, data }) => [source, text(data)]))),
        signal: ending.signal,
      })
    await eventually(() => batches.length === 1)
    equal(batches[0], {})
    await repository.branch('feature/x', commit)
    await eventually(() => batches.at(-1)?.['refs/heads/feature/x'] === commit)
    const next = await repository.commit({ 'a.yaml': '2' }, 'feature/y')
    await eventually(() => batches.at(-1)?.['refs/heads/feature/y'] === next)
    await repository.removeBranch('feature/x')
    await eventually(() => batches.at(-1)?.['refs/heads/feature/x'] === undefined)
    equal(batches.at(-1), { 'refs/heads/feature/y': next })
    ending.abort()
    await following
    const failure = await failureOf(
      kas.stream(token).fetchObjects(wanted('listed-refs', { ref: { kind: 'refs', name: 'heads/*' } }), never),
    )
    is(failure.reason, 'RefInvalid')
  })

  it('delivers the files that the patterns choose, and says in the status what it saw', async () => {
    const files = { 'deploy/a.yaml': 'a: 1\n', 'deploy/sub/b.yaml': 'b: 1\n', 'readme.md': '# no', '.hidden/c.yaml': 'c: 1\n' }
    const { commit } = await given('plain', files)
    const batch = await kas.stream(token).fetchObjects(wanted('plain'), never)
    is(batch?.commitId, commit)
    ok(batch && batch.projectId > 0n)
    equal(
      batch.files.map(({ source, data }) => [source, text(data)]),
      [
        ['deploy/a.yaml', 'a: 1\n'],
        ['deploy/sub/b.yaml', 'b: 1\n'],
      ],
    )
    const shown = await expectObject(
      cluster.kube,
      GitProjects,
      { name: 'plain', namespace },
      ({ status }) => status?.defaultBranch,
    )
    is(shown.status?.defaultBranch, 'main')
    equal(
      shown.status?.refs?.map((ref) => [ref.name, ref.commit]),
      [['refs/heads/main', commit]],
    )
  })

  it('delivers every file below a folder when it is asked for all', async () => {
    await given('whole', {
      'overlay/kustomization.yaml': 'resources: []\n',
      'overlay/config.env': 'A=1',
      'overlay/empty': '',
      'other/x': 'x',
    })
    const batch = await kas.stream(token).fetchObjects(wanted('whole', { globs: ['overlay/**'] }), never)
    equal(
      batch?.files.map(({ source }) => source),
      ['overlay/config.env', 'overlay/empty', 'overlay/kustomization.yaml'],
    )
    is(batch?.files[1]?.data.length, 0)
  })

  it('tells of a file that became a link, and of a folder that became a submodule', async () => {
    const { repository } = await given('links', { 'app/a.yaml': 'a', 'app/b.yaml': 'b', 'base/c.yaml': 'c' })
    await repository.link('app/b.yaml', 'symbolic link')
    const last = await repository.link('base', 'submodule')
    const globs = ['app/**', 'base/**']
    const seen = await eventually(async () => {
      const batch = await kas.stream(token).fetchObjects(wanted('links', { globs }), never)
      return batch?.commitId === last ? batch : undefined
    })
    equal(seen.files.map(({ source, link, data }) => [source, link, text(data)]).sort(), [
      ['app/a.yaml', undefined, 'a'],
      ['app/b.yaml', 'symbolic link', ''],
      ['base', 'submodule', ''],
    ])
  })

  it('puts a file together again that was larger than a chunk', async () => {
    const large = randomBytes(300 * 1024)
    await given('large', { 'a.yaml': large, 'b.yaml': 'b' })
    const batch = await kas.stream(token).fetchObjects(wanted('large'), never)
    ok(batch?.files[0]?.data && Buffer.from(batch.files[0].data).equals(large))
    is(batch.files.length, 2)
  })

  it('holds the stream until there is a new commit, and transfers only what is new', async () => {
    const { repository, commit } = await given('held', { 'big.bin': randomBytes(500_000), 'a.yaml': 'a: 1' })
    const stream = kas.stream(token)
    await stream.fetchObjects(wanted('held'), never)
    host.traffic()
    const next = stream.fetchObjects(wanted('held'), never, commit)
    const second = await repository.commit({ 'a.yaml': 'a: 2' })
    const batch = await next
    is(batch?.commitId, second)
    is(text(batch?.files[0]?.data), 'a: 2')
    const { bytes } = host.traffic()
    ok(bytes < 50_000, `the second commit cost ${bytes} bytes`)
  })

  it('asks the server once for any number of streams', async () => {
    const { commit } = await given('shared', { 'a.yaml': 'a: 1' }, { pollInterval: '1h' })
    const stream = kas.stream(token)
    await stream.fetchObjects(wanted('shared'), never)
    host.traffic()
    const batches = await Promise.all(Array.from({ length: 20 }, () => stream.fetchObjects(wanted('shared'), never)))
    ok(batches.every((batch) => batch?.commitId === commit))
    is(host.traffic().requests, 0)
  })

  it('tells who wrote the commit to whom asks for that, and delivers it also where nobody could read that', async () => {
    const { repository } = await given('lines', { 'a.yaml': 'a: 1' })
    const said = { author: 'Ann', message: 'Mend it\n\nAt last.' }
    const commit = await repository.commit({ 'a.yaml': 'a: 2' }, 'main', said)
    const stream = kas.stream(token)
    const aboutOf = async (commitId: string, about: boolean) =>
      eventually(async () => {
        const batch = await stream.fetchObjects(wanted('lines', { about }), never)
        return batch?.commitId === commitId && [batch.author, batch.subject, batch.files.length]
      })
    equal(await aboutOf(commit, true), ['Ann', 'Mend it', 1])
    equal(await aboutOf(commit, false), [undefined, undefined, 1])
    const endless = await repository.commit({ 'a.yaml': 'a: 3' }, 'main', { message: 'y'.repeat(2 ** 17) })
    equal(await aboutOf(endless, true), [undefined, undefined, 1])
  })

  it('follows branches, tags and commits', async () => {
    const { repository, commit } = await given('refs', { 'a.yaml': 'main' })
    const release = await repository.commit({ 'a.yaml': 'release' }, 'release')
    await repository.tag('v1', commit)
    const stream = kas.stream(token)
    const contents = async (ref: object) => text((await stream.fetchObjects(wanted('refs', { ref }), never))?.files[0]?.data)
    is(await contents({ kind: 'branch', name: 'release' }), 'release')
    is(await contents({ kind: 'tag', name: 'v1' }), 'main')
    is(await contents({ kind: 'commit', name: release }), 'release')
    is(await contents({ kind: 'default' }), 'main')
  })

  it('ends a stream whose branch vanishes, and leaves the project ready', async () => {
    const { repository } = await given('vanishing', { 'a.yaml': 'main' })
    const there = await repository.commit({ 'a.yaml': 'side' }, 'side')
    const ref = { kind: 'branch', name: 'side' }
    const stream = kas.stream(token)
    await stream.fetchObjects(wanted('vanishing', { ref }), never)
    const held = failureOf(stream.fetchObjects(wanted('vanishing', { ref }), never, there))
    await repository.removeBranch('side')
    const failure = await held
    equal([failure.code, failure.reason], ['not-found', 'RefNotFound'])
    match(failure.message, 'has no branch side')
    ok(isTrue((await cluster.kube.get(GitProjects, { name: 'vanishing', namespace }))?.status?.conditions, 'Ready'))
  })

  it('tells a follower that what was wrong is over, though there is no new commit', async () => {
    const { repository, commit } = await given('recovering', { 'a.yaml': '1' })
    const heard: string[] = []
    const ending = new AbortController()
    const following = kas.stream(token).follow(wanted('recovering', { ref: { kind: 'branch', name: 'side' } }), {
      onBatch: () => void heard.push('batch'),
      onFailure: ({ reason }) => void heard.push(String(reason)),
      onInView: () => void heard.push('in view'),
      backoff: { base: 10, max: 100 },
      commitId: commit,
      signal: ending.signal,
    })
    await eventually(() => heard.includes('RefNotFound'))
    await repository.branch('side', commit)
    await eventually(() => heard.at(-1) === 'in view')
    ending.abort()
    await following
    ok(!heard.includes('batch'))
  })

  it('takes the project of that uid, or none', async () => {
    const { commit } = await given('exact', { 'a.yaml': '1' })
    const object = await cluster.kube.get(GitProjects, { name: 'exact', namespace })
    const stream = kas.stream(token)
    is((await stream.fetchObjects(wanted('exact', { projectUid: object?.metadata.uid }), never))?.commitId, commit)
    is((await failureOf(stream.fetchObjects(wanted('exact', { projectUid: 'another' }), never))).reason, 'ProjectNotAccessible')
  })

  it('names each limit that is passed', async () => {
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`many/${at}.yaml`, `${at}`]))
    await given('limits', { ...many, 'huge.json': Buffer.alloc(5 * 2 ** 20 + 1), 'a.yaml': 'a' })
    const stream = kas.stream(token)
    const reason = async (globs: string[]) => (await failureOf(stream.fetchObjects(wanted('limits', { globs }), never))).reason
    is(await reason(['many/*.yaml']), 'TooManyFiles')
    is(await reason(['*.json']), 'FileTooLarge')
    is(await reason(['*.yaml', 'a.*']), 'PathVisitedTwice')
    is(await reason(['[']), 'GlobInvalid')
    is(await reason(Array.from({ length: 101 }, () => 'x')), 'InvalidRequest')
    is(await reason([]), 'InvalidRequest')
  })

  it('refuses tokens that are unknown, missing or over', async () => {
    await given('closed', { 'a.yaml': 'a' })
    const over = await createAgent(cluster.kube, namespace, 'over', { expiresAt: '2020-01-01T00:00:00Z' })
    for (const bad of ['nonsense', over]) {
      is((await failureOf(kas.stream(bad).fetchObjects(wanted('closed'), never))).code, 'unauthorized')
      // Nothing of what a stranger wants is read.
      is((await failureOf(kas.stream(bad).fetchObjects(wanted('closed', { globs: ['['] }), never))).code, 'unauthorized')
    }
  })

  it('counts streams with the calls of their token', async () => {
    await given('counted', { 'a.yaml': 'a' })
    const strict = await runKas({ kubeconfig: cluster.kubeconfig, namespace, flags: { agentCalls: '2' } })
    const stream = strict.stream(token)
    for (const _ of [1, 2]) await stream.fetchObjects(wanted('counted'), never)
    is((await failureOf(stream.fetchObjects(wanted('counted'), never))).reason, 'RateExceeded')
    await strict.stop()
  })

  it('ends open streams of an agent whose token is removed', async () => {
    const { commit } = await given('revoked', { 'a.yaml': 'a' }, { pollInterval: '1h' })
    const agentToken = await createAgent(cluster.kube, namespace, 'revoked')
    const stream = kas.stream(agentToken)
    is((await eventually(() => stream.fetchObjects(wanted('revoked'), never)))?.commitId, commit)
    const held = failureOf(stream.fetchObjects(wanted('revoked'), never, commit))
    await cluster.kube.patch(Agents, { name: 'revoked', namespace }, { spec: { tokens: [] } })
    equal([(await held).code, (await held).reason], ['unauthorized', 'TokenRevoked'])
  })

  it('ends open streams when the project is deleted', async () => {
    const { commit } = await given('deleted', { 'a.yaml': 'a' }, { pollInterval: '1h' })
    const stream = kas.stream(token)
    await stream.fetchObjects(wanted('deleted'), never)
    const held = failureOf(stream.fetchObjects(wanted('deleted'), never, commit))
    await cluster.kube.delete(GitProjects, { name: 'deleted', namespace })
    equal([(await held).code, (await held).reason], ['forbidden', 'ProjectNotAccessible'])
  })

  it('keeps following over commits until it is told to stop', async () => {
    const { repository, commit } = await given('followed', { 'a.yaml': '1' })
    const seen: string[] = []
    const ending = new AbortController()
    const following = kas
      .stream(token)
      .follow(wanted('followed'), { onBatch: ({ commitId }) => void seen.push(commitId), signal: ending.signal })
    await eventually(() => seen.length === 1)
    const second = await repository.commit({ 'a.yaml': '2' })
    await eventually(() => seen.length === 2)
    ending.abort()
    await following
    equal(seen, [commit, second])
  })
})
