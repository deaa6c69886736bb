import { equal, is, match, not } from 'uvu/assert'
import { annotations, type Environment, type Preview, type PreviewSpec, type PreviewStatus } from '../../../src/api/index.ts'
import { planOf } from '../../../src/operator/preview/plan.ts'
import { hours, timestamp } from '../../../src/std/index.ts'
import { branchesOfOneName } from '../../support/previews.ts'
import { describe } from '../../support/suite.ts'

const NOW = Date.parse('2030-01-02T00:00:00Z')

const previewOf = (spec: Partial<PreviewSpec> = {}, status: PreviewStatus = {}): Preview => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Preview',
  metadata: { name: 'shop', namespace: 'team-a', uid: 'u' },
  spec: { branches: { project: 'shop' }, deploymentTargetClassName: 'dev', template: { spec: {} }, ...spec },
  status,
})

const entry = (branch: string, commit: string, ago: number) => ({
  name: `shop-${branch}`,
  branch,
  commit,
  since: timestamp(NOW - ago),
  ready: true,
  reason: 'Ready',
})

const environment = (branch: string, marks: Record<string, string> = {}): [string, Environment] => [
  `shop-${branch}`,
  {
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'Environment',
    metadata: { name: `shop-${branch}`, annotations: { [annotations.branch]: branch, ...marks } },
    spec: { displayName: branch, deploymentStrategy: 'AppStudioAutomated' },
  },
]

const plan = (preview: Preview, branches: Record<string, string>, there: [string, Environment][] = []) =>
  planOf(preview, { branches: new Map(Object.entries(branches)), there: new Map(there), now: NOW })
const branchesOf = ({ live }: ReturnType<typeof planOf>) => live.map(({ branch }) => branch)

describe('which branches have an environment', (it) => {
  it('is each one while there is room, and those that are there stay', () => {
    const preview = previewOf({ maxEnvironments: 2 }, { environments: [entry('z', '1', hours(1))] })
    const found = plan(preview, { a: '1', b: '1', z: '1' }, [environment('z')])
    equal(branchesOf(found), ['a', 'z'])
    equal(found.waiting, [{ branch: 'b', commit: '1' }])
    equal(branchesOf(plan(preview, { a: '1', b: '1' })), ['a', 'b'])
  })

  it('is, where there is less room than before, the ones that were pushed to last', () => {
    const environments = [entry('a', '1', hours(3)), entry('b', '1', hours(1)), entry('c', '1', hours(2))]
    const there = [environment('a'), environment('b'), environment('c')]
    const found = plan(previewOf({ maxEnvironments: 2 }, { environments }), { a: '1', b: '1', c: '1' }, there)
    equal(branchesOf(found), ['b', 'c'])
    const kept = environment('a', { [annotations.previewKeep]: 'forever' })
    const withKept = plan(previewOf({ maxEnvironments: 2 }, { environments }), { a: '1', b: '1', c: '1' }, [
      kept,
      ...there.slice(1),
    ])
    equal(branchesOf(withKept), ['a', 'b'])
  })

  it('gives each a name that is one, and another one, whatever the branch is called', () => {
    const branches = ['login', 'feature/login', 'feature-login', 'Feature/Login', '../../x', '-', 'ä', 'x'.repeat(300), '${name}']
    const { live } = plan(previewOf(), Object.fromEntries(branches.map((branch) => [branch, '1'])))
    is(live.length, branches.length)
    is(new Set(live.map(({ name }) => name)).size, branches.length)
    for (const { name } of live) match(name, /^shop-[a-z0-9](?:[a-z0-9-]{0,50}[a-z0-9])?$/)
    is(live.find(({ branch }) => branch === 'login')?.name, 'shop-login')
    match(live.find(({ branch }) => branch === 'feature/login')?.name ?? '', /^shop-feature-login-[0-9a-f]{8}$/)
  })

  it('is none of a branch whose name another one has, before that has gone', () => {
    const [one, other] = branchesOfOneName()
    const [entryOfOne] = plan(previewOf(), { [one]: '1' }).live
    const { name = '' } = entryOfOne ?? {}
    const [, { metadata, ...rest }] = environment('x')
    const thereOf = (branch: string, marks = {}): [string, Environment][] => [
      [name, { ...rest, metadata: { ...metadata, name, annotations: { [annotations.branch]: branch, ...marks } } }],
    ]
    const both = { [one]: '1', [other]: '1' }
    const first = plan(previewOf(), both, thereOf(one))
    equal([branchesOf(first), first.waiting], [[one], [{ branch: other, commit: '1' }]])
    const alone = plan(previewOf(), { [other]: '1' }, thereOf(one))
    equal([branchesOf(alone), alone.waiting], [[], [{ branch: other, commit: '1' }]])
    const ended = plan(previewOf(), both, thereOf(one, { [annotations.previewExpire]: '1' }))
    equal([branchesOf(ended), ended.expired], [[], [{ branch: one, commit: '1' }]])
    equal(branchesOf(plan(previewOf(), { [other]: '1' })), [other])
    equal(branchesOf(plan(previewOf(), { [one]: '1' }, thereOf('written-by-hand'))), [one])
  })

  it('keeps when a commit was seen first, and counts from there', () => {
    const status = { environments: [entry('a', '1', hours(5))] }
    const preview = previewOf({ timeToLive: '6h' }, status)
    const [same] = plan(preview, { a: '1' }, [environment('a')]).live
    is(same?.since, timestamp(NOW - hours(5)))
    is(same?.expires, timestamp(NOW + hours(1)))
    is(plan(preview, { a: '1' }, [environment('a')]).recheck, hours(1))
    const [pushed] = plan(preview, { a: '2' }, [environment('a')]).live
    equal([pushed?.since, pushed?.expires], [timestamp(NOW), timestamp(NOW + hours(6))])
    const [forEver] = plan(previewOf({}, status), { a: '1' }, [environment('a')]).live
    is(forEver?.expires, undefined)
  })

  it('is none whose time is over, until the next push', () => {
    const preview = previewOf({ timeToLive: '6h' }, { environments: [entry('a', '1', hours(7))] })
    const found = plan(preview, { a: '1' }, [environment('a')])
    equal([branchesOf(found), found.expired], [[], [{ branch: 'a', commit: '1' }]])
    const after = previewOf({ timeToLive: '6h' }, { expired: [{ branch: 'a', commit: '1' }] })
    equal(plan(after, { a: '1' }).expired, [{ branch: 'a', commit: '1' }])
    equal(branchesOf(plan(after, { a: '2' })), ['a'])
    equal(plan(after, {}).expired, [])
  })

  it('is one that somebody keeps, for ever or until a time', () => {
    const preview = previewOf({ timeToLive: '6h' }, { environments: [entry('a', '1', hours(7))] })
    const kept = (keep: string) => plan(preview, { a: '1' }, [environment('a', { [annotations.previewKeep]: keep })])
    equal(branchesOf(kept('forever')), ['a'])
    is(kept('forever').recheck, undefined)
    is(kept(timestamp(NOW + hours(2))).live[0]?.expires, timestamp(NOW + hours(2)))
    equal(branchesOf(kept(timestamp(NOW - hours(2)))), [])
    for (const mark of ['tomorrow', '2030-13-45', '12000', '72h']) is(kept(mark).live[0]?.expires, undefined)
  })

  it('is none that somebody ends, at that commit only', () => {
    const preview = previewOf({}, { environments: [entry('a', '1', hours(1))] })
    const ended = (commit: string) => plan(preview, { a: commit }, [environment('a', { [annotations.previewExpire]: '1' })])
    equal([branchesOf(ended('1')), ended('1').expired], [[], [{ branch: 'a', commit: '1' }]])
    equal(branchesOf(ended('2')), ['a'])
    not.equal(ended('2').live[0]?.since, preview.status?.environments?.[0]?.since)
  })
})
