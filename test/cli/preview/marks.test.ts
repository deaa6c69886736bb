import { equal, is, match, ok } from 'uvu/assert'
import type { PreviewStatus } from '../../../src/api/index.ts'
import { Previews } from '../../../src/api/index.ts'
import { hours, minutes } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { berth } from '../berth.ts'
import { CART, counts, entry, NEXT, OLD, previewsIn } from './stage.ts'

const KEEP = 'berth.dev/preview-keep'
const EXPIRE = 'berth.dev/preview-expire'

describe('berth preview keep and delete', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''
  const { at, run, preview, tell, environment, marksOf } = previewsIn(cluster, () => namespace)
  const title = () => `Environment ${namespace}/shop-cart of branch feature/cart`
  it.beforeEach(async () => {
    namespace = await cluster.namespace('preview-marks')
    await preview('shop', {}, { environments: [entry('shop-cart', 'feature/cart')], counts: counts({ environments: 1 }) })
    await environment('shop', 'shop-cart', 'feature/cart')
  })
  it.after(() => cluster.close())

  it('keep it as long as there is its branch', async () => {
    const { code, stdout, stderr } = await run('keep', ['shop', 'feature/cart'])
    is(code, 0, stderr)
    is(stdout, `${title()} does not expire: it goes with its branch, and is the last to go for lack of room.\n`)
    is(stderr, `End it with \`berth preview delete shop shop-cart -n ${namespace}\`.\n`)
    is((await marksOf('shop-cart'))?.[KEEP], 'forever')
  })

  it('keep it for some time, by the name of the environment', async () => {
    await kube.patch(Previews, at('shop'), { spec: { timeToLive: null } })
    const before = Date.now()
    const { code, stdout, stderr } = await run('keep', ['preview/shop', 'shop-cart', '--for', '72h30m'])
    is(code, 0, stderr)
    const end = (await marksOf('shop-cart'))?.[KEEP] ?? ''
    is(stdout, `${title()} does not expire before ${end} (in 3 d).\n`)
    match(end, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    ok(Math.abs(Date.parse(end) - before - hours(72.5)) < minutes(5))
    match(stderr, `It would not have anyway: Preview ${namespace}/shop has no spec.timeToLive.\n`)
  })

  it('refuse what is no length of time, and change nothing', async () => {
    for (const text of ['', '0h', 'soon', '-3h', '3d', '3h 2m', '99999999999h', '1h'.repeat(9)]) {
      const { code, stderr } = await run('keep', ['shop', 'feature/cart', `--for=${text}`])
      is(code, 7, text)
      is(stderr, `berth: --for is "${text}", which is no length of time. Write it like 72h or 90m.\n`)
    }
    equal(await marksOf('shop-cart'), { 'berth.dev/branch': 'feature/cart' })
  })

  it('end it with the commit that the Preview shows, whatever kept it', async () => {
    await run('keep', ['shop', 'feature/cart'])
    const { code, stdout, stderr } = await run('delete', ['shop', 'feature/cart'])
    is(code, 0, stderr)
    is(stdout, `${title()} goes, with commit ca47ca47. The next push to the branch brings it back.\n`)
    equal(await marksOf('shop-cart'), { 'berth.dev/branch': 'feature/cart', [EXPIRE]: CART })
  })

  it('keep what somebody has thought better of ending', async () => {
    await run('delete', ['shop', 'feature/cart'])
    await run('keep', ['shop', 'feature/cart'])
    equal(await marksOf('shop-cart'), { 'berth.dev/branch': 'feature/cart', [KEEP]: 'forever' })
  })

  /** Starts a deletion that waits, and then has the operator say so. */
  const deleted = async (status: PreviewStatus, ...more: string[]) => {
    const ending = run('delete', ['shop', 'feature/cart', '--wait', ...more])
    await eventually(async () => (await marksOf('shop-cart'))?.[EXPIRE] === CART)
    await tell('shop', status)
    return ending
  }

  it('wait until it is gone', async () => {
    const { code, stdout, stderr } = await deleted({ environments: [], expired: [{ branch: 'feature/cart', commit: CART }] })
    is(code, 0, stderr)
    is(stdout, `${title()} is gone, with commit ca47ca47. The next push to the branch brings it back.\n`)
  })

  it('wait no longer where something was pushed', async () => {
    const { code, stderr } = await deleted({ environments: [entry('shop-cart', 'feature/cart', { commit: NEXT })] })
    is(code, 1)
    is(
      stderr,
      `berth: ${title()} stays: commit ca48ca48 was pushed meanwhile. End that one with \`berth preview delete shop shop-cart -n ${namespace}\`.\n`,
    )
  })

  it('wait no longer where the Preview is deleted', async () => {
    const ending = run('delete', ['shop', 'feature/cart', '--wait'])
    await eventually(async () => (await marksOf('shop-cart'))?.[EXPIRE] === CART)
    await kube.delete(Previews, at('shop'))
    const { code, stderr } = await ending
    is(code, 3)
    match(stderr, `Preview ${namespace}/shop was deleted.`)
  })

  it('say how it is when it is not gone in time', async () => {
    const status = {
      environments: [entry('shop-cart', 'feature/cart', { ready: false, reason: 'Degraded', message: 'a finalizer' })],
    }
    await tell('shop', status)
    const { code, stderr } = await run('delete', ['shop', 'feature/cart', '--wait', '--timeout', '1'])
    is(code, 6)
    match(stderr, `Preview ${namespace}/shop: not without branch feature/cart within 1 s; at the end: Degraded: a finalizer.`)
  })

  it('end nothing of a Preview that is suspended', async () => {
    await kube.patch(Previews, at('shop'), { spec: { suspend: true } })
    const { code, stderr } = await run('delete', ['shop', 'feature/cart'])
    is(code, 1)
    match(stderr, `Preview ${namespace}/shop is suspended, so nothing would be removed. Set its spec.suspend to false first.`)
    is((await marksOf('shop-cart'))?.[EXPIRE], undefined)
  })

  it('leave the Environment of somebody else alone', async () => {
    await environment('other', 'shop-bug', 'bug')
    await tell('shop', { environments: [entry('shop-bug', 'bug'), entry('shop-none', 'none')] })
    const others = await run('keep', ['shop', 'bug'])
    is(others.code, 1)
    match(others.stderr, `Environment ${namespace}/shop-bug is not of branch bug of Preview ${namespace}/shop`)
    match(others.stderr, 'its label berth.dev/preview is "other", its annotation berth.dev/branch "bug".')
    is((await marksOf('shop-bug'))?.[KEEP], undefined)
    const missing = await run('delete', ['shop', 'none'])
    is(missing.code, 3)
    match(
      missing.stderr,
      `Environment ${namespace}/shop-none of branch none is not there yet, or not any more. See with \`berth preview list shop -n ${namespace}\` what`,
    )
  })

  it('say which branch they do not know, and why', async () => {
    const condition = (type: string, reason: string, message: string) => ({
      ...{ type, status: 'False' as const, reason, message },
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })
    const environments = [entry('shop-cart', 'feature/cart'), entry('shop-card', 'feature/card')]
    const expired = [{ branch: 'feature/old', commit: OLD }]
    await preview('picky', { branches: { project: 'web', pattern: 'feature/*', except: ['*/wip-*'] }, maxEnvironments: 2 })
    const cases: [status: PreviewStatus, branch: string, said: string][] = [
      [{}, 'feature/carp', 'its status says nothing yet. See with `berth doctor` whether the operator runs. There is none.'],
      [
        { environments, expired, counts: counts() },
        'feature/old',
        'it has expired with commit 01d001d0. The next push brings it back. There is feature/',
      ],
      [{}, 'main', 'the branch does not match spec.branches.pattern "feature/*". There is feature/card, feature/cart.'],
      [{}, 'feature/wip-x', 'the branch matches "*/wip-*" of spec.branches.except. There is feature/'],
      [{}, 'feature/carp', 'no such branch was seen in GitProject web. Is it pushed? There is feature/card, feature/cart.'],
      [
        { counts: counts({ waiting: 1 }), waiting: [{ branch: 'feature/carp', commit: OLD }] },
        'feature/carp',
        'it waits for room. Raise spec.maxEnvironments, which is 2, or',
      ],
      [
        { counts: counts({ waiting: 3 }), waiting: [{ branch: 'feature/bugs', commit: OLD }] },
        'feature/carp',
        'it may be one of the 3 branches of GitProject web that wait for room. Raise',
      ],
      [
        { conditions: [condition('RepositoryInView', 'Unreachable', 'no answer')] },
        'feature/carp',
        'the repository is not in view (Unreachable: no answer). There is feature/',
      ],
      [
        { conditions: [condition('Ready', 'GitProjectNotFound', 'there is no GitProject web')] },
        'feature/carp',
        'GitProjectNotFound: there is no GitProject web. There is feature/',
      ],
    ]
    for (const [status, branch, said] of cases) {
      await tell('picky', status)
      for (const part of ['keep', 'delete', 'open']) {
        const { code, stderr } = await run(part, ['picky', branch])
        is(code, 3, said)
        match(stderr, `berth: Preview ${namespace}/picky has no environment of branch ${branch}: ${said}`)
      }
    }
    const unknown = await run('keep', ['shopp', 'feature/cart'])
    equal([unknown.code, unknown.stderr.includes(`there is no Preview shopp in namespace ${namespace}.`)], [3, true])
  })

  it('take the branch before an environment of that name', async () => {
    await environment('shop', 'shop-2', 'shop-cart')
    await tell('shop', { environments: [entry('shop-cart', 'feature/cart'), entry('shop-2', 'shop-cart')] })
    await run('keep', ['shop', 'shop-cart'])
    equal([(await marksOf('shop-cart'))?.[KEEP], (await marksOf('shop-2'))?.[KEEP]], [undefined, 'forever'])
  })

  it('have their names and branches completed', async () => {
    await tell('shop', {
      environments: [entry('shop-cart', 'feature/cart'), entry('shop-evil', 'x$(reboot)'), entry('shop-main', 'main')],
    })
    const where = ['-n', namespace, '--kubeconfig', cluster.kubeconfig]
    const after = async (...typed: string[]) =>
      (await berth(['completion', 'words', '--', 'preview', ...typed])).stdout.split('\n').filter(Boolean)
    for (const part of ['list', 'keep', 'delete', 'open']) equal(await after(part, ...where, 'sh'), ['shop'], part)
    equal(await after('keep', ...where, 'shop', ''), ['feature/cart', 'main'])
    equal(await after('delete', ...where, 'preview/shop', 'fea'), ['feature/cart'])
    equal(await after('open', ...where, 'unknown', ''), [])
    equal(await after('open', ...where, 'shop', 'main', ''), [])
  })
})
