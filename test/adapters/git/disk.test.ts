import { randomBytes } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { equal, is, match, ok } from 'uvu/assert'
import { type MirrorOptions, openMirrors, type Transfer } from '../../../src/adapters/git/index.ts'
import { Failure, hours, isFailure, minutes, systemClock } from '../../../src/std/index.ts'
import { type GitHost, gitHost } from '../../support/git-host.ts'
import { describe } from '../../support/suite.ts'

const never = new AbortController().signal
const MIB = 2 ** 20

const failureOf = (work: Promise<unknown>): Promise<Failure | undefined> =>
  work.then(
    () => undefined,
    (thrown: unknown) => Failure.from(thrown),
  )

describe('the data folder of mirrors', (it) => {
  let host: GitHost
  let folder = ''
  it.before(async () => {
    host = await gitHost()
  })
  it.beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-disk-'))
  })
  it.afterEach(() => rm(folder, { recursive: true, force: true }))
  it.after(() => host.close())

  const open = (more: Partial<MirrorOptions> = {}) =>
    openMirrors({ folder, environment: host.environment, protocols: ['http'], clock: systemClock, ...more })
  const given = async (name: string, bytes = 10) => {
    const repository = await host.repository(name)
    return { repository, commit: await repository.commit({ a: randomBytes(bytes) }) }
  }
  const kept = () => readdir(join(folder, 'mirrors'))

  it('refuses a repository that is too large, and keeps nothing of it', async () => {
    const { repository, commit } = await given('large', 3 * MIB)
    const mirrors = await open({ disk: { repository: MIB, total: 100 * MIB } })
    const failure = await failureOf(mirrors.of({ url: repository.url, owner: '' }).fetch(commit, never))
    equal([failure?.code, failure?.reason], ['invalid', 'RepositoryTooLarge'])
    match(failure?.message ?? '', 'more than 1 MiB')
    equal(await kept(), [])
    is(mirrors.bytes, 0)
  })

  it('makes room by what was not used for a while, and by nothing else', async () => {
    const [old, used, next] = [await given('old', MIB), await given('used', MIB), await given('next', MIB)]
    let now = systemClock.now()
    const clock = { ...systemClock, now: () => now }
    const mirrors = await open({ clock, disk: { repository: 10 * MIB, total: 2.5 * MIB } })
    const mirrorOf = ({ repository }: typeof old) => mirrors.of({ url: repository.url, owner: '' })
    await mirrorOf(old).fetch(old.commit, never)
    const [oldest = ''] = await kept()
    now += minutes(20)
    await mirrorOf(used).fetch(used.commit, never)
    await mirrorOf(next).fetch(next.commit, never)
    const left = await kept()
    is(left.length, 2)
    ok(!left.includes(oldest))
    is((await failureOf(mirrorOf(old).fetch(old.commit, never)))?.reason, 'DataFolderFull')
    equal((await kept()).sort(), left.sort())
  })

  it('forgets while it runs what nobody has used for a week', async () => {
    const [old, next] = [await given('forgotten'), await given('later')]
    let now = systemClock.now()
    const mirrors = await open({ clock: { ...systemClock, now: () => now } })
    await mirrors.of({ url: old.repository.url, owner: '' }).fetch(old.commit, never)
    now += hours(8 * 24)
    await mirrors.of({ url: next.repository.url, owner: '' }).fetch(next.commit, never)
    is((await kept()).length, 1)
  })

  it('is measured anew at a start, and rid of half packs', async () => {
    const { repository, commit } = await given('measured', MIB)
    await (await open()).of({ url: repository.url, owner: '' }).fetch(commit, never)
    const [name = ''] = await kept()
    const half = join(folder, 'mirrors', name, 'objects', 'pack', 'tmp_pack_x1')
    await writeFile(half, Buffer.alloc(5 * MIB))
    const mirrors = await open()
    ok(mirrors.bytes > MIB && mirrors.bytes < 2 * MIB, `${mirrors.bytes}`)
    ok(!(await readdir(join(half, '..'))).includes('tmp_pack_x1'))
  })

  it('comes back from a pack that was cut off', async () => {
    const { repository, commit } = await given('cut', MIB)
    const mirror = (await open()).of({ url: repository.url, owner: '' })
    await mirror.fetch(commit, never)
    const [name = ''] = await kept()
    const packs = join(folder, 'mirrors', name, 'objects', 'pack')
    for (const file of await readdir(packs)) {
      await chmod(join(packs, file), 0o600)
      await truncate(join(packs, file), 100)
    }
    for (let tries = 0; tries < 2; tries++) {
      try {
        await mirror.fetch(commit, never)
        const files = await mirror.files(commit, never)
        is((await mirror.read(files, never))[0]?.length, MIB)
        return
      } catch (thrown) {
        ok(isFailure(thrown) && thrown.reason === 'MirrorDamaged', String(thrown))
      }
    }
    ok(false, 'it did not come back')
  })

  it('comes back when a file stands where a mirror should be', async () => {
    const { repository, commit } = await given('file')
    const mirror = (await open()).of({ url: repository.url, owner: '' })
    await mirror.fetch(commit, never)
    const [name = ''] = await kept()
    await rm(join(folder, 'mirrors', name), { recursive: true })
    await writeFile(join(folder, 'mirrors', name), 'x')
    await mirror.fetch(commit, never)
    is((await mirror.files(commit, never)).length, 1)
  })

  it('comes back when all of it was taken away under a running program', async () => {
    const { repository, commit } = await given('gone')
    const mirror = (await open()).of({ url: repository.url, owner: '' })
    await mirror.fetch(commit, never)
    await rm(folder, { recursive: true })
    is((await mirror.locate({ kind: 'default' }, never))?.commit, commit)
    await mirror.fetch(commit, never)
    is((await mirror.files(commit, never)).length, 1)
  })

  it('tells of a full disk, leaves nothing there, and goes on when there is room', async () => {
    const { repository, commit } = await given('full')
    const bin = join(folder, 'bin')
    const full = join(folder, 'disk-is-full')
    await mkdir(bin)
    const real = host.environment.PATH
    await writeFile(
      join(bin, 'git'),
      `#!/bin/sh\nif [ -e '${full}' ]; then case " $* " in *" fetch "*) echo 'fatal: write error: No space left on device' >&2; exit 128;; esac; fi\nPATH='${real}' exec git "$@"\n`,
      { mode: 0o755 },
    )
    await writeFile(full, '')
    const mirror = (await open({ environment: { PATH: `${bin}${delimiter}${real}` } })).of({ url: repository.url, owner: '' })
    const failure = await failureOf(mirror.fetch(commit, never))
    equal([failure?.code, failure?.reason], ['unavailable', 'DataFolderUnwritable'])
    equal(await kept(), [])
    await rm(full)
    await mirror.fetch(commit, never)
    is((await mirror.files(commit, never)).length, 1)
  })

  it('tells of each transfer: how long, how large, and how it ended', async () => {
    const { repository, commit } = await given('told', MIB)
    const told: Transfer[] = []
    const mirrors = await open({ onTransfer: (transfer) => void told.push(transfer) })
    const mirror = mirrors.of({ url: repository.url, owner: '' })
    await mirror.fetch(commit, never)
    await mirror.fetch(commit, never)
    await failureOf(mirror.fetch('0'.repeat(40), never))
    is(told.length, 2)
    ok((told[0]?.bytes ?? 0) > MIB)
    equal(
      told.map(({ failure }) => failure?.reason),
      [undefined, 'RefNotFound'],
    )
  })

  it('takes no memory for large files that are not read', async () => {
    const repository = await host.repository('heavy')
    const commit = await repository.commit({ heavy: Buffer.alloc(200 * MIB), light: 'x' })
    const mirror = (await open({ memory: 64 * MIB })).of({ url: repository.url, owner: '' })
    await mirror.fetch(commit, never)
    const files = await mirror.files(commit, never)
    equal(
      files.map(({ path, size }) => [path, size]),
      [
        ['heavy', 200 * MIB],
        ['light', 1],
      ],
    )
    is(String((await mirror.read(files.slice(1), never))[0]), 'x')
  })

  it('ends a git that takes too much memory, tells it of the repository, and leaves nothing half', async () => {
    const repository = await host.repository('crowd')
    const small = await repository.commit({ a: 'x' })
    const large = await repository.crowd(4_000_000)
    const mirror = (await open({ memory: 64 * MIB })).of({ url: repository.url, owner: '' })
    await mirror.fetch(small, never)
    const failure = await failureOf(mirror.fetch(large, never))
    equal([failure?.code, failure?.reason], ['too-large', 'AnswerTooLarge'])
    match(failure?.message ?? '', `${repository.url}: git took too much memory for it`)
    const [name = ''] = await kept()
    const left = await readdir(join(folder, 'mirrors', name), { recursive: true })
    equal(
      left.filter((file) => /\.lock$|tmp_/.test(file)),
      [],
    )
    is((await mirror.files(small, never)).length, 1)
  })

  it('keeps the time of the last use for the next start', async () => {
    const { repository, commit } = await given('remembered')
    await (await open()).of({ url: repository.url, owner: '' }).fetch(commit, never)
    const [name = ''] = await kept()
    ok((await readFile(join(folder, 'mirrors', name, 'HEAD'))).length > 0)
    await utimes(join(folder, 'mirrors', name), 0, 0)
    await open()
    equal(await kept(), [])
  })
})
