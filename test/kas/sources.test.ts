import { randomBytes } from 'node:crypto'
import { equal, is, match, not, ok } from 'uvu/assert'
import { conditionOf, GitProjects, isTrue } from '../../src/api/index.ts'
import type { Batch, GitRef } from '../../src/rpc/index.ts'
import { Failure } from '../../src/std/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { createAgent, createProject, type RunningKas, runKas } from './running-kas.ts'

const never = new AbortController().signal
const failureOf = (work: Promise<unknown>): Promise<Failure> =>
  work.then(
    () => new Failure('internal', 'it succeeded'),
    (thrown: unknown) => Failure.from(thrown),
  )

describe('kas: sources', (it) => {
  const cluster = testCluster()
  let namespace = ''
  let host: GitHost
  let kas: RunningKas
  let token = ''
  it.before(async () => {
    namespace = await cluster.namespace('kas')
    host = await gitHost()
    token = await createAgent(cluster.kube, namespace, 'home')
    const flags = { maxRepositorySize: '1', addresses: 'loopback,public', hosts: '127.0.0.1,10.0.0.1,169.254.169.254,*.test' }
    kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace, flags })
  })
  it.after(async () => {
    await kas.stop()
    await host.close()
    await cluster.close()
  })

  const given = async (name: string, files: Record<string, string | Uint8Array>) => {
    const repository = await host.repository(name)
    const commit = await repository.commit(files)
    await createProject(cluster.kube, namespace, name, { url: repository.url })
    await expectObject(cluster.kube, GitProjects, { name, namespace }, ({ status }) => isTrue(status?.conditions, 'Ready'))
    return { repository, commit }
  }
  const wanted = (name: string, ref: GitRef) => ({ projectId: `${namespace}/${name}`, ref, globs: ['**'] })
  /** The commits that somebody who follows the ref gets, one after the other. */
  const following = (name: string, ref: GitRef) => {
    const ending = new AbortController()
    const [batches, failures]: [Batch[], Failure[]] = [[], []]
    const done = kas.stream(token).follow(wanted(name, ref), {
      onBatch: (batch) => void batches.push(batch),
      onFailure: (failure) => void failures.push(failure),
      backoff: { base: 50, max: 200 },
      signal: ending.signal,
    })
    const stop = async () => {
      ending.abort()
      await done
    }
    return { batches, failures, stop, last: () => batches.at(-1)?.commitId }
  }

  it('follow the highest version in a range, as tags come and go', async () => {
    const { repository, commit } = await given('versions', { a: '1' })
    const followed = following('versions', { kind: 'semver', name: '>=1.2.0 <2.0.0' })
    await eventually(() => followed.failures.some(({ message }) => /has no tag in the range >=1\.2\.0 <2\.0\.0/.test(message)))
    await repository.tag('v1.2.0', commit)
    await eventually(() => followed.last() === commit)
    const second = await repository.commit({ a: '2' })
    await repository.tag('v2.0.0', second)
    await repository.tag('v1.10.0-rc.1', second)
    const third = await repository.commit({ a: '3' })
    await repository.tag('v1.10.0', third)
    await eventually(() => followed.last() === third)
    await followed.stop()
    equal(
      followed.batches.map(({ commitId }) => commitId),
      [commit, third],
    )
  })

  it('follow refs that are neither branches nor tags', async () => {
    const { repository, commit } = await given('pulls', { a: '1' })
    await repository.ref('refs/pull/7/head', commit)
    const batch = await kas.stream(token).fetchObjects(wanted('pulls', { kind: 'full', name: 'refs/pull/7/head' }), never)
    is(batch?.commitId, commit)
  })

  it('follow a branch that is pushed over by force', async () => {
    const { repository, commit } = await given('forced', { a: '1' })
    const second = await repository.commit({ a: '2' })
    const followed = following('forced', { kind: 'short', name: 'main' })
    await eventually(() => followed.last() === second)
    await repository.branch('main', commit)
    await eventually(() => followed.last() === commit)
    await followed.stop()
    is(String(followed.batches.at(-1)?.files[0]?.data), '1')
  })

  const UNKNOWN: [ref: GitRef, reason: string, says: string][] = [
    [{ kind: 'short', name: 'nowhere' }, 'RefNotFound', 'has no branch or tag nowhere'],
    [{ kind: 'short', name: 'abc1234' }, 'RefNotFound', 'has no branch or tag abc1234'],
    [{ kind: 'full', name: 'refs/pull/9/head' }, 'RefNotFound', 'has no ref refs/pull/9/head'],
    [{ kind: 'commit', name: 'd'.repeat(40) }, 'RefNotFound', 'the commit is not in the repository'],
    [{ kind: 'commit', name: 'abc1234' }, 'RefInvalid', 'is not a full commit id'],
    [{ kind: 'full', name: 'refs/heads/../main' }, 'RefInvalid', 'cannot be the name of a ref'],
    [{ kind: 'semver', name: 'latest' }, 'RefInvalid', 'is not a range of versions'],
  ]
  for (const [ref, reason, says] of UNKNOWN) {
    it(`name what is not there: ${JSON.stringify(ref)}`, async () => {
      const name = `unknown-${UNKNOWN.findIndex(([one]) => one === ref)}`
      await given(name, { a: '1' })
      const failure = await failureOf(kas.stream(token).fetchObjects(wanted(name, ref), never))
      is(failure.reason, reason)
      match(failure.message, says)
      ok(failure.remedy)
    })
  }

  it('are refused when they are too large, and not fetched again by each who asks', async () => {
    const { repository } = await given('large', { a: randomBytes(3 * 2 ** 20) })
    const stream = kas.stream(token)
    const ask = () => failureOf(stream.fetchObjects(wanted('large', { kind: 'default' }), never))
    is((await ask()).reason, 'RepositoryTooLarge')
    host.traffic()
    const failures = await Promise.all(Array.from({ length: 20 }, ask))
    ok(failures.every(({ reason }) => reason === 'RepositoryTooLarge'))
    // kas tries again after one or two seconds, then two to four: a busy machine may need as long for all of these. Twenty would be 20 MB.
    const { bytes } = host.traffic()
    ok(bytes < 8 * 2 ** 20, `${bytes} bytes`)
    const small = await repository.commit({ a: 'small again' })
    await eventually(async () => (await stream.fetchObjects(wanted('large', { kind: 'default' }), never))?.commitId === small)
  })

  const REFUSED: [name: string, url: string, reason: string][] = [
    ['metadata', 'http://169.254.169.254/latest/meta-data', 'AddressNotAllowed'],
    ['private', 'http://10.0.0.1/x.git', 'AddressNotAllowed'],
    ['elsewhere', 'https://example.com/x.git', 'HostNotAllowed'],
    ['lookalike', 'https://evil-test/x.git', 'HostNotAllowed'],
    ['private-by-ssh', 'ssh://git@10.0.0.1/x.git', 'AddressNotAllowed'],
    ['elsewhere-by-ssh', 'ssh://git@example.com/x.git', 'HostNotAllowed'],
  ]
  for (const [name, url, reason] of REFUSED) {
    it(`are not fetched from ${url}, and the GitProject says why`, async () => {
      await createProject(cluster.kube, namespace, name, { url })
      const { status } = await expectObject(cluster.kube, GitProjects, { name, namespace }, (object) => {
        is(conditionOf(object.status?.conditions, 'Ready')?.reason, reason)
      })
      match(conditionOf(status?.conditions, 'Ready')?.message ?? '', url)
    })
  }

  it('give peers that know nothing of digests everything, in the words they know', async () => {
    const { repository } = await given('peers', { a: '1' })
    const stream = kas.stream(token)
    const first = await stream.fetchObjects(wanted('peers', { kind: 'default' }), never)
    const second = await repository.commit({})
    const batch = await stream.fetchObjects(wanted('peers', { kind: 'default' }), never, first?.commitId)
    equal([batch?.commitId, batch?.files.length, batch?.digest, batch?.unchanged], [second, 1, undefined, undefined])
  })

  it('tell a follower of a commit that changed none of its files, without sending them', async () => {
    const { repository, commit } = await given('digests', { 'app/a': '1', 'other/b': '1' })
    const ending = new AbortController()
    const batches: Batch[] = []
    const done = kas
      .stream(token)
      .follow(
        { ...wanted('digests', { kind: 'default' }), globs: ['app/**'] },
        { onBatch: (batch) => void batches.push(batch), signal: ending.signal },
      )
    await eventually(() => batches.at(-1)?.commitId === commit)
    const second = await repository.commit({ 'other/b': '2' })
    await eventually(() => batches.at(-1)?.commitId === second)
    const third = await repository.commit({ 'app/a': '2' })
    await eventually(() => batches.at(-1)?.commitId === third)
    ending.abort()
    await done
    is(batches[1]?.files, batches[0]?.files)
    not(batches[2]?.files === batches[0]?.files)
  })

  it('send a follower what has changed, and nothing else', async () => {
    const { repository, commit } = await given('changes', { 'app/a': '1', 'app/b': '1', 'app/c': '1', 'app/d/e': '1' })
    const ending = new AbortController()
    const batches: Batch[] = []
    const done = kas
      .stream(token)
      .follow(
        { ...wanted('changes', { kind: 'default' }), globs: ['app/**'] },
        { onBatch: (batch) => void batches.push(batch), signal: ending.signal },
      )
    const contentsOf = (batch: Batch | undefined) =>
      Object.fromEntries(batch?.files.map(({ source, data }) => [source, Buffer.from(data).toString()]) ?? [])
    const fileIn = (batch: Batch | undefined, source: string) => batch?.files.find((file) => file.source === source)
    await eventually(() => batches.at(-1)?.commitId === commit)
    const second = await repository.commit({ 'app/b': '2', 'app/new': '2' })
    await eventually(() => batches.at(-1)?.commitId === second)
    const third = await repository.commit({ 'app/a': undefined, 'app/only': '3' })
    await eventually(() => batches.at(-1)?.commitId === third)
    ending.abort()
    await done
    equal(contentsOf(batches[1]), { 'app/a': '1', 'app/b': '2', 'app/c': '1', 'app/d/e': '1', 'app/new': '2' })
    for (const same of ['app/a', 'app/c', 'app/d/e']) is(fileIn(batches[1], same), fileIn(batches[0], same))
    equal(contentsOf(batches[2]), { 'app/b': '2', 'app/c': '1', 'app/d/e': '1', 'app/new': '2', 'app/only': '3' })
  })
})
