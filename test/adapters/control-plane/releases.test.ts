import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { platform, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, not, ok } from 'uvu/assert'
import { acquireTools, findSources, readRecipe, TOOLS, type Tool } from '../../../src/adapters/control-plane/index.ts'
import { hours, isFailure, seconds, systemClock } from '../../../src/std/index.ts'
import { portOf } from '../../support/addresses.ts'
import { type ReleaseSite, releaseSite } from '../../support/release-site.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const { digest } = readRecipe()

/** Pauses between two attempts take no time; limits are over when the test says so. */
function impatientClock() {
  const limits = new Set<() => void>()
  return {
    ...systemClock,
    after(ms: number, run: () => void) {
      if (ms <= 1000) return systemClock.after(0, run)
      limits.add(run)
      return () => void limits.delete(run)
    },
    endLimits() {
      for (const run of [...limits]) {
        limits.delete(run)
        run()
      }
    },
  }
}

describe(
  'control plane programs: releases',
  (it) => {
    let home = ''
    let site: ReleaseSite
    let clock = impatientClock()
    const lines: string[] = []
    const steps: { what: string; done: number; total: number }[] = []
    const report = {
      line: (text: string) => void lines.push(text),
      progress: (step: (typeof steps)[number]) => void steps.push(step),
    }
    const env = () => ({ XDG_CACHE_HOME: home, PATH: '/usr/bin:/bin', BERTH_RELEASES: site.url })
    const cache = () => join(home, 'berth', 'control-plane')
    const beside = () => join(cache(), `${digest}.downloading`)
    const acquire = (signal?: AbortSignal) => acquireTools({ env: env(), report, clock, signal })
    const sizeOf = (name: string) => statSync(join(beside(), name), { throwIfNoEntry: false })?.size ?? 0
    const refused = (others: Record<string, string> = {}) => {
      lines.splice(0)
      return acquireTools({ env: { ...env(), ...others }, report, clock }).catch((thrown: unknown) => thrown)
    }
    /** What is said of this way where nothing is to be had. */
    const whyNot = async (others?: Record<string, string>) => {
      ok(isFailure(await refused(others), 'unavailable'))
      return lines.find((line) => line.startsWith('release binaries: ')) ?? ''
    }
    /** How often each program itself was asked for, and from where on. */
    const rangesOf = (tool: Tool) =>
      site.asked
        .filter(({ path }) =>
          path
            .split('/')
            .at(-1)
            ?.startsWith(tool === 'etcd' ? 'etcd-' : tool),
        )
        .filter(({ path }) => !path.endsWith('.sha256'))
        .map(({ range }) => range)

    it.beforeEach(async () => {
      home = mkdtempSync(join(tmpdir(), 'berth-releases-'))
      site = await releaseSite()
      clock = impatientClock()
      lines.splice(0)
      steps.splice(0)
    })
    it.afterEach(async () => {
      await site.close()
      rmSync(home, { recursive: true })
    })

    it('are downloaded, all of them, and are in the cache from then on', async () => {
      const tools = await acquire()
      equal(tools.missing, [])
      for (const tool of TOOLS) is(execFileSync(tools.paths[tool] ?? '', { encoding: 'utf8' }), `${tool}\n`)
      match(
        lines.at(-1) ?? '',
        /^Control plane programs from release binaries \(KUBEBUILDER_ASSETS: not set; the cache: empty\)\.$/,
      )
      is(statSync(tools.paths.etcd ?? '').uid, userInfo().uid, 'not whoever packed it')
      equal(readdirSync(cache()), [digest])
      const before = site.asked.length
      await acquire()
      match(lines.at(-1) ?? '', /from the cache/)
      is(site.asked.length, before)
    })

    it('are told in bytes while they come', async () => {
      await acquire()
      const { what, done, total } = steps.at(-1) ?? { what: '', done: 0, total: -1 }
      is(done, total)
      is(
        total,
        Object.values(site.files).reduce((sum, file) => sum + file.length, 0),
      )
      match(what, /^downloading: \d+ of \d+ MB$/)
    })

    it('take as long as they take from where an earlier run ended, whatever was done before they began to come', async () => {
      site.files.kubectl = Buffer.alloc(5_000_000, '#')
      mkdirSync(beside(), { recursive: true })
      writeFileSync(join(beside(), 'kubectl.part'), site.files.kubectl.subarray(0, 1_000_000))
      let [hour, second] = [0, 0]
      clock.now = () => {
        if (rangesOf('kubectl').length > 0) hour = hours(1)
        return hour + seconds(second++)
      }
      await acquire()
      const left = steps.map(({ what }) => / ([\d.]+) s left$/.exec(what)?.[1])
      ok(left.some(Boolean))
      not.ok(steps.some(({ what }) => / (min|h) left$/.test(what)))
    })

    it('are not taken with a wrong checksum, and are once it is right', async () => {
      site.mishaps['kube-apiserver'] = { isForged: true }
      match(await whyNot(), /kube-apiserver has the SHA-256 [0-9a-f]{64}, and [0-9a-f]{64} was announced: not used/)
      not.ok(existsSync(join(cache(), digest)))
      not.ok(readdirSync(beside()).some((name) => name.startsWith('kube-apiserver')))
      site.mishaps['kube-apiserver'] = {}
      site.asked.splice(0)
      await acquire()
      is(rangesOf('kube-apiserver').length, 1)
    })

    it('go on from where the connection was cut', async () => {
      site.mishaps.kubectl = { cutAfter: 50_000, times: 2, until: () => sizeOf('kubectl.part') > 0 }
      const tools = await acquire()
      const [first, ...others] = rangesOf('kubectl')
      is(first, undefined)
      is(others.length, 2)
      for (const range of others) match(range ?? '', /^bytes=[1-9]\d*-$/)
      equal(readFileSync(tools.paths.kubectl ?? ''), site.files.kubectl)
    })

    it('are given up where a site begins anew each time and is cut at changing places', async () => {
      site.files.kubectl = Buffer.alloc(4_000_000, '#')
      const cuts = [3_000_000, 1_500_000]
      let cut = 0
      site.mishaps.kubectl = {
        get cutAfter() {
          cut = cuts[rangesOf('kubectl').length % 2] ?? 0
          return cut
        },
        until: () => sizeOf('kubectl.part') === cut,
        range: 'ignored',
        times: 10,
      }
      match(await whyNot(), /kubectl: /)
      is(rangesOf('kubectl').length, 5)
    })

    it('are not taken where they were cut and nobody said how long they are', async () => {
      site.mishaps.kubectl = { cutAfter: 50_000, unsized: 'until the end' }
      site.mishaps.kwok = { cutAfter: 50_000, unsized: 'chunks' }
      match(await whyNot(), /kubectl has the SHA-256 .* not used/)
      const tools = await acquire()
      for (const tool of ['kubectl', 'kwok'] as const) equal(readFileSync(tools.paths[tool] ?? ''), site.files[tool])
    })

    it('go on in the next run where one gave up', async () => {
      site.mishaps.kubectl = { cutAfter: 50_000, times: 1 }
      site.mishaps.etcd = { cutAfter: 0, times: 1000, until: () => sizeOf('kwok.part') === site.files.kwok.length }
      match(await whyNot(), /etcd-v[\d.]+-linux-\w+\.tar\.gz: /)
      is(rangesOf('etcd').length, 3)
      site.mishaps.etcd = {}
      site.asked.splice(0)
      await acquire()
      equal(readdirSync(cache()), [digest])
      is(rangesOf('kwok').length, 0, 'what is there is not asked for again')
    })

    it('begin anew where what is there is no part of them, or the site knows no parts', async () => {
      mkdirSync(beside(), { recursive: true })
      for (const tool of ['kubectl', 'kwok', 'kube-scheduler'] as const) {
        const size = tool === 'kube-scheduler' ? site.files[tool].length : 1000
        writeFileSync(join(beside(), `${tool}.part`), Buffer.alloc(size, '?'))
      }
      site.mishaps.kwok = { range: 'ignored' }
      const tools = await acquire()
      for (const tool of ['kubectl', 'kwok', 'kube-scheduler'] as const)
        equal(readFileSync(tools.paths[tool] ?? ''), site.files[tool])
      equal(rangesOf('kubectl'), ['bytes=1000-', undefined])
      equal(rangesOf('kwok'), ['bytes=1000-'])
    })

    it('are whole though a run was ended between the last byte and the look at it', async () => {
      mkdirSync(beside(), { recursive: true })
      writeFileSync(join(beside(), 'kubectl.part'), site.files.kubectl)
      const tools = await acquire()
      equal(readFileSync(tools.paths.kubectl ?? ''), site.files.kubectl)
      is(rangesOf('kubectl').length, 0)
    })

    it('are declined as a whole where one is not there, before anything large is asked for', async () => {
      for (const [tool, sum, why] of [
        ['kwok', '{"assets":[]}', /api\.github\.com.* does not say what .*kwok-linux-\w+ must be/],
        ['etcd', 'nothing of it', /SHA256SUMS does not say what .*etcd-.* must be/],
        ['kubectl', '<html>', /kubectl\.sha256 does not say what .*kubectl must be/],
      ] as const) {
        Object.assign(site.sums, { kwok: undefined, etcd: undefined, kubectl: undefined, [tool]: sum })
        match(await whyNot(), why)
        for (const each of TOOLS) is(rangesOf(each).length, 0)
      }
    })

    it('say what a site answers that has them not', async () => {
      site.mishaps['kube-scheduler'] = { status: 404 }
      match(await whyNot(), /kube-scheduler answers 404/)
      is(rangesOf('kube-scheduler').length, 1, 'what is not there is not asked for again')
    })

    it('are brought by one of two runs', async () => {
      const [first, second] = await Promise.all([acquire(), acquire()])
      equal(first, second)
      is(rangesOf('kubectl').length, 1)
      is(lines.filter((line) => line.startsWith('Another run')).length, 1)
    })

    it('stop with the run, and what came stays', async () => {
      const stop = new AbortController()
      const until = () => {
        if (sizeOf('kubectl.part') > 0) stop.abort()
        return stop.signal.aborted
      }
      site.mishaps.kubectl = { cutAfter: 50_000, until }
      const failure = await acquire(stop.signal).catch((thrown: unknown) => thrown)
      ok(isFailure(failure, 'cancelled'))
      not.ok(existsSync(join(cache(), `${digest}.lock`)))
      is(lines.at(-1), 'Stopped; the next run goes on from here.')
      const had = sizeOf('kubectl.part')
      ok(had > 0)
      site.asked.splice(0)
      await acquire()
      equal(rangesOf('kubectl'), [`bytes=${had}-`])
    })

    it('are given up together when one is not there, and nothing comes any more', async () => {
      site.mishaps.kubectl = { status: 404, until: () => sizeOf('etcd.part') > 0 }
      site.mishaps.etcd = { stallAfter: 50_000 }
      match(await whyNot(), /kubectl answers 404/)
      await eventually(async () => (await site.connections()) === 0)
    })

    it('are asked for again where a site is out of order for a moment', async () => {
      site.mishaps.kubectl = { busySums: 2 }
      site.mishaps['kube-scheduler'] = { busySums: 2, busyStatus: 408 }
      equal((await acquire()).missing, [])
      site.mishaps.kubectl = { busySums: 3 }
      rmSync(cache(), { recursive: true })
      match(await whyNot(), /kubectl\.sha256 answers 503/)
    })

    it('go on when a line has dried up', async () => {
      const hasDriedUp = () => {
        if (sizeOf('kubectl.part') > 0) clock.endLimits()
        return sizeOf('kubectl.part') > 0
      }
      site.mishaps.kubectl = { stallAfter: 50_000, until: hasDriedUp }
      equal((await acquire()).missing, [])
      match(rangesOf('kubectl').at(-1) ?? '', /^bytes=[1-9]\d*-$/)
    })

    it('are given up where nothing is answered', async () => {
      const silent = createServer(() => clock.endLimits())
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
      const address = `http://127.0.0.1:${portOf(silent)}`
      match(await whyNot({ BERTH_RELEASES: address }), /only 0 bytes in 10 s/)
      match(await whyNot({ http_proxy: address }), /only 0 bytes in 10 s/)
      await new Promise((resolve) => silent.close(resolve))
    })

    it('are looked at again in the next run, whatever their names say', async () => {
      mkdirSync(beside(), { recursive: true })
      writeFileSync(join(beside(), 'kubectl'), 'forged', { mode: 0o755 })
      writeFileSync(join(beside(), 'kwok.part'), site.files.kwok)
      const tools = await acquire()
      equal(readFileSync(tools.paths.kubectl ?? ''), site.files.kubectl)
      is(rangesOf('kwok').length, 0, 'what is whole is not asked for')
    })

    it('begin anew where the pieces do not fit together', async () => {
      const right = Buffer.from(site.files.kubectl)
      site.sums.kubectl = createHash('sha256').update(right).digest('hex')
      site.files.kubectl.fill('#', 0, 10)
      site.mishaps.kubectl = { cutAfter: 50_000, until: () => sizeOf('kubectl.part') > 0 && right.copy(site.files.kubectl) > 0 }
      const tools = await acquire()
      equal(readFileSync(tools.paths.kubectl ?? ''), right)
      equal(
        rangesOf('kubectl').map((range) => range !== undefined),
        [false, true, false],
      )
    })

    it('are not put together from parts that were not asked for', async () => {
      mkdirSync(beside(), { recursive: true })
      writeFileSync(join(beside(), 'kubectl.part'), site.files.kubectl.subarray(0, 1000))
      site.mishaps.kubectl = { range: 'mistaken' }
      match(await whyNot(), /kubectl answers another part than it was asked for/)
    })

    it('fail at once where they cannot be kept, and name the file', async () => {
      mkdirSync(join(beside(), 'kubectl.part'), { recursive: true })
      match(await whyNot(), /kubectl\.part: .*EISDIR/)
      ok(rangesOf('kubectl').length <= 1)
    })

    it('are added to the cache one by one where only some are wanted', async () => {
      const some = await acquireTools({ env: env(), report, clock, wanted: ['kubectl'] })
      ok(some.paths.kubectl)
      site.asked.splice(0)
      equal((await acquire()).missing, [])
      is(rangesOf('kubectl').length, 0, 'what is there is not asked for again')
      is(site.asked.length, 2 * (TOOLS.length - 1))
      equal(readdirSync(cache()), [digest])
    })

    it('are passed over where there can be no cache', async () => {
      const assets = join(home, 'half')
      mkdirSync(assets)
      for (const tool of ['etcd', 'kube-apiserver', 'kubectl']) writeFileSync(join(assets, tool), '', { mode: 0o755 })
      const file = join(home, 'file')
      writeFileSync(file, '')
      const tools = await acquireTools({
        env: { ...env(), XDG_CACHE_HOME: file, KUBEBUILDER_ASSETS: assets, PATH: '' },
        report,
        clock,
      })
      equal(tools.missing, ['kube-controller-manager', 'kube-scheduler', 'kwok'])
      match(lines.at(-1) ?? '', `release binaries: ${file} is no folder`)
    })

    it('are what would be used, and looking for them brings nothing', async () => {
      const sources = await findSources({ env: env() })
      equal(
        sources.map(({ from, state }) => [from, state]),
        [
          ['KUBEBUILDER_ASSETS', 'passed over'],
          ['the cache', 'passed over'],
          ['release binaries', 'used'],
          ['a Go build', 'not needed'],
        ],
      )
      for (const each of TOOLS) is(rangesOf(each).length, 0)
      not.ok(existsSync(cache()))
      site.sums.kwok = 'no JSON'
      const [, , third, fourth] = await findSources({ env: { ...env(), PATH: '' } })
      is(third?.state, 'passed over')
      equal(fourth, { from: 'a Go build', state: 'passed over', why: 'Go is not installed' })
    })
  },
  platform() === 'linux' ? undefined : 'a whole control plane is released for Linux only',
)
