import { equal, is, match, ok } from 'uvu/assert'
import { Deployments, type Workspace, WorkspaceClasses, Workspaces } from '../../../../src/api/index.ts'
import { overQuota } from '../../../../src/operator/workspace/place/quota.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../../support/operator.ts'
import { describe } from '../../../support/suite.ts'
import { eventually } from '../../../support/verbs.ts'
import { workspaceClass } from '../../../support/workspaces.ts'
import { everybody, prepareNamespace, words, workspaceNamed } from '../fixture.ts'

const ADA = 'ada@example.com'
const GRACE = 'grace@example.com'

describe('workspace: quotas, decided', (it) => {
  const found = (spec: object) => workspaceClass('standard', spec)
  const one = (name: string, owner: string, second: number, hasPlace = false, namespace = 'team-a'): Workspace => ({
    ...workspaceNamed(namespace, name, { owner }),
    metadata: { name, namespace, uid: `${namespace}-${name}`, creationTimestamp: `2030-01-01T00:00:0${second}Z` },
    ...(hasPlace && { status: { class: { name: 'standard', settings: {} } } }),
  })
  const why = (wanted: Workspace, spec: object, all: Workspace[], reserved?: string) =>
    overQuota(wanted, found(spec), { all: [...all, wanted], reserved })?.message

  it('names the quota and who has it', () => {
    const all = [one('web', ADA, 1, true), one('api', GRACE, 2, true), one('far', GRACE, 1, true, 'team-b')]
    const said =
      'WorkspaceClass standard allows 3 workspaces by its workspacesQuota, held by team-a/web (ada@example.com), team-a/api (grace@example.com), 1 more'
    equal(why(one('next', ADA, 3), { workspacesQuota: 3 }, all), said)
    equal(why(one('next', ADA, 3), { workspacesQuota: 3 }, all.toReversed()), said)
    match(
      why(one('next', ADA, 3), { workspacesPerUserQuota: 1 }, all) ?? '',
      `allows 1 workspace of ${ADA} by its workspacesPerUserQuota`,
    )
    is(why(one('next', ADA, 3), { workspacesQuota: 4 }, all), undefined)
    match(why(one('next', ADA, 3), { workspacesQuota: 0 }, []) ?? '', 'which is none')
  })
  it('names nothing of namespaces that are not its own', () => {
    const all = [one('secret', GRACE, 1, true, 'team-b')]
    match(why(one('next', ADA, 2), { workspacesQuota: 1 }, all) ?? '', /, held by one of another namespace$/)
  })
  it('lets the oldest in first, and whoever its own quota holds back holds nobody back', () => {
    const waiting = one('waiting', ADA, 1)
    ok(why(one('next', ADA, 2), { workspacesQuota: 1 }, [waiting]))
    const all = [one('web', ADA, 0, true), waiting]
    is(why(one('next', GRACE, 2), { workspacesQuota: 2, workspacesPerUserQuota: 1 }, all), undefined)
  })
  it('counts a place that is reserved, and none of what ends', () => {
    const waiting = one('waiting', ADA, 9)
    ok(why(one('next', ADA, 2), { workspacesQuota: 1 }, [waiting], waiting.metadata.uid ?? ''))
    const ending = one('ending', ADA, 1, true)
    is(why(one('next', ADA, 2), { workspacesQuota: 1 }, [{ ...ending, spec: { desiredState: 'Terminated' } }]), undefined)
  })
})

describe('workspace: quotas under races', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const operators: RunningOperator[] = []
  let namespace = ''
  const { set, deleteAll } = words(cluster, () => namespace)
  const open = async () =>
    operators.push(await startOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers: everybody }))

  it.beforeEach(async () => {
    namespace = await cluster.namespace('workspace-quota')
  })
  it.afterEach(async () => {
    await deleteAll()
    await Promise.all(operators.splice(0).map((operator) => operator.stop()))
    await kube.delete(WorkspaceClasses, { name: namespace })
  })
  it.after(() => cluster.close())

  const makeAtOnce = (count: number, as: (n: number) => string) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        kube.as({ user: as(n), groups: ['system:masters'] }).create(Workspaces, workspaceNamed(namespace, `w${n}`)),
      ),
    )
  /** Once each has a place or is told why not. */
  const settled = async () => {
    const all = await kube.list(Workspaces, { namespace })
    const placed = all.filter(({ status }) => status?.class?.settings)
    const refused = all.filter(({ status }) => status?.failure?.reason === 'WorkspaceQuotaExceeded')
    return placed.length + refused.length === all.length ? { placed, refused } : undefined
  }
  it('gives exactly as many places as there are to a hundred at once, by two operators that both act', async () => {
    await prepareNamespace(cluster, namespace, { workspacesQuota: 7 })
    await open()
    await open()
    await makeAtOnce(100, () => ADA)
    // Nobody loses a place that he has: of more than seven, more than seven would stay.
    const { placed, refused } = await eventually(async () => {
      const now = await settled()
      equal([now?.placed.length, now?.refused.length], [7, 93])
      return now
    })
    match(refused[0]?.status?.failure?.message ?? '', `allows 7 workspaces by its workspacesQuota, held by ${namespace}/w`)
    await eventually(async () => (await kube.list(Deployments, { namespace })).length === 7)

    // A place that becomes free goes to one of those that wait, and to no more than one.
    await set(placed[0]?.metadata.name ?? '', { desiredState: 'Terminated' })
    const counted = async () => {
      const now = await settled()
      return now?.placed.filter(({ spec }) => spec.desiredState !== 'Terminated').length === 7
    }
    await eventually(counted)
  })

  it('counts for each owner by himself', async () => {
    await prepareNamespace(cluster, namespace, { workspacesPerUserQuota: 2 })
    await open()
    await makeAtOnce(12, (n) => (n % 3 === 0 ? ADA : GRACE))
    await eventually(async () => {
      const owners = (await settled())?.placed.map(({ spec }) => spec.owner).sort()
      equal(owners, [ADA, ADA, GRACE, GRACE])
      return true
    })
  })
})
