import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match } from 'uvu/assert'
import { type Mirror, openMirrors, type Revision, type Transfer } from '../../../src/adapters/git/index.ts'
import type { GitProject } from '../../../src/api/index.ts'
import { type Keyrings, signedCommits } from '../../../src/kas/git-polling/signed-commits.ts'
import { createVerification, type Located, type Signed } from '../../../src/kas/git-polling/verification.ts'
import { projectFrom } from '../../../src/kas/projects/project.ts'
import { Failure, LRUCache, minutes, systemClock } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { gitHost, type TestRepository } from '../../support/git-host.ts'
import { failureOf } from '../../support/refusal.ts'
import { type Signer, signers } from '../../support/signers.ts'
import { describe } from '../../support/suite.ts'
import { project } from '../running-kas.ts'

const never = new AbortController().signal
const RANGE: Revision = { kind: 'semver', name: '>=1.0.0' }

describe('verification', (it) => {
  let host: Awaited<ReturnType<typeof gitHost>>
  let people: Awaited<ReturnType<typeof signers>>
  let ann: Signer
  let folder = ''
  let mirrors: Awaited<ReturnType<typeof openMirrors>>
  const transfers: Transfer[] = []
  it.before(async () => {
    host = await gitHost()
    people = await signers()
    ann = await people.ssh('ann@example.com')
    folder = await mkdtemp(join(tmpdir(), 'berth-verification-'))
    const onTransfer = (transfer: Transfer) => void transfers.push(transfer)
    mirrors = await openMirrors({ folder, environment: host.environment, protocols: ['http'], clock: systemClock, onTransfer })
  })
  it.after(async () => {
    await people.close()
    await host.close()
    await rm(folder, { recursive: true, force: true })
  })

  interface Stage {
    mode?: 'HEAD' | 'EveryCommit'
    /** As the status of the project has it. */
    before?: Signed | (() => Signed | undefined)
    keys?: () => Record<string, string>
    clock?: ReturnType<typeof steppedClock>
  }
  /** A poll of that revision, as it begins. */
  const polling = (revision: Revision, { mode = 'HEAD', before, keys, clock = steppedClock() }: Stage = {}) => {
    const spec: GitProject['spec'] = { path: 'home/shop', url: host.url, verify: { mode, secretRef: { name: 'keys' } } }
    const shop = projectFrom(project('home', 'shop', spec))
    const lastServed = () => (typeof before === 'function' ? before() : before)
    const { verify, forget } = createVerification({ project: shop, revision, lastServed, clock })
    const keyrings: Keyrings = new LRUCache({ max: 8 })
    const credentials = {
      forCommits: async () => {
        const files = keys?.() ?? { 'ann.pub': ann.public }
        return { files: new Map(Object.entries(files)), version: JSON.stringify(files), secret: 'home/keys' }
      },
    }
    return {
      forget,
      verify: (found: Located, mirror: Mirror, signal: AbortSignal) =>
        verify(found, signedCommits({ project: shop, mirror, credentials, keyrings }), signal),
    }
  }
  const mirrorOf = ({ url }: TestRepository): Mirror => mirrors.of({ url, owner: '' })
  const located = async (repository: TestRepository, revision: Revision): Promise<Located> =>
    (await mirrorOf(repository).locate(revision, never)) ?? { commit: '', refName: undefined }
  const signed = (repository: TestRepository, a: string) => repository.commit({ a }, 'main', { sign: ann.sign })

  it('keeps the version before while that of a new tag is refused, over a restart as well', async () => {
    const repository = await host.repository('semver')
    const first = await signed(repository, '1')
    await repository.tag('v1.0.0', first)
    const poll = polling(RANGE)
    const served = await poll.verify(await located(repository, RANGE), mirrorOf(repository), never)
    equal([served.commit, served.refName, served.refused], [first, 'refs/tags/v1.0.0', undefined])
    const second = await repository.commit({ a: '2' })
    await repository.tag('v1.1.0', second)
    const found = await located(repository, RANGE)
    is(found.refName, 'refs/tags/v1.1.0')
    for (const one of [poll, polling(RANGE, { before: served })]) {
      const kept = await one.verify(found, mirrorOf(repository), never)
      equal([kept.commit, kept.refName, kept.signer], [first, 'refs/tags/v1.0.0', served.signer])
      is(kept.refused?.reason, 'CommitNotSigned')
      match(kept.refused?.message ?? '', `commit ${second} is not signed (refs/tags/v1.1.0)`)
    }
    is((await failureOf(() => polling(RANGE).verify(found, mirrorOf(repository), never))).reason, 'CommitNotSigned')
  })

  it('goes on from what another kas has served since', async () => {
    const repository = await host.repository('replicas')
    const revision: Revision = { kind: 'default' }
    const first = await signed(repository, '1')
    let told: Signed | undefined
    const poll = polling(revision, { before: () => told })
    const one = await poll.verify(await located(repository, revision), mirrorOf(repository), never)
    const second = await signed(repository, '2')
    const unsigned = await repository.commit({ a: '3' })
    const next = async () =>
      (await poll.verify({ commit: unsigned, refName: 'refs/heads/main' }, mirrorOf(repository), never)).commit
    // Until the status has what this one has served, what is there is older.
    told = { commit: 'f'.repeat(40), refName: 'refs/heads/main', signer: 'x' }
    is(await next(), first)
    told = one
    is(await next(), first)
    told = { ...one, commit: second }
    is(await next(), second)
  })

  it('looks at all between two versions, where every commit is asked for', async () => {
    const repository = await host.repository('between-versions')
    const first = await signed(repository, '1')
    await repository.tag('v1.0.0', first)
    const poll = polling(RANGE, { mode: 'EveryCommit' })
    await poll.verify(await located(repository, RANGE), mirrorOf(repository), never)
    const hidden = await repository.commit({ a: '2' })
    await repository.tag('v1.1.0', await signed(repository, '3'))
    const kept = await poll.verify(await located(repository, RANGE), mirrorOf(repository), never)
    is(kept.commit, first)
    match(kept.refused?.message ?? '', `commit ${hidden} is not signed, and comes with`)
  })

  for (const kind of ['default', 'short', 'full'] as const)
    it(`keeps the commit before where ${kind === 'default' ? 'HEAD moves to another branch' : `a ref is named as ${kind}`}`, async () => {
      const repository = await host.repository(`moved-${kind}`)
      const first = await signed(repository, '1')
      const revision: Revision = kind === 'default' ? { kind } : { kind, name: kind === 'short' ? 'main' : 'refs/heads/main' }
      const poll = polling(revision)
      const before = await poll.verify(await located(repository, revision), mirrorOf(repository), never)
      const second = await repository.commit({ a: '2' }, kind === 'default' ? 'trunk' : 'main')
      const bare = join(host.folder, `moved-${kind}.git`)
      if (kind === 'default') execFileSync('git', ['symbolic-ref', 'HEAD', 'refs/heads/trunk'], { cwd: bare })
      const found = await located(repository, revision)
      is(found.commit, second)
      for (const one of [poll, polling(revision, { before })]) {
        const kept = await one.verify(found, mirrorOf(repository), never)
        equal([kept.commit, kept.refName, kept.refused?.reason], [first, 'refs/heads/main', 'CommitNotSigned'])
      }
    })

  it('says of a tag on a file, or on a folder, what it is, and keeps the commits that are here', async () => {
    const repository = await host.repository('odd-tags')
    const commit = await signed(repository, '1')
    const bare = join(host.folder, 'odd-tags.git')
    const idOf = (name: string) => String(execFileSync('git', ['rev-parse', name], { cwd: bare })).trim()
    const mirror = mirrorOf(repository)
    await mirror.fetch(commit, never)
    const before = transfers.length
    for (const [kind, id] of [
      ['blob', idOf(`${commit}:a`)],
      ['tree', idOf(`${commit}^{tree}`)],
    ] as const) {
      const tag = `on-${kind}`
      await repository.ref(`refs/tags/${tag}`, id)
      const revision: Revision = { kind: 'tag', name: tag }
      const failure = await failureOf(async () => polling(revision).verify(await located(repository, revision), mirror, never))
      equal([failure.code, failure.reason], ['invalid', 'RefNotCommit'])
      match(failure.message, `${id} is a ${kind}, and no commit`)
    }
    // Whoever does not have it verified is told the same of what has no files.
    const blob = idOf(`${commit}:a`)
    is((await failureOf(() => mirror.files(blob, never))).reason, 'RefNotCommit')
    await mirror.fetch(commit, never)
    is(transfers.slice(before).filter((transfer) => transfer.commit === commit).length, 0)
  })

  it('waits where it cannot be seen whether the commit before is still there', async () => {
    const repository = await host.repository('away')
    const commit = await signed(repository, '1')
    const found = { commit: await repository.commit({ a: '2' }), refName: 'refs/heads/main' }
    const before = { refName: 'refs/heads/main', commit, signer: 'ann' }
    const mirror = mirrorOf(repository)
    await mirror.fetch(found.commit, never)
    let asked = 0
    const left = (code: 'unavailable' | 'not-found') => {
      const fetch = async (id: string) => {
        if (id !== commit) return
        asked++
        throw new Failure(code, 'it does not answer')
      }
      return { fetch, commits: mirror.commits.bind(mirror) } as unknown as Mirror
    }
    const poll = polling({ kind: 'default' }, { before })
    is((await failureOf(() => poll.verify(found, left('unavailable'), never))).code, 'unavailable')
    for (const _ of ['asked', 'not asked again'])
      is((await failureOf(() => poll.verify(found, left('not-found'), never))).reason, 'CommitNotSigned')
    is(asked, 2)
    poll.forget()
    equal((await poll.verify(found, mirror, never)).commit, commit)
  })

  it('remembers what was refused for as long as keys, time and pokes allow', async () => {
    const repository = await host.repository('remembered')
    const found = { commit: await signed(repository, '1'), refName: 'refs/heads/main' }
    const clock = steppedClock(Date.UTC(2030, 0, 1))
    const late = { allowed_signers: `ann valid-after="203001010001Z" ${ann.public}` }
    let keys: Record<string, string> = late
    const poll = polling({ kind: 'default' }, { clock, keys: () => keys })
    const said = () =>
      poll.verify(found, mirrorOf(repository), never).then(
        ({ signer }) => signer,
        (thrown) => Failure.from(thrown).reason,
      )
    is(await said(), 'CommitSignerNotAllowed')
    await clock.step(minutes(2))
    is(await said(), 'CommitSignerNotAllowed')
    keys = { 'ann.pub': 'nothing' }
    is(await said(), 'SecretInvalid')
    is(await said(), 'SecretInvalid')
    keys = late
    is(await said(), 'CommitSignerNotAllowed')
    poll.forget()
    match((await said()) ?? '', 'ann (ssh-ed25519')
  })
})
