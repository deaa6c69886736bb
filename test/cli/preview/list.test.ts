import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, ok } from 'uvu/assert'
import { hours, minutes, timestamp } from '../../../src/std/index.ts'
import { allow, deployer } from '../../support/builders/credentials.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { berth } from '../berth.ts'
import { CART, counts, entry, LOGIN, OLD, previewsIn } from './stage.ts'

const later = (ms: number): string => timestamp(Date.now() + ms + minutes(5))

const condition = (type: string, status: 'True' | 'False', reason: string, message: string) => ({
  ...{ type, status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' },
})

describe('berth preview list', (it) => {
  const cluster = testCluster()
  let namespace = ''
  const { run, preview, environment } = previewsIn(cluster, () => namespace)
  it.beforeEach(async () => {
    namespace = await cluster.namespace('preview-list')
  })
  it.after(() => cluster.close())

  const shop = async () => {
    const environments = [
      entry('shop-bug', 'bug', { ready: false, reason: 'Degraded', message: 'Deployment web: no pod', expires: later(hours(3)) }),
      entry('shop-cart', 'feature/cart', { expires: later(hours(30)) }),
      entry('shop-docs', 'docs', { commit: LOGIN, expires: later(hours(200)) }),
      entry('shop-main', 'main', { commit: LOGIN }),
    ]
    const waiting = [{ branch: 'pay', commit: CART }]
    const expired = [{ branch: 'old', commit: OLD }]
    await preview('shop', {}, { environments, expired, waiting, counts: counts({ waiting: 2 }) })
    await environment('shop', 'shop-bug', 'bug', { 'berth.dev/preview-keep': 'next week' })
    await environment('shop', 'shop-cart', 'feature/cart', { 'berth.dev/preview-keep': later(hours(48)) })
    await environment('shop', 'shop-docs', 'docs', { 'berth.dev/preview-keep': later(hours(100)) })
    await environment('shop', 'shop-main', 'main', { 'berth.dev/preview-keep': 'forever' })
  }

  it('shows each environment, then the branches whose environment has expired, and those that wait', async () => {
    await shop()
    await preview('api', {}, { environments: [entry('api-main', 'main')], counts: counts() })
    const { code, stdout, stderr } = await run('list')
    is(code, 0, stderr)
    is(
      stdout,
      `PREVIEW  BRANCH        ENVIRONMENT  STATE     COMMIT    EXPIRES
api      main          api-main     Ready     ca47ca47  -
shop     bug           shop-bug     Degraded  ca47ca47  in 3 h
shop     feature/cart  shop-cart    Ready     ca47ca47  kept
shop     docs          shop-docs    Ready     10911091  in 8 d
shop     main          shop-main    Ready     10911091  kept
shop     old                        Expired   01d001d0  -
shop     pay                        Waiting   ca47ca47  -
`,
    )
    is(stderr, `Preview ${namespace}/shop: 2 branches wait for room; spec.maxEnvironments is 20.\n`)
    ok(!(await run('list', ['preview/shop'])).stdout.includes('api'))
  })

  it('has namespaces with -A, and no name then', async () => {
    await preview('api', {}, { environments: [entry('api-main', 'main')], counts: counts() })
    const { stdout } = await run('list', ['-A'])
    match(stdout, /^NAMESPACE +PREVIEW +BRANCH /)
    match(stdout, new RegExp(`^${namespace} +api +main `, 'm'))
    const both = await run('list', ['api', '-A'])
    is(both.code, 2)
    match(both.stderr, 'error: a Preview has a name in one namespace: name that with -n instead of -A.')
  })

  it('leaves out what has no room in 80 columns', async () => {
    const branch = 'feature/a-basket-with-a-long-name'
    await preview('shop', {}, { environments: [entry('shop-feature-a-basket-with-1a2b3c4d', branch)], counts: counts() })
    const { stdout, stderr } = await run('list')
    is(
      stdout,
      `PREVIEW  BRANCH                             STATE  COMMIT    EXPIRES
shop     feature/a-basket-with-a-long-name  Ready  ca47ca47  -
`,
    )
    is(stderr, 'Without ENVIRONMENT, for which there is no room: -o json has all.\n')
  })

  it('prints a row for each line as data', async () => {
    await shop()
    const { stdout } = await run('list', ['shop', '-o', 'json'])
    const rows: Record<string, unknown>[] = JSON.parse(stdout)
    equal(
      rows.map(({ branch, environment: name, state, commit }) => [branch, name, state, commit]),
      [
        ['bug', 'shop-bug', 'Degraded', CART],
        ['feature/cart', 'shop-cart', 'Ready', CART],
        ['docs', 'shop-docs', 'Ready', LOGIN],
        ['main', 'shop-main', 'Ready', LOGIN],
        ['old', undefined, 'Expired', OLD],
        ['pay', undefined, 'Waiting', CART],
      ],
    )
    equal([rows[0]?.message, rows[3]?.keep], ['Deployment web: no pod', 'forever'])
    match((await run('list', ['shop', '-o', 'yaml'])).stdout, /^- namespace: \S+\n {2}preview: shop\n/)
  })

  it('says that there is nothing, and why', async () => {
    const nothing = await run('list')
    equal([nothing.code, nothing.stdout, nothing.stderr], [0, '', `There is no preview in namespace ${namespace}.\n`])
    is((await run('list', ['-o', 'json'])).stdout, '[]\n')
    const conditions = [
      condition('Ready', 'False', 'ProjectNotFound', 'there is no GitProject web.'),
      condition('RemovalHeld', 'True', 'TooManyAtOnce', 'all 2 environments that there were would go.'),
    ]
    await preview('shop', {}, { conditions, counts: counts({ waiting: 1 }) })
    await preview('young')
    is(
      (await run('list')).stderr,
      `Preview ${namespace}/shop has no environments: ProjectNotFound: there is no GitProject web.
Preview ${namespace}/shop: RemovalHeld: all 2 environments that there were would go.
Preview ${namespace}/shop: a branch waits for room; spec.maxEnvironments is 20.
Preview ${namespace}/young has no environments.
`,
    )
  })

  it('names the Previews that there are', async () => {
    await preview('shop')
    const { code, stderr } = await run('list', ['shopp'])
    is(code, 3)
    is(stderr, `berth: there is no Preview shopp in namespace ${namespace}. In that namespace there is shop.\n`)
  })

  it('goes by the Preview alone where somebody may not list Environments', async () => {
    await shop()
    const visitor = `system:serviceaccount:${namespace}:visitor`
    const folder = await mkdtemp(join(tmpdir(), 'berth-preview-'))
    const file = join(folder, 'kubeconfig')
    await writeFile(file, (await deployer(cluster.kube, namespace, { name: 'visitor' })).kubeconfig)
    await allow(cluster.kube, namespace, visitor, { group: 'berth.dev', resource: 'previews', verbs: ['get', 'list'] })
    const { code, stdout } = await berth(['preview', 'list', '-n', namespace, '--kubeconfig', file])
    is(code, 0)
    match(stdout, /^shop +feature\/cart .* in 30 h$/m)
    await rm(folder, { recursive: true })
  })
})
