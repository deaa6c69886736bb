import { equal, is, ok } from 'uvu/assert'
import { GitProjects, isTrue } from '../../../src/api/index.ts'
import { createListings } from '../../../src/kas/git-polling/listings.ts'
import { pause, seconds, systemClock } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { testCluster } from '../../support/control-plane.ts'
import { gitHost } from '../../support/git-host.ts'
import { describe } from '../../support/suite.ts'
import { eventually, expectObject } from '../../support/verbs.ts'
import { createAgent, createProject, runKas } from '../running-kas.ts'

const BRANCHES = Array.from({ length: 10 }, (_, at) => `feature/n${at}`)

describe('a look at many refs', (it) => {
  it('says what is another than the last time, and answers for each of them until it is too old', async () => {
    const clock = steppedClock()
    const listings = createListings(clock)
    const note = (refs: Record<string, string>, repository = 'shop') =>
      listings.note(repository, 'refs/heads/*', { refs: new Map(Object.entries(refs)), at: clock.now() })
    equal(note({ 'refs/heads/a': '1', 'refs/heads/b': '1' }), [])
    const first = clock.now()
    await clock.step(seconds(1))
    equal(note({ 'refs/heads/a': '2', 'refs/heads/c': '1' }), ['refs/heads/a', 'refs/heads/b', 'refs/heads/c'])
    const branch = (name: string, since = 0, repository = 'shop') =>
      listings.find(repository, { kind: 'branch', name }, since)?.commit
    equal([branch('a'), branch('b'), branch('c')], ['2', undefined, '1'])
    equal([branch('a', first + 1), branch('a', clock.now() + 1), branch('a', 0, 'other')], ['2', undefined, undefined])
    is(listings.find('shop', { kind: 'full', name: 'refs/heads/a' }, 0)?.refName, 'refs/heads/a')
    is(listings.find('shop', { kind: 'short', name: 'a' }, 0), undefined)
    is(listings.find('shop', { kind: 'full', name: 'refs/tags/a' }, 0), undefined)
    await clock.step(seconds(3600))
    equal(note({}, 'other'), [])
    is(branch('a'), undefined)
  })

  it('saves the Git server those of whoever follows the branches one by one, and nobody hears later of a push', async () => {
    const cluster = testCluster()
    const namespace = await cluster.namespace('kas')
    const host = await gitHost()
    const token = await createAgent(cluster.kube, namespace, 'home')
    const kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace })
    const ending = new AbortController()
    const follows: Promise<void>[] = []
    try {
      const repository = await host.repository('shop')
      const first = await repository.commit({ 'a.yaml': '1' })
      for (const name of BRANCHES) await repository.branch(name, first)
      await createProject(cluster.kube, namespace, 'shop', { url: repository.url, pollInterval: '1s' })
      await expectObject(cluster.kube, GitProjects, { name: 'shop', namespace }, ({ status }) =>
        isTrue(status?.conditions, 'Ready'),
      )
      const seen = new Map<string, string>()
      const follow = (kind: 'branch' | 'refs', name: string) =>
        void follows.push(
          kas
            .stream(token)
            .follow(
              { projectId: `${namespace}/shop`, ref: { kind, name }, globs: ['**'] },
              { onBatch: ({ commitId }) => void seen.set(name, commitId), signal: ending.signal },
            ),
        )
      const requestsWithin = async (ms: number) => {
        host.traffic()
        await pause(systemClock, ms)
        return host.traffic().requests
      }
      for (const name of BRANCHES) follow('branch', name)
      await eventually(() => BRANCHES.every((name) => seen.get(name) === first))
      const alone = await requestsWithin(seconds(5))
      follow('refs', 'refs/heads/*')
      await eventually(() => seen.has('refs/heads/*'))
      await pause(systemClock, seconds(3))
      const together = await requestsWithin(seconds(5))
      ok(together * 2 < alone, `${alone} requests without, ${together} with`)

      const next = await repository.commit({ 'a.yaml': '2' }, 'feature/n3')
      await eventually(() => seen.get('feature/n3') === next)
      is(seen.get('feature/n4'), first)
      await repository.removeBranch('feature/n3')
      await repository.branch('feature/n3', first)
      await eventually(() => seen.get('feature/n3') === first)
    } finally {
      ending.abort()
      await Promise.all(follows)
      await kas.stop()
      await host.close()
      await cluster.close()
    }
  })
})
