import { equal, is, match } from 'uvu/assert'
import { createWakeups } from '../../../src/engines/controller/index.ts'
import { createFollowing, type Seen, type Source, type Wish } from '../../../src/operator/gitops-deployment/source/following.ts'
import { Failure } from '../../../src/std/index.ts'
import { snapshot } from '../../support/builders/snapshots.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'
import { settle } from '../../support/verbs.ts'

type Follow = Parameters<Source['follow']>

const REF = { namespace: 'team', name: 'shop' }
const WISH: Wish = {
  projectId: 'team/shop',
  namespace: 'team',
  serviceAccount: 'default',
  revision: { kind: 'short', name: 'main' },
  path: 'deploy',
}

/** A following whose streams do what `play` does, and end with their signal. */
function given(play: (follow: Follow) => Promise<void> | void) {
  const asked: Follow[] = []
  const source: Source = {
    async follow(...follow) {
      asked.push(follow)
      await play(follow)
      const [, { signal }] = follow
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    },
  }
  const clock = steppedClock()
  const wakeups = createWakeups()
  const following = createFollowing({ source, clock, wakeups })
  const ending = new AbortController()
  const seen = (): Seen => following.of(REF, WISH)
  const rung: string[] = []
  wakeups.begin((key) => void rung.push(key), ending.signal)
  return { clock, following, asked, seen, ending, rung }
}

const batch = (files: Record<string, string>) => ({ ...snapshot(files), projectId: 1n })
const absent = new Failure('not-found', 'the repository has no branch or tag main', { reason: 'RefNotFound' })

describe('following a source', (it) => {
  it('keeps the last good files when the branch vanishes, beside the reason', async () => {
    const first = batch({ 'deploy/a.yaml': 'a: 1' })
    const { seen, ending } = given(async ([, { onBatch, onFailure }]) => {
      await onBatch(first)
      onFailure?.(absent)
    })
    seen()
    await settle()
    is(seen().snapshot?.commitId, first.commitId)
    is(seen().failure, absent)
    ending.abort()
  })

  it('says so where the path is none, which is a matter of its deployment alone', async () => {
    const { following, asked, ending, rung } = given(() => undefined)
    const wish = { ...WISH, path: 'overlays\\prod' }
    following.of(REF, wish)
    await settle()
    match(following.of(REF, wish).failure?.message ?? '', 'is not a relative path')
    equal([asked, rung], [[], ['team/shop']])
    ending.abort()
  })

  it('asks for more folders when a kustomization leads there, and hands on nothing before it has them', async () => {
    const files = { 'deploy/kustomization.yaml': 'resources: [../base]\n', 'base/kustomization.yaml': 'resources: []\n' }
    const { asked, seen, ending } = given(([{ globs }, { onBatch }]) => {
      const there = Object.entries(files).filter(([path]) => globs.some((glob) => path.startsWith(glob.replace('**', ''))))
      return onBatch(batch(Object.fromEntries(there)))
    })
    seen()
    await settle()
    equal(
      asked.map(([{ globs }]) => [...globs].sort()),
      [['deploy/**'], ['base/**', 'deploy/**']],
    )
    is(seen().snapshot?.files.length, 2)
    ending.abort()
  })

  it('follows what several deployments wish for once, and rings each of them', async () => {
    const first = batch({ 'deploy/a.yaml': 'a: 1' })
    const { following, asked, seen, ending, rung } = given(([, { onBatch }]) => onBatch(first))
    const other = { ...REF, name: 'other' }
    seen()
    following.of(other, WISH)
    await settle()
    is(asked.length, 1)
    equal(rung, ['team/shop', 'team/other'])
    is(following.of(other, WISH).snapshot, seen().snapshot)
    following.end(REF)
    is(asked[0]?.[1].signal.aborted, false)
    is(following.of(other, { ...WISH, path: 'elsewhere' }).snapshot, undefined)
    is(asked[0]?.[1].signal.aborted, true)
    ending.abort()
  })

  it('keeps so many bytes of a namespace, says what is too much, and fetches it when there is room', async () => {
    const large = batch({ 'a/a.yaml': 'x'.repeat(40 * 2 ** 20) })
    const { following, asked, ending } = given(([, { onBatch }]) => onBatch(large))
    const follow = (name: string, namespace = 'team') =>
      following.of({ namespace, name }, { ...WISH, namespace, projectId: name, path: 'a' })
    for (const name of ['one', 'two']) follow(name)
    follow('theirs', 'others')
    await settle()
    is(follow('one').snapshot?.commitId, large.commitId)
    is(follow('theirs', 'others').snapshot?.commitId, large.commitId)
    const { snapshot: none, failure } = follow('two')
    is(none, undefined)
    is(failure?.reason, 'TooManyFiles')
    match(failure?.message ?? '', /has 41943040 bytes in this path, and all .* namespace team follow may have 67108864$/)
    is(asked.length, 3)
    following.end({ namespace: 'team', name: 'one' })
    await settle()
    is(asked.length, 4)
    is(follow('two').snapshot?.commitId, large.commitId)
    is(follow('two').failure, undefined)
    ending.abort()
  })

  it('knows when a commit came last for anybody, and takes no failure for one', async () => {
    const plays = [batch({ 'deploy/a.yaml': 'a: 1' }), absent]
    const { clock, following, seen, ending } = given(([, { onBatch, onFailure }]) => {
      const next = plays.shift()
      return next instanceof Failure ? onFailure?.(next) : next && onBatch(next)
    })
    is(following.heardAt, Number.NEGATIVE_INFINITY)
    seen()
    await settle()
    const heardAt = clock.now()
    is(following.heardAt, heardAt)
    await clock.step(1000)
    following.of({ ...REF, name: 'other' }, { ...WISH, path: 'other' })
    await settle()
    is(following.heardAt, heardAt)
    ending.abort()
  })
})
