import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, not, ok } from 'uvu/assert'
import { type GitCredential, type Mirrors, openMirrors, type Revision } from '../../../src/adapters/git/index.ts'
import { Failure as Failed, type Failure, isFailure, Secret, systemClock } from '../../../src/std/index.ts'
import { type GitHost, gitHost } from '../../support/git-host.ts'
import { describe } from '../../support/suite.ts'

const CANARY = 'canary-4b1d22e0'
const never = new AbortController().signal
const main: Revision = { kind: 'default' }

async function failureOf(work: Promise<unknown>): Promise<Failure> {
  try {
    await work
  } catch (thrown) {
    if (isFailure(thrown)) return thrown
    throw thrown
  }
  throw new Failed('internal', 'it succeeded')
}

/** Everything that a log line of a failure could hold. */
const wholeText = (failure: Failure): string =>
  `${failure.stack} ${JSON.stringify(failure)} ${failure.cause instanceof Error ? failure.cause.stack : ''}`

describe('git mirrors', (it) => {
  let host: GitHost
  let folder = ''
  let mirrors: Mirrors
  const credential: GitCredential = { username: 'berth', password: new Secret(CANARY) }

  const open = () => openMirrors({ folder, environment: host.environment, protocols: ['http'], clock: systemClock })
  it.before(async () => {
    host = await gitHost({ credential })
    folder = await mkdtemp(join(tmpdir(), 'berth-mirrors-'))
    mirrors = await open()
  })
  it.after(async () => {
    await host.close()
    await rm(folder, { recursive: true })
  })

  const mirrorOf = (url: string, as: GitCredential | undefined = credential) => mirrors.of({ url, credential: as, owner: 'test' })
  const given = async (name: string, files: Record<string, string | Uint8Array>) => {
    const repository = await host.repository(name)
    const commit = await repository.commit(files)
    return { repository, commit, mirror: mirrorOf(repository.url) }
  }
  const contentsOf = async (mirror: ReturnType<typeof mirrorOf>, commit: string) => {
    await mirror.fetch(commit, never)
    const files = await mirror.files(commit, never)
    const data = await mirror.read(files, never)
    return files.map(({ path }, at) => [path, Buffer.from(data[at] ?? []).toString()])
  }

  it('find the commit and the name behind each kind of revision', async () => {
    const { repository, commit, mirror } = await given('revisions', { a: '1' })
    const side = await repository.commit({ a: '2' }, 'feature/x')
    await repository.tag('v1', commit)
    const located = async (revision: Revision) => Object.values((await mirror.locate(revision, never)) ?? {})
    equal(await located(main), [commit, 'refs/heads/main'])
    equal(await located({ kind: 'branch', name: 'feature/x' }), [side, 'refs/heads/feature/x'])
    equal(await located({ kind: 'tag', name: 'v1' }), [commit, 'refs/tags/v1'])
    equal(await located({ kind: 'commit', name: side }), [side, undefined])
  })

  it('take a short name for a branch, and for a tag where there is no such branch', async () => {
    const { repository, commit, mirror } = await given('short-names', { a: '1' })
    const second = await repository.commit({ a: '2' }, 'both')
    await repository.tag('both', commit)
    await repository.tag('only-tag', commit)
    const located = async (name: string) => Object.values((await mirror.locate({ kind: 'short', name }, never)) ?? {})
    equal(await located('both'), [second, 'refs/heads/both'])
    equal(await located('only-tag'), [commit, 'refs/tags/only-tag'])
  })

  it('find refs of other kinds by their whole name', async () => {
    const { repository, commit, mirror } = await given('full-names', { a: '1' })
    await repository.ref('refs/pull/7/head', commit)
    await repository.tag('v1', commit)
    const located = async (name: string) => Object.values((await mirror.locate({ kind: 'full', name }, never)) ?? {})
    equal(await located('refs/pull/7/head'), [commit, 'refs/pull/7/head'])
    equal(await located('refs/tags/v1'), [commit, 'refs/tags/v1'])
  })

  it('find the highest version in a range of them', async () => {
    const { repository, commit, mirror } = await given('versions', { a: '1' })
    for (const tag of ['v1.2.0', 'v2.0.0', 'v1.11.0-rc.1', 'unrelated']) await repository.tag(tag, commit)
    const latest = await repository.commit({ a: '2' })
    await repository.tag('v1.10.0', latest)
    const located = async (name: string) => Object.values((await mirror.locate({ kind: 'semver', name }, never)) ?? {})
    equal(await located('1.x'), [latest, 'refs/tags/v1.10.0'])
    const { message, reason } = await failureOf(located('>=3'))
    is(reason, 'RefNotFound')
    match(message, 'has no tag in the range >=3')
  })

  it('list all refs that match a pattern, tags by their commits', async () => {
    const { repository, commit: first, mirror } = await given('listed', { a: '1' })
    const side = await repository.commit({ a: '2' }, 'feature/a')
    await repository.branch('feature/b/c', first)
    await repository.ref('refs/merge-requests/7/head', side)
    await repository.ref('refs/x/refs/heads/feature/z', side)
    await repository.tag('v1', first)
    const list = async (pattern: string) => Object.fromEntries((await mirror.refs(pattern, never)) ?? [['empty', '']])
    equal(await list('refs/heads/feature/*'), { 'refs/heads/feature/a': side, 'refs/heads/feature/b/c': first })
    equal(await list('refs/heads/*/c'), { 'refs/heads/feature/b/c': first })
    equal(await list('refs/merge-requests/*/head'), { 'refs/merge-requests/7/head': side })
    equal(await list('refs/tags/v*'), { 'refs/tags/v1': first })
    equal(await list('refs/heads/main'), { 'refs/heads/main': first })
    equal(await list('refs/heads/none*'), {})
    // An empty one says nothing of what there was.
    const empty = await host.repository('listed-empty')
    is(await mirrorOf(empty.url).refs('refs/heads/*', never), undefined)
    for (const pattern of ['feature/*', 'refs/heads/../*', '-x*', 'refs/heads/[a]', 'refs/heads/?'])
      is((await failureOf(mirror.refs(pattern, never))).reason, 'RefInvalid', pattern)
  })

  it('say that a short commit must be written out', async () => {
    const { mirror } = await given('short-commit', { a: '1' })
    const failure = await failureOf(mirror.locate({ kind: 'short', name: 'abc1234' }, never))
    equal([failure.reason, failure.remedy], ['RefNotFound', 'If it is meant to be a commit, write all of its 40 digits.'])
    match(failure.message, 'has no branch or tag abc1234')
  })

  it('do not take the end of a name for the name', async () => {
    const { repository, mirror } = await given('suffix', { a: '1' })
    await repository.commit({ a: '2' }, 'x/refs/heads/y')
    is((await failureOf(mirror.locate({ kind: 'branch', name: 'y' }, never))).reason, 'RefNotFound')
  })

  it('tell an empty repository from one without the branch', async () => {
    const { url } = await host.repository('empty')
    is(await mirrorOf(url).locate({ kind: 'branch', name: 'main' }, never), undefined)
  })

  it('read files with any name and content', async () => {
    const binary = randomBytes(1000)
    const { commit, mirror } = await given('contents', { 'd/ü x\n.yaml': 'a: 1\n', empty: '', binary })
    await mirror.fetch(commit, never)
    const files = await mirror.files(commit, never)
    equal(
      files.map(({ path, size }) => [path, size]),
      [
        ['binary', 1000],
        ['d/ü x\n.yaml', 5],
        ['empty', 0],
      ],
    )
    const [first] = await mirror.read(files, never)
    ok(first && Buffer.from(first).equals(binary))
  })

  it('tell who wrote a commit and its subject, as they stand there but for their length', async () => {
    const { repository, mirror } = await given('lines', { a: '1' })
    const lineOf = async (author: string, message: string) => {
      const commit = await repository.commit({ a: message.slice(0, 9) }, 'main', { author, message })
      await mirror.fetch(commit, never)
      return mirror.line(commit, never)
    }
    equal(await lineOf('Änne Öl', 'Mend “it”\n\nAnd more of it.\n'), { author: 'Änne Öl', subject: 'Mend “it”' })
    equal(await lineOf('a', 'one\nand\ttwo\u001b[2J\n\nmore'), { author: 'a', subject: 'one and\ttwo\u001b[2J' })
    is((await lineOf('b', `x${'🎈'.repeat(2000)}`)).subject, `x${'🎈'.repeat(511)}\ufffd`)
    is((await failureOf(lineOf('c', 'y'.repeat(2 ** 17)))).code, 'too-large')
  })

  it('transfer only what is new, and nothing for what is here', async () => {
    const { repository, commit, mirror } = await given('incremental', { big: randomBytes(400_000), a: '1' })
    await mirror.fetch(commit, never)
    ok(host.traffic().bytes > 400_000)
    await mirror.fetch(commit, never)
    is(host.traffic().requests, 0)
    const second = await repository.commit({ a: '2' })
    await mirror.fetch(second, never)
    ok(host.traffic().bytes < 10_000)
    is((await contentsOf(mirror, second))[0]?.[1], '2')
  })

  it('come back from damage by fetching again', async () => {
    const { commit, mirror } = await given('damaged', { a: '1' })
    await mirror.fetch(commit, never)
    const places = join(folder, 'mirrors')
    for (const name of await readdir(places)) await rm(join(places, name, 'objects'), { recursive: true })
    equal(await contentsOf(mirror, commit), [['a', '1']])
  })

  it('forget the locks of a git that was killed', async () => {
    const { repository, commit, mirror } = await given('killed', { a: '1' })
    await mirror.fetch(commit, never)
    const places = join(folder, 'mirrors')
    for (const name of await readdir(places)) await writeFile(join(places, name, 'shallow.lock'), '')
    mirrors = await open()
    const second = await repository.commit({ a: '2' })
    equal(await contentsOf(mirrorOf(repository.url), second), [['a', '2']])
  })

  it('are removed at a start when nobody has opened them for a week', async () => {
    const { commit, mirror } = await given('forgotten', { a: '1' })
    await mirror.fetch(commit, never)
    const places = join(folder, 'mirrors')
    const [first = ''] = await readdir(places)
    await utimes(join(places, first), 0, 0)
    mirrors = await open()
    ok(!(await readdir(places)).includes(first))
    ok((await stat(places)).isDirectory())
  })

  it('are told apart by whose credentials fetched them', async () => {
    const { repository, commit } = await given('owners', { a: '1' })
    await mirrorOf(repository.url).fetch(commit, never)
    const stranger = mirrors.of({ url: repository.url, owner: 'somebody else' })
    is((await failureOf(stranger.fetch(commit, never))).reason, 'AuthenticationFailed')
  })

  it('call off a fetch when they are told to', async () => {
    const { mirror } = await given('called-off', { a: '1' })
    is((await failureOf(mirror.locate(main, AbortSignal.abort()))).code, 'cancelled')
  })

  const FAILURES: [why: string, url: () => string, as: GitCredential | undefined, reason: string][] = [
    [
      'wrong credentials',
      () => `${host.url}/x.git`,
      { username: 'berth', password: new Secret(`${CANARY}!`) },
      'AuthenticationFailed',
    ],
    ['no repository', () => `${host.url}/absent.git`, credential, 'RepositoryNotFound'],
    ['nobody listens', () => 'http://127.0.0.1:1/x.git', credential, 'Unreachable'],
    ['a host without a name', () => 'http://no-such-host.invalid/x.git', credential, 'Unreachable'],
    ['a protocol that is not allowed', () => 'file:///etc', undefined, 'ProtocolNotAllowed'],
  ]
  for (const [why, url, as, reason] of FAILURES) {
    it(`name the reason and keep the secret: ${why}`, async () => {
      const failure = await failureOf(mirrors.of({ url: url(), credential: as, owner: 'test' }).locate(main, never))
      is(failure.reason, reason, wholeText(failure))
      ok(failure.remedy)
      not.match(wholeText(failure), CANARY)
      not.match(wholeText(failure), Buffer.from(`berth:${CANARY}`).toString('base64').slice(0, 20))
    })
  }

  for (const [stream, command] of [
    ['answer', 'exec yes'],
    ['complaint', 'exec yes >&2'],
  ] as const)
    it(`end a git whose ${stream} has no end`, async () => {
      const programs = await mkdtemp(join(tmpdir(), 'berth-programs-'))
      await writeFile(join(programs, 'git'), `#!/bin/sh\n${command}\n`, { mode: 0o755 })
      const environment = { PATH: `${programs}:${host.environment.PATH}` }
      const endless = await openMirrors({ folder: join(programs, 'data'), environment, protocols: ['http'], clock: systemClock })
      const failure = await failureOf(endless.of({ url: `${host.url}/x.git`, owner: 'test' }).locate(main, never))
      equal([failure.code, failure.reason], ['too-large', 'AnswerTooLarge'])
      await rm(programs, { recursive: true })
    })

  for (const name of ['--upload-pack=x', '../x', 'a..b', 'a b', 'a~1', 'a:b', 'x.lock', '', 'a\nb', '/a', 'a/']) {
    it(`refuse the branch name ${JSON.stringify(name)}`, async () => {
      is((await failureOf(mirrorOf(`${host.url}/x.git`).locate({ kind: 'branch', name }, never))).reason, 'RefInvalid')
    })
  }

  for (const name of ['main', 'refs/', 'refs/x', 'refs/heads/../x', 'refs/heads/-x:y', 'refs/heads/x.lock']) {
    it(`refuse the whole name ${JSON.stringify(name)}`, async () => {
      is((await failureOf(mirrorOf(`${host.url}/x.git`).locate({ kind: 'full', name }, never))).reason, 'RefInvalid')
    })
  }

  it('refuse commits that are not written out', async () => {
    match(
      (await failureOf(mirrorOf(`${host.url}/x.git`).locate({ kind: 'commit', name: 'abc123' }, never))).message,
      'full commit id',
    )
  })
})
