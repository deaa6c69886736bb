import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, ok } from 'uvu/assert'
import { type Mirrors, openMirrors } from '../../../src/adapters/git/index.ts'
import { systemClock } from '../../../src/std/index.ts'
import { type GitHost, gitHost } from '../../support/git-host.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'

const never = new AbortController().signal

describe('git histories', (it) => {
  let host: GitHost
  let folder = ''
  let mirrors: Mirrors
  it.before(async () => {
    host = await gitHost()
    folder = await mkdtemp(join(tmpdir(), 'berth-history-'))
    mirrors = await openMirrors({ folder, environment: host.environment, protocols: ['http'], clock: systemClock })
  })
  it.after(async () => {
    await host.close()
    await rm(folder, { recursive: true, force: true })
  })

  for (const filter of [true, false])
    it(`say what lies between two commits, from a server that ${filter ? 'leaves files out' : 'sends all'}`, async () => {
      const repository = await host.repository(`filter-${filter}`)
      const bare = join(host.folder, `filter-${filter}.git`)
      execFileSync('git', ['config', 'uploadpack.allowFilter', String(filter)], { cwd: bare })
      const commits: string[] = []
      for (const a of ['1', '2', '3', '4']) commits.push(await repository.commit({ a: `${a} ${filter}` }))
      const [first = '', second = '', third = '', fourth = ''] = commits
      const mirror = mirrors.of({ url: repository.url, owner: '' })
      const history = mirror.history()
      equal(await history.between(first, third, never), { commits: [third, second] })
      equal(await history.between(third, fourth, never), { commits: [fourth] })
      equal(await history.between(fourth, second, never), { commits: [] })
      const raw = await history.commits([third, first], never)
      equal(
        raw.map((one) =>
          one.equals(execFileSync('git', ['cat-file', 'commit', raw.indexOf(one) ? first : third], { cwd: bare })),
        ),
        [true, true],
      )
      const places = (await readdir(join(folder, 'mirrors'))).filter((name) => name.endsWith('-history.git')).map(placeOf)
      const blob = String(execFileSync('git', ['rev-parse', `${fourth}:a`], { cwd: bare })).trim()
      ok(places.length > 0)
      is(
        places.some((place) => hasObject(place, blob)),
        !filter,
      )
      // The files of one that is fetched as a whole are in another place.
      await mirror.fetch(fourth, never)
      is((await mirror.files(fourth, never)).length, 1)
    })

  const placeOf = (name: string) => join(folder, 'mirrors', name)
  /** Without asking the server for it. */
  const hasObject = (place: string, object: string): boolean => {
    try {
      execFileSync('git', ['cat-file', '-e', object], {
        cwd: place,
        stdio: 'ignore',
        env: { ...process.env, GIT_ALLOW_PROTOCOL: '' },
      })
      return true
    } catch {
      // It is not there.
      return false
    }
  }

  it('are whole also where another transfer has cut them off', async () => {
    const repository = await host.repository('deep')
    const bare = join(host.folder, 'deep.git')
    const commits: string[] = []
    for (const a of ['1', '2', '3']) commits.push(await repository.commit({ a }))
    const [first = '', second = '', third = ''] = commits
    const history = mirrors.of({ url: repository.url, owner: '' }).history()
    equal(await history.between(first, third, never), { commits: [third, second] })
    // So many above it that a transfer of the last one ends at the third.
    const next = 'commit refs/heads/far\ncommitter test <test@example.com> 0 +0000\ndata 0\n'
    const above = Array.from({ length: 1000 }, (_, at) => (at === 0 ? `${next}from ${third}\n` : next))
    execFileSync('git', ['fast-import', '--quiet'], { cwd: bare, input: above.join('') })
    const far = String(execFileSync('git', ['rev-parse', 'far'], { cwd: bare })).trim()
    await history.fetch(far, never)
    const place = (await readdir(join(folder, 'mirrors'))).map(placeOf).find((one) => hasObject(one, far)) ?? ''
    is(readFileSync(join(place, 'shallow'), 'utf8'), `${third}\n`)
    equal(await history.between(first, third, never), { commits: [third, second] })
  })

  it('are not told where the server itself has but a part of them', async () => {
    const repository = await host.repository('whole')
    for (const a of ['1', '2', '3']) await repository.commit({ a })
    const from = `file://${join(host.folder, 'whole.git')}`
    execFileSync('git', ['clone', '--quiet', '--bare', '--depth=2', from, join(host.folder, 'part.git')], { stdio: 'ignore' })
    const bare = { cwd: join(host.folder, 'part.git') }
    const idOf = (...words: string[]) => String(execFileSync('git', words, bare)).trim()
    const [top, below] = [idOf('rev-parse', 'main'), idOf('rev-parse', 'main^')]
    const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com']
    const alone = idOf(...identity, 'commit-tree', '-m', 'x', 'main^{tree}')
    execFileSync('git', ['update-ref', 'refs/heads/alone', alone], bare)
    const history = mirrors.of({ url: repository.url.replace('whole', 'part'), owner: '' }).history()
    equal(await history.between(below, top, never), { commits: [top] })
    equal(await history.between(alone, top, never), { unknown: `the server does not give what comes before ${below}` })
    const gone = 'a'.repeat(40)
    equal(await history.between(gone, top, never), { unknown: `${gone} is no longer in the repository` })
    // What else is wrong says nothing of the history.
    const away = mirrors.of({ url: repository.url.replace('whole', 'away'), owner: '' }).history()
    is((await failureOf(() => away.between(gone, top, never))).reason, 'RepositoryNotFound')
  })

  it('read no more of commits than fits', async () => {
    const repository = await host.repository('large')
    const commit = await repository.commit({ a: '1' }, 'main', { message: 'x'.repeat(17 * 2 ** 20) })
    const mirror = mirrors.of({ url: repository.url, owner: '' })
    await mirror.fetch(commit, never)
    const failure = await failureOf(() => mirror.commits([commit], never))
    is(failure.code, 'too-large')
    match(failure.message, '1 commits have')
  })
})
