import { equal, is, match } from 'uvu/assert'
import { annotations, type Environment, type Preview, type PreviewSpec, type PreviewStatus } from '../../../src/api/index.ts'
import { guardedPlan } from '../../../src/operator/preview/guard.ts'
import { hours, minutes, timestamp } from '../../../src/std/index.ts'
import { preview } from '../../support/previews.ts'
import { describe } from '../../support/suite.ts'

const NOW = Date.parse('2030-01-02T00:00:00Z')
const SINCE = timestamp(NOW)

const held = { type: 'RemovalHeld', status: 'True' as const, reason: 'TooManyAtOnce', message: '', lastTransitionTime: SINCE }

const previewOf = (branches: string, status: PreviewStatus = {}, spec: Partial<PreviewSpec> = {}): Preview => ({
  ...preview('team-a', 'shop', spec),
  status: {
    environments: [...branches].map((branch) => ({
      ...{ name: `shop-${branch}`, branch, commit: '1', since: timestamp(NOW - hours(5)), ready: true, reason: 'Ready' },
    })),
    ...status,
  },
})

const environmentOf = (branch: string, marks: Record<string, string> = {}): Environment => ({
  apiVersion: 'appstudio.redhat.com/v1alpha1',
  kind: 'Environment',
  metadata: { name: `shop-${branch}`, annotations: { [annotations.branch]: branch, ...marks } },
  spec: { displayName: branch, deploymentStrategy: 'AppStudioAutomated' },
})

/** Branches have one letter each, and all that the status lists are there. `ended`: those that somebody ends. */
function guard(of: Preview, branches: string, { at = NOW, ended = '' } = {}) {
  const names = (of.status?.environments ?? []).map(({ name, branch }) => [name, branch] as const)
  const there = names.map(
    ([name, branch]) =>
      [name, environmentOf(branch, ended.includes(branch) ? { [annotations.previewExpire]: '1' } : {})] as const,
  )
  const seen = { branches: new Map([...branches].map((branch) => [branch, '1'])), there: new Map(there), now: at }
  const found = guardedPlan(of, { ...seen, made: new Set(names.map(([name]) => name)) })
  return { ...found, live: found.plan.live.map(({ branch }) => branch).join('') }
}

const resultOf = ({ live, hold, removals }: ReturnType<typeof guard>) => [live, hold, removals?.total, removals?.gone]

describe('environments whose branches are gone', (it) => {
  it('go where they are one to three of more, and where one was the last', () => {
    equal(resultOf(guard(previewOf('abcd'), 'd')), ['d', undefined, 4, 3])
    equal(resultOf(guard(previewOf('a'), '')), ['', undefined, 1, 1])
    equal(resultOf(guard(previewOf('ab'), 'a')), ['a', undefined, 2, 1])
    equal(resultOf(guard(previewOf('ab'), 'ab')), ['ab', undefined, undefined, undefined])
    const second = guard(previewOf('a', { removals: { since: SINCE, total: 2, gone: 1 } }), '', { at: NOW + minutes(1) })
    equal(resultOf(second), ['', undefined, 2, 2])
  })

  it('stay where they are all of two or more, also when others have come', () => {
    const all = guard(previewOf('ab'), 'cd')
    equal([all.live, [...all.held], all.letsGo], ['abcd', ['shop-a', 'shop-b'], false])
    is(
      all.hold,
      'all 2 environments that there were would go, because the repository has their branches no more. If that is meant, set spec.removal.allowEmpty to true',
    )
    const removals = { since: SINCE, total: 2, gone: 0, held: 2 }
    equal(all.removals, removals)
    const later = (spec: Partial<PreviewSpec> = {}) =>
      guard(previewOf('abcd', { removals, conditions: [held] }, spec), 'cd', { at: NOW + hours(9) })
    match(later().hold ?? '', 'all 2 environments')
    match(later({ removal: { maxPercent: 100 } }).hold ?? '', 'all 2 environments')
    equal(resultOf(later({ removal: { allowEmpty: true } })), ['cd', undefined, 2, 2])
    const three = { removals: { since: SINCE, total: 3, gone: 0 }, conditions: [held] }
    equal(resultOf(guard(previewOf('abc', three), '', { ended: 'a' })).slice(2), [2, 0])
    match(guard(previewOf('abcd', three), 'd', { ended: 'd' }).hold ?? '', 'all 3 environments')
    const back = guard(previewOf('abcd', { removals, conditions: [held] }), 'abcd', { at: NOW + hours(9) })
    equal(resultOf(back), ['abcd', undefined, undefined, undefined])
  })

  it('stay where they are more than three within minutes, and too large a share', () => {
    const many = guard(previewOf('abcdefg'), 'abc')
    equal(resultOf(many), [
      'abcdefg',
      '4 of 7 environments would go within minutes, which is more than 50%, because the repository has their branches no more. If that is meant, set spec.removal.maxPercent to 100',
      7,
      0,
    ])
    equal(resultOf(guard(previewOf('abcdefgh'), 'abcd')), ['abcd', undefined, 8, 4])
    equal(resultOf(guard(previewOf('abcdefg', {}, { removal: { maxPercent: 60 } }), 'abc')), ['abc', undefined, 7, 4])
    const before = { removals: { since: SINCE, total: 7, gone: 3 } }
    match(guard(previewOf('abcd', before), 'abc', { at: NOW + minutes(9) }).hold ?? '', '4 of 7')
    equal(resultOf(guard(previewOf('abcd', before), 'abc', { at: NOW + minutes(11) })), ['abc', undefined, 4, 1])
    // What has come since the first went was there, too.
    equal(resultOf(guard(previewOf('abcdefgh', before), 'abcdefg', { at: NOW + minutes(1) })), ['abcdefg', undefined, 11, 4])
  })

  it('are not counted where they go for another reason', () => {
    const ended = guard(previewOf('abc'), 'c', { ended: 'ab' })
    equal([ended.live, ended.hold, ended.removals, ended.plan.expired], ['c', undefined, undefined, []])
    const lastOnes = guard(previewOf('abc'), '', { ended: 'a' })
    equal(resultOf(lastOnes), ['bc', lastOnes.hold, 2, 0])
    match(lastOnes.hold ?? '', 'all 2 environments')
    equal(resultOf(guard(previewOf('abc', {}, { timeToLive: '1h' }), '')), ['', undefined, undefined, undefined])
    const asked = { branches: { project: 'shop', except: ['a', 'b', 'c'] } }
    equal(resultOf(guard(previewOf('abcd', {}, asked), 'd')), ['d', undefined, undefined, undefined])
    const fewer = guard(previewOf('abc', {}, { maxEnvironments: 1 }), '')
    equal([fewer.live, fewer.hold], ['', undefined])
  })
})
