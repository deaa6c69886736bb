import { equal, is } from 'uvu/assert'
import { describeRevision, type Revision } from '../../../src/adapters/git/index.ts'
import type { GitProjectStatus } from '../../../src/api/index.ts'
import { newCommitIn, servedIn, statusAfter } from '../../../src/kas/git-project-status/status.ts'
import type { CommitSnapshot, PollSighting } from '../../../src/kas/ports/ports.ts'
import { projectFrom } from '../../../src/kas/projects/project.ts'
import { treeOf } from '../../../src/kas/projects/tree.ts'
import { Failure } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'
import { project } from '../running-kas.ts'

const shop = projectFrom(project('home', 'shop', { url: 'https://example.com/shop' }))
const seen = (commit: string, refName = 'refs/heads/main'): PollSighting => ({
  snapshot: {
    commit,
    refName,
    isFetched: false,
    earlier: undefined,
    tree: async () => treeOf([]),
    read: async () => [],
    line: async () => undefined,
  },
})
const failed = (reason: string): PollSighting => ({
  failure: new Failure('unauthorized', 'it did not work', { reason, remedy: 'Mend it.' }),
})
const after = (
  before: GitProjectStatus | undefined,
  sighting: PollSighting,
  at: string,
  kind: 'default' | 'side' = 'default',
  isNews = true,
) =>
  statusAfter(before, shop, {
    revision: kind === 'default' ? { kind } : { kind: 'branch', name: 'side' },
    name: kind,
    sighting,
    isNews,
    foundAt: Date.parse(at),
  })

const [T1, T2, T3] = ['2030-01-01T00:00:01Z', '2030-01-01T00:00:02Z', '2030-01-01T00:00:03Z'] as const

describe('GitProject status', (it) => {
  it('stays the same when the same is found again', () => {
    const first = after(undefined, seen('c1'), '2030-01-01T00:00:00Z')
    equal(after(first, seen('c1'), '2030-01-01T00:00:20Z'), first)
    is(first.defaultBranch, 'main')
  })

  it('puts the ref that moved last first, with its time', () => {
    const first = after(after(undefined, seen('c1'), T1), seen('s1', 'refs/heads/side'), T2, 'side')
    equal(after(first, seen('c2'), T3).refs, [
      { name: 'refs/heads/main', commit: 'c2', seenAt: T3 },
      { name: 'refs/heads/side', commit: 's1', seenAt: T2 },
    ])
  })

  it('is ready where a registry answers, whatever it has, and not where it refuses', () => {
    const registry = projectFrom(project('home', 'shop', { url: 'oci://example.com/shop' }))
    const conditionAfter = (sighting: PollSighting) => {
      const found = { revision: { kind: 'default' }, name: 'default', sighting, isNews: true, foundAt: 0 } as const
      return statusAfter(undefined, registry, found).conditions?.[0]
    }
    const reachable = conditionAfter(failed('RefNotFound'))
    is(reachable?.reason, 'Reachable')
    for (const sighting of [seen('c1'), { empty: true } as const]) equal(conditionAfter(sighting), reachable)
    is(conditionAfter(failed('AuthenticationFailed'))?.reason, 'AuthenticationFailed')
  })

  it('says why it is not ready and what helps', () => {
    const [condition] = after(undefined, failed('AuthenticationFailed'), T1).conditions ?? []
    equal(
      [condition?.status, condition?.reason, condition?.message],
      ['False', 'AuthenticationFailed', 'it did not work. Mend it.'],
    )
  })

  it('keeps the commit in effect, and who signed it, while a newer one is refused', () => {
    const sighting = seen('c1')
    const snapshot = { ...('snapshot' in sighting && sighting.snapshot), signer: 'ann' } as CommitSnapshot
    const first = after(after(undefined, seen('c1'), T1), { snapshot }, T2)
    equal(first.refs, [{ name: 'refs/heads/main', commit: 'c1', signer: 'ann', seenAt: T1 }])
    const refused = new Failure('invalid', 'commit c2 is not signed', { reason: 'CommitNotSigned', remedy: 'Sign it.' })
    const status = after(first, { snapshot, refused }, T3)
    equal(status.refs, first.refs)
    const [condition] = status.conditions ?? []
    equal([condition?.reason, condition?.message], ['CommitNotSigned', 'commit c2 is not signed. Sign it.'])
    equal(after(status, seen('c3'), T3).refs?.[0], { name: 'refs/heads/main', commit: 'c3', seenAt: T3 })
  })

  it('does not blame the project for a branch that somebody else misses', () => {
    const ready = after(undefined, seen('c1'), T1)
    equal(after(ready, failed('RefNotFound'), T2, 'side'), ready)
    is(after(ready, failed('RefNotFound'), T2).conditions?.[0]?.status, 'False')
    equal(after(ready, failed('CommitNotSigned'), T2, 'side'), ready)
    is(after(ready, failed('AuthenticationFailed'), T2, 'side').conditions?.[0]?.reason, 'AuthenticationFailed')
    // The default branch by its name is the default branch.
    const named = (revision: Revision) =>
      statusAfter(ready, shop, {
        revision,
        name: 'tested',
        sighting: failed('CommitNotSigned'),
        isNews: false,
        foundAt: Date.parse(T2),
      }).conditions?.[0]?.reason
    const revisions: Revision[] = [
      { kind: 'branch', name: 'main' },
      { kind: 'short', name: 'main' },
      { kind: 'full', name: 'refs/heads/main' },
    ]
    equal(revisions.map(named), ['CommitNotSigned', 'CommitNotSigned', 'CommitNotSigned'])
    equal([named({ kind: 'tag', name: 'main' }), named({ kind: 'short', name: 'v1' })], ['Reachable', 'Reachable'])
  })

  it('lets nobody but the default branch say that it is fine again', () => {
    const refused = after(after(undefined, seen('c1'), T1), failed('CommitNotSigned'), T2)
    const reasonOf = (status: GitProjectStatus) => status.conditions?.[0]?.reason
    is(reasonOf(after(refused, seen('s1', 'refs/heads/side'), T3, 'side')), 'CommitNotSigned')
    is(reasonOf(after(refused, seen('c2'), T3)), 'Reachable')
    is(reasonOf(after(after(undefined, failed('Unreachable'), T1), seen('s1', 'refs/heads/side'), T2, 'side')), 'Reachable')
    is(
      statusAfter(undefined, shop, {
        revision: { kind: 'full', name: 'refs/heads/undefined' },
        name: 'tested',
        sighting: failed('CommitNotSigned'),
        isNews: true,
        foundAt: 0,
      }).conditions,
      undefined,
    )
  })

  it('does not change with each look where more refs are followed than it has room for', () => {
    let status = after(undefined, seen('c1'), T1)
    for (let at = 0; at < 40; at++) status = after(status, seen('c2', `refs/heads/open-${at}`), T2, 'side')
    is(status.refs?.length, 32)
    equal(after(status, seen('c1'), T3, 'default', false), status)
    is(after(status, seen('c3'), T3, 'default', true).refs?.[0]?.commit, 'c3')
  })

  it('remembers what was given out last of each revision, and lets none that is followed be pushed out', () => {
    const signedBy = (commit: string, refName: string): PollSighting => {
      const sighting = seen(commit, refName)
      return { snapshot: { ...('snapshot' in sighting && sighting.snapshot), signer: 'ann' } as CommitSnapshot }
    }
    const found = (before: GitProjectStatus | undefined, revision: Revision, sighting: PollSighting, at: string) =>
      statusAfter(before, shop, { revision, name: describeRevision(revision), sighting, isNews: true, foundAt: Date.parse(at) })
    const range: Revision = { kind: 'semver', name: '>=1.0.0' }
    let status = found(undefined, range, signedBy('c1', 'refs/tags/v1.0.0'), T1)
    equal(status.verified, [
      { revision: 'tag in the range >=1.0.0', ref: 'refs/tags/v1.0.0', commit: 'c1', signer: 'ann', seenAt: T1 },
    ])
    status = found(status, range, signedBy('c2', 'refs/tags/v1.1.0'), T2)
    equal(servedIn(status, describeRevision(range)), { commit: 'c2', refName: 'refs/tags/v1.1.0', signer: 'ann' })
    is(servedIn(status, 'tag v1.1.0'), undefined)
    for (let at = 0; at < 300; at++)
      status = found(status, { kind: 'branch', name: `b${at}` }, signedBy('c3', `refs/heads/b${at}`), T2)
    is(status.verified?.length, 256)
    is(servedIn(status, describeRevision(range))?.commit, 'c2')
    is(servedIn(status, 'branch b299'), undefined)
    // What is given out without being looked at takes its place.
    is(servedIn(found(status, range, seen('c9', 'refs/tags/v2.0.0'), T3), describeRevision(range)), undefined)
    // It is still followed two weeks later, and most others are not.
    const later = found(status, range, signedBy('c2', 'refs/tags/v1.1.0'), '2030-01-14T00:00:00Z')
    const renewed = found(later, { kind: 'branch', name: 'b299' }, signedBy('c4', 'refs/heads/b299'), '2030-01-15T00:00:00Z')
    equal(
      renewed.verified?.map(({ revision }) => revision),
      ['tag in the range >=1.0.0', 'branch b299'],
    )
  })

  it('shows no text of an internal error', () => {
    const [condition] = after(undefined, { failure: new Failure('internal', '/secret/path') }, T1).conditions ?? []
    is(condition?.message, 'internal error; the cause is in the log of kas.')
  })

  it('says which commit is new to the project, at whatever ref it was seen', () => {
    const first = after(undefined, seen('c1'), T1)
    equal(newCommitIn(undefined, seen('c1')), { refName: 'refs/heads/main', commit: 'c1' })
    equal(newCommitIn(first, seen('c2')), { refName: 'refs/heads/main', commit: 'c2' })
    for (const known of [seen('c1'), seen('c1', 'refs/tags/v1'), failed('RefNotFound'), { empty: true } as const])
      is(newCommitIn(first, known), undefined)
  })
})
