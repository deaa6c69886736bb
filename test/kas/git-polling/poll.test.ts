import { equal, is, ok } from 'uvu/assert'
import { createPace } from '../../../src/kas/git-polling/pace.ts'
import { Poll } from '../../../src/kas/git-polling/poll.ts'
import type { PollSighting, PollSubscription } from '../../../src/kas/ports/ports.ts'
import { projectFrom } from '../../../src/kas/projects/project.ts'
import { treeOf } from '../../../src/kas/projects/tree.ts'
import { Failure, hours, isFailure, minutes, seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { effort } from '../../support/effort.ts'
import { describe } from '../../support/suite.ts'
import { project } from '../running-kas.ts'

const shop = (pollInterval: string) => projectFrom(project('home', 'shop', { url: 'https://example.com/shop', pollInterval }))
const may = async (): Promise<void> => undefined
const never = new AbortController().signal

const seen = (commit: string): PollSighting => ({
  snapshot: {
    commit,
    refName: 'refs/heads/main',
    isFetched: true,
    earlier: undefined,
    tree: async () => treeOf([]),
    read: async () => [],
    line: async () => undefined,
  },
})
const failed = (reason: string): PollSighting => ({ failure: new Failure('unavailable', 'no', { reason }) })
const commitOf = (sighting: PollSighting | undefined): string | undefined =>
  sighting && 'snapshot' in sighting ? sighting.snapshot.commit : undefined

/** A poll whose Git server says what `answer` says. */
function given(interval = '20s', isShared = false) {
  const clock = steppedClock()
  const server = { answer: seen('c1'), looks: 0, isKnown: false, before: async (): Promise<void> => undefined }
  const secret = { version: '1', reads: 0 }
  const sinces: number[] = []
  const pace = createPace(clock)
  const poll = new Poll({
    clock,
    report(_projects, _sighting, since) {
      sinces.push(since)
    },
    pace,
    isShared,
    isKnown: () => server.isKnown,
    async version() {
      secret.reads++
      return secret.version
    },
    async look() {
      server.looks++
      await server.before()
      return server.answer
    },
  })
  const ending = new AbortController()
  const follow = (renew = may, namespace = 'home'): PollSubscription =>
    poll.follow(shop(interval), { caller: { namespace }, renew })
  /** So many more looks of the namespace are to be made before. */
  const crowd = (namespace: string, count: number) => {
    for (let at = 0; at < count; at++) pace.stand([namespace], false)
  }
  return { clock, server, sinces, secret, poll, follow, crowd, run: () => poll.run(ending.signal), ending }
}

describe('a poll', (it) => {
  it('looks once an interval while somebody follows', async () => {
    const { clock, server, follow, run, ending } = given()
    follow()
    const done = run()
    await clock.step(seconds(1))
    is(server.looks, 1)
    await clock.step(seconds(100))
    ok(server.looks >= 5 && server.looks <= 6, `${server.looks} looks`)
    ending.abort()
    await done
  })

  it('serves whoever comes within the interval from what it knows', async () => {
    const { clock, server, follow, run, ending } = given()
    follow()
    const done = run()
    await clock.step(seconds(10))
    is(commitOf(await follow().next(undefined, never)), 'c1')
    is(server.looks, 1)
    ending.abort()
    await done
  })

  it('ends when nobody has come back for an interval', async () => {
    const { clock, server, poll, follow, run } = given()
    const following = follow()
    const done = run()
    await clock.step(seconds(1))
    following.close()
    await clock.step(seconds(25))
    await done
    ok(poll.hasEnded)
    is(server.looks, 1)
  })

  it('holds a follower until there is something else than it has seen', async () => {
    const { clock, server, follow, run, ending } = given()
    const following = follow()
    const done = run()
    const first = await following.next(undefined, never)
    const commits: (string | undefined)[] = []
    const next = following.next(first, never).then((sighting) => commits.push(commitOf(sighting)))
    await clock.step(seconds(50))
    equal(commits, [])
    server.answer = seen('c2')
    await clock.step(seconds(25))
    await next
    equal(commits, ['c2'])
    ending.abort()
    await done
  })

  it('asks every follower for its right before each look, and lets go who has none', async () => {
    const { clock, follow, run, ending } = given()
    const asked: string[] = []
    let isRevoked = false
    follow(async () => void asked.push('good'))
    const bad = follow(async () => {
      asked.push('bad')
      if (isRevoked) throw new Failure('forbidden', 'revoked')
    })
    const done = run()
    const first = await bad.next(undefined, never)
    isRevoked = true
    const refused = bad.next(first, never).catch((thrown: unknown) => thrown)
    await clock.step(seconds(25))
    ok(isFailure(await refused, 'forbidden'))
    await clock.step(seconds(25))
    equal(asked, ['good', 'bad', 'good', 'bad', 'good'])
    ending.abort()
    await done
  })

  it('does not look for followers who all have lost their right', async () => {
    const { clock, server, follow, run } = given()
    follow(async () => {
      throw new Failure('forbidden', 'revoked')
    })
    const done = run()
    await clock.step(minutes(10))
    await done
    is(server.looks, 0)
  })

  it('waits longer after each failure, and no longer than five minutes', async () => {
    const { clock, server, follow, run, ending } = given()
    server.answer = failed('Unreachable')
    follow()
    const done = run()
    await clock.step(hours(1))
    ok(server.looks > 12 && server.looks < 40, `${server.looks} looks in an hour`)
    ending.abort()
    await done
  })

  it('looks each interval for a Secret that is missing', async () => {
    const { clock, server, follow, run, ending } = given()
    server.answer = failed('SecretNotFound')
    follow()
    const done = run()
    await clock.step(minutes(10))
    ok(server.looks >= 25, `${server.looks} looks in ten minutes`)
    ending.abort()
    await done
  })

  it('looks within an interval when the credentials are mended while it waits after failures', async () => {
    const { clock, server, secret, follow, run, ending } = given()
    server.answer = failed('AuthenticationFailed')
    const following = follow()
    const done = run()
    await clock.step(hours(1))
    const before = server.looks
    server.answer = seen('c1')
    secret.version = '2'
    await clock.step(seconds(20))
    is(server.looks, before + 1)
    is(commitOf(await following.next(undefined, never)), 'c1')
    ending.abort()
    await done
  })

  it('leaves the credentials alone while all is well', async () => {
    const { clock, secret, follow, run, ending } = given()
    follow()
    const done = run()
    await clock.step(minutes(10))
    is(secret.reads, 0)
    ending.abort()
    await done
  })

  it('looks at once when it is poked, also while it waits after failures', async () => {
    const { clock, server, poll, follow, run, ending } = given()
    server.answer = failed('Unreachable')
    const following = follow()
    const done = run()
    await clock.step(minutes(30))
    // A poke soon after a look shares the next one with those that follow; when that is depends on the jitter.
    for (const seldom = server.looks; server.looks === seldom; ) await clock.step(seconds(1))
    await clock.step(seconds(5))
    const before = server.looks
    server.answer = seen('c1')
    poll.poke()
    await clock.step(0)
    is(server.looks, before + 1)
    is(commitOf(await following.next(undefined, never)), 'c1')
    ending.abort()
    await done
  })

  it('waits for the turn of the namespaces that follow, and goes before others when it is poked', async () => {
    const { clock, server, poll, follow, crowd, run, ending } = given('1s')
    follow()
    const done = run()
    await clock.step(0)
    crowd('home', 1099)
    await clock.step(seconds(5))
    is(server.looks, 1)
    is(commitOf(await follow().next(undefined, never)), 'c1', 'what is known is good until its turn')
    poll.poke()
    await clock.step(seconds(0.2))
    is(server.looks, 2)
    crowd('home', 1000)
    await clock.step(seconds(20))
    is(server.looks, 2)
    follow(may, 'calm')
    await clock.step(0)
    is(server.looks, 3, 'whoever comes from a calm namespace waits for no other')
    ending.abort()
    await done
  })

  it('takes work by the number of its followers, however many there are', async () => {
    const { clock, server, follow, run, ending } = given()
    for (let at = 0; at < 20_000; at++) follow()
    const spent = effort()
    const done = run()
    await clock.step(0)
    is(server.looks, 1)
    ok(spent() < 2000, `${spent()} ms`)
    ending.abort()
    await done
  })

  it('begins in its turn, and ends in the line when nobody follows any more', async () => {
    const { clock, server, poll, follow, crowd, run } = given('1s')
    crowd('home', 2000)
    const following = follow()
    const done = run()
    await clock.step(seconds(0.2))
    is(server.looks, 1, 'somebody waits for the first look')
    await clock.step(seconds(2))
    following.close()
    await clock.step(seconds(2))
    is(poll.hasEnded, true)
    is(server.looks, 1)
    await done
  })

  it('leaves the line when somebody else has asked, and stands in none while others ask for it', async () => {
    const { clock, server, poll, follow, crowd, run, ending } = given('1s')
    follow()
    const done = run()
    await clock.step(0)
    crowd('home', 2000)
    await clock.step(seconds(5))
    is(server.looks, 1)
    poll.wake(false)
    await clock.step(0)
    is(server.looks, 1, 'what was found says nothing of it')
    server.isKnown = true
    poll.wake(false)
    await clock.step(0)
    is(server.looks, 2)
    poll.wake(true)
    await clock.step(seconds(0.6))
    is(server.looks, 3, 'before its interval is over')
    await clock.step(seconds(3))
    ok(server.looks >= 5, `${server.looks} looks`)
    ending.abort()
    await done
  })

  it('comes before others where these are answered by it', async () => {
    const { clock, server, follow, crowd, run, ending } = given('1s', true)
    follow()
    const done = run()
    await clock.step(0)
    crowd('home', 2000)
    await clock.step(seconds(5))
    ok(server.looks >= 3, `${server.looks} looks`)
    ending.abort()
    await done
  })

  it('does not lose a poke that comes while nobody follows', async () => {
    const { clock, server, poll, follow, run, ending } = given('1h')
    const first = follow()
    const done = run()
    is(commitOf(await first.next(undefined, never)), 'c1')
    first.close()
    await clock.step(minutes(1))
    ok(poll.serves({ namespace: 'home', name: 'shop' }))
    poll.poke()
    await clock.step(0)
    await done
    ok(poll.hasEnded, 'the next one begins with a look')
    is(server.looks, 1)
    ending.abort()
  })

  it('counts the time of what it finds from the poke, also when the first look after it fails', async () => {
    const { clock, server, sinces, poll, follow, run, ending } = given('1h')
    follow()
    const done = run()
    await clock.step(minutes(10))
    server.answer = failed('Unreachable')
    const pokedAt = clock.now()
    poll.poke()
    await clock.step(0)
    server.answer = seen('c2')
    await clock.step(hours(1))
    equal(sinces.slice(1, 3), [pokedAt, pokedAt])
    await clock.step(hours(2))
    ok((sinces.at(-1) ?? 0) > pokedAt)
    ending.abort()
    await done
  })

  it('does not lose a poke that comes while it looks', async () => {
    const { clock, server, poll, follow, run, ending } = given('1h')
    follow()
    const { promise, resolve } = Promise.withResolvers<void>()
    server.before = () => promise
    const done = run()
    await clock.step(0)
    poll.poke()
    resolve()
    await clock.step(seconds(0.5))
    is(server.looks, 2)
    ending.abort()
    await done
  })

  it('answers at once each of the pokes that come every few seconds', async () => {
    const { clock, server, poll, follow, run, ending } = given('1h')
    follow()
    const done = run()
    for (let push = 1; push <= 10; push++) {
      await clock.step(seconds(2.5))
      poll.poke()
      await clock.step(0)
      is(server.looks, 1 + push)
    }
    ending.abort()
    await done
  })

  it('answers the first poke at once, and many in quick succession with few looks, the last one included', async () => {
    const { clock, server, poll, follow, run, ending } = given('1h')
    follow()
    const done = run()
    await clock.step(minutes(1))
    is(server.looks, 1)
    poll.poke()
    await clock.step(0)
    is(server.looks, 2)
    for (let push = 0; push < 100; push++) {
      await clock.step(166)
      poll.poke()
    }
    const during = server.looks - 2
    ok(during <= 10, `${during} looks`)
    await clock.step(seconds(3))
    is(server.looks - 2, during + 1)
    await clock.step(minutes(1))
    poll.poke()
    await clock.step(0)
    is(server.looks - 2, during + 2)
    ending.abort()
    await done
  })
})
