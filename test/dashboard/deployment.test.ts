import { equal, is, match, not, ok } from 'uvu/assert'
import {
  type GitOpsDeployment,
  type GitOpsDeploymentSyncRun,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  RoleBindings,
  Roles,
  Secrets,
} from '../../src/api/index.ts'
import { partedRuns } from '../../src/dashboard/deployment.ts'
import { objectRows } from '../../src/dashboard/deployment-objects.ts'
import { dryRunPart } from '../../src/dashboard/dry-run.ts'
import { markupOf } from '../../src/dashboard/html.ts'
import { type Stage, setStage } from '../proxy/stage.ts'
import { untilMay } from '../support/builders/credentials.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { type Stage as GitOpsStage, openStage } from '../support/deployments.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { elementsIn, parseHtml, wordsIn } from './markup.ts'
import { HOME, letWork, visitor } from './visitor.ts'

const [ADA, EVE, VIC] = ['ada@example.com', 'eve@example.com', 'vic@example.com']
const LOOK = 'What would a sync change?'
const RBAC = 'rbac.authorization.k8s.io'

describe('the page about a deployment', (it) => {
  let stage: Stage
  /** With the real operator, which answers what the page asks. */
  let gitops: GitOpsStage
  const path = (name = 'shop') => `/deployments/${gitops.namespace}/${name}`
  const runsOf = async (name = 'shop') =>
    (await stage.cluster.kube.list(GitOpsDeploymentSyncRuns, { namespace: gitops.namespace })).filter(
      ({ spec }) => spec.gitopsDeploymentName === name,
    )
  /** The operator has to know before the next push. */
  const becomeManual = async (name: string) => {
    const ref = { name, namespace: gitops.namespace }
    const { metadata } = await stage.cluster.kube.patch(GitOpsDeployments, ref, { spec: { type: 'manual' } })
    await eventually(async () => ((await gitops.status(name)).observedGeneration ?? 0) >= (metadata.generation ?? 1))
  }
  const oneRun = (name?: string) => eventually(async () => (await runsOf(name))[0])
  it.before(async () => {
    stage = await setStage(
      (_request, response) => response.end('the app'),
      async (cluster) => {
        gitops = await openStage(cluster)
        return { namespace: gitops.namespace }
      },
    )
    await letWork(stage.cluster.kube, gitops.namespace, ADA)
    await letWork(stage.cluster.kube, gitops.namespace, VIC, 'view')
  })
  it.after(async () => {
    await gitops.stop()
    await stage.close()
  })

  it('asks what a sync would change, as whoever presses the button, and shows the answer when it comes', async () => {
    const { git, namespace } = gitops
    const secret = (value: string) => ({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' } },
      stringData: { password: value },
    })
    await gitops.deploy()
    const first = await git.push({ 'deploy/a.yaml': configMap('a', { words: 'old' }), 'deploy/key.yaml': secret('hunter-1') })
    await gitops.synced(first)
    await becomeManual('shop')
    const next = {
      'deploy/a.yaml': configMap('a', { words: '</dd><script>alert(1)</script>' }),
      'deploy/b.yaml': configMap('b', { more: 'yes' }),
      'deploy/key.yaml': secret('hunter-2'),
    }
    const second = await git.push(next)
    const ada = await visitor(stage, ADA)
    match((await ada.page(path())).body, /Nothing is applied/)
    const looking = await ada.follow(path())
    await eventually(() => looking.events().some(({ name }) => name === 'all'))
    is((await ada.press(path(), LOOK)).url.pathname, path())
    const run = await oneRun()
    equal(run.spec, { gitopsDeploymentName: 'shop', dryRun: true })
    is(run.metadata.ownerReferences?.[0]?.name, 'shop')
    const sum = '1 to create, 2 to change'
    const told = await eventually(() => looking.events().find(({ data }) => `${data.say}`.includes(sum)))
    looking.close()
    const html = `${told.data.html}`
    match(html, `With commit <code>${second.slice(0, 12)}`)
    match(html, /\/data\/words<\/dt>.*Before: <\/span>&quot;old&quot;.*Then: <\/span>&quot;&lt;\/dd&gt;&lt;script&gt;/s)
    match(html, /<strong>Secret<\/strong> .*key/)
    not.match(html, /<script|hunter|aHVudGVy/)
    // Nothing was applied, and whoever may only look sees the answer and has no button.
    is((await stage.cluster.kube.get(Secrets, { name: 'key', namespace }))?.metadata.name, 'key')
    is(await gitops.configMap('b'), undefined)
    const vic = await visitor(stage, VIC)
    const seen = await vic.page(path())
    match(seen.body, sum)
    not.match(seen.body, /<form/)
  })

  it('shows the chain that commits go through, on the page of each', async () => {
    const { git } = gitops
    const repoURL = 'https://git.example.com/team-a/shop'
    await gitops.deploy({ source: { repoURL, path: 'first' }, type: 'automated' }, 'first')
    const source = { repoURL, path: 'second', follow: { deployment: 'first' } }
    await gitops.deploy({ source, type: 'manual' }, 'second')
    const commit = await git.push({ 'first/a.yaml': configMap('first'), 'second/a.yaml': configMap('second') })
    const short = commit.slice(0, 12)
    const ada = await visitor(stage, ADA)
    const shows = (name: string, words: RegExp) =>
      eventually(async () => {
        match(wordsIn(parseHtml((await ada.page(path(name))).body)).replace(/\s+/g, ' '), words)
        return true
      })
    const waits = `second WaitingForPromotionWaitingForApproval: commit ${short} has been in good health at first`
    await shows('first', new RegExp(`The chain that commits go through first commit ${short} · Ready${waits}`))
    await shows('second', new RegExp(waits))
    match((await ada.page(path('first'))).body, new RegExp(`<a href="${path('second')}">second</a>`))
    not.match((await ada.page(path())).body, /The chain that commits go through/)
  })

  it('synchronises one that is manual by a run, and goes back to a commit that it had', async () => {
    const { git, namespace } = gitops
    await gitops.deploy({ source: { repoURL: 'https://git.example.com/team-a/shop', path: 'back' }, type: 'automated' }, 'back')
    const first = await git.push({ 'back/a.yaml': configMap('back', { words: 'first' }) })
    await gitops.synced(first, 'back')
    const ada = await visitor(stage, ADA)
    // The next push would undo it at once.
    match((await ada.page(path('back'))).body, /in effect now/)
    const second = await git.push({ 'back/a.yaml': configMap('back', { words: 'second' }) })
    await gitops.synced(second, 'back')
    const has = (words: RegExp) =>
      eventually(async () => {
        const page = await ada.page(path('back'))
        return words.test(page.body) && page
      })
    await has(new RegExp(`berth rollback back -n ${namespace} --to ${first.slice(0, 12)}`))
    await becomeManual('back')
    await has(/A GitOpsDeploymentSyncRun applies this commit/)
    await ada.press(path('back'), `Go back to ${first.slice(0, 12)}`)
    const run = await oneRun('back')
    equal(run.spec, { gitopsDeploymentName: 'back', revisionID: first, dryRun: false })
    await eventually(async () => (await gitops.configMap('back'))?.data?.words === 'first')
    await has(/Succeeded.*commit <code>[0-9a-f]{12}<\/code>.*took/s)
    await ada.press(path('back'), 'Synchronise now')
    await eventually(async () => (await gitops.configMap('back'))?.data?.words === 'second')
    const body = (await has(/back-sync-/)).body
    match(body, 'back-rollback-')
    not.match(body, 'back-diff-')
    const uid = (await stage.cluster.kube.get(GitOpsDeployments, { name: 'back', namespace }))?.metadata.uid ?? ''
    const send = (word: string, fields: Record<string, string>, origin = HOME) =>
      ada.browser.ask(`${HOME}${path('back')}/${word}`, {
        method: 'POST',
        headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
        body: `${new URLSearchParams(fields)}`,
      })
    is((await send('rollback', { uid, revision: 'refs/merge-requests/7/head' })).status, 409)
    is((await send('diff', { uid: 'another', revision: '' })).status, 404)
    is((await send('diff', { uid }, 'https://evil.example')).status, 403)
    await stage.cluster.kube.patch(GitOpsDeployments, { name: 'back', namespace }, { spec: { suspend: true } })
    await has(/It is suspended: nothing is applied/)
    is((await send('sync', { uid })).status, 409)
    is((await runsOf('back')).length, 2)
  })

  it('tells nothing of runs to whoever may not list them, and lets nobody ask who may not create them', async () => {
    const { cluster } = stage
    const { namespace } = gitops
    const metadata = { name: 'looks', namespace }
    await cluster.kube.create(Roles, {
      ...{ apiVersion: `${RBAC}/v1`, kind: 'Role', metadata },
      rules: [{ apiGroups: ['managed-gitops.redhat.com'], resources: ['gitopsdeployments'], verbs: ['get', 'list'] }],
    })
    await cluster.kube.create(RoleBindings, {
      ...{ apiVersion: `${RBAC}/v1`, kind: 'RoleBinding', metadata },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'looks' },
      subjects: [{ kind: 'User', apiGroup: RBAC, name: EVE }],
    })
    const right = { verb: 'get', group: 'managed-gitops.redhat.com', resource: 'gitopsdeployments' }
    await untilMay(cluster.kube, namespace, EVE, right)
    await gitops.deploy({}, 'quiet')
    const run = { ...{ apiVersion: 'managed-gitops.redhat.com/v1alpha1', kind: 'GitOpsDeploymentSyncRun' } }
    const spec = { gitopsDeploymentName: 'quiet', dryRun: true }
    const made = await cluster.kube.create(GitOpsDeploymentSyncRuns, { ...run, metadata: { name: 'asked', namespace }, spec })
    await cluster.kube.create(GitOpsDeploymentSyncRuns, {
      ...{ ...run, metadata: { name: 'done-before', namespace } },
      spec: { gitopsDeploymentName: 'quiet' },
    })
    const vic = await visitor(stage, VIC)
    await eventually(async () => /done-before/.test((await vic.page(path('quiet'))).body))
    const eve = await visitor(stage, EVE)
    const { body } = await eve.page(path('quiet'))
    match(body, /Commits that were in effect/)
    not.match(body, /done-before|What a sync would change|<form/)
    const { uid = '' } = (await cluster.kube.get(GitOpsDeployments, { name: 'quiet', namespace }))?.metadata ?? {}
    const tried = await eve.browser.ask(`${HOME}${path('quiet')}/diff`, {
      method: 'POST',
      headers: { origin: HOME, 'content-type': 'application/x-www-form-urlencoded' },
      body: `uid=${uid}`,
    })
    is(tried.status, 403)
    ok(made.metadata.uid)
  })
})

const deployment = (status: GitOpsDeployment['status']): GitOpsDeployment => ({
  ...{ apiVersion: 'managed-gitops.redhat.com/v1alpha1', kind: 'GitOpsDeployment' },
  metadata: { name: 'shop', namespace: 'team-a', uid: 'u-1' },
  spec: { source: { repoURL: 'https://git.example.com/shop', path: 'deploy' }, type: 'automated' },
  status: status ?? {},
})

describe('of very many objects the page about a deployment', (it) => {
  it('shows what is not well, and counts the others', () => {
    const resources = Array.from({ length: 5000 }, (_, at) => ({
      ...{ version: 'v1', kind: 'ConfigMap', namespace: 'team-a', name: `c-${String(at).padStart(4, '0')}` },
      ...{ status: at === 4321 ? ('OutOfSync' as const) : ('Synced' as const), health: { status: 'Healthy' as const } },
      ...(at === 4999 && { message: '<b>'.repeat(100) }),
    }))
    const rows = objectRows(deployment({ resources, inventory: { name: 'x', count: 6000 } }))
    is(rows.length, 501)
    const text = rows.map(({ html }) => markupOf(html)).join('')
    match(text, /c-4321<\/p>.*OutOfSync/s)
    match(text, /c-4999<\/p>.*&lt;b&gt;/s)
    match(text, 'And 5500 more.')
    is(new Set(rows.map(({ id }) => id)).size, rows.length)
    equal(
      objectRows(deployment({})).map(({ html }) => markupOf(html)),
      ['<li id="nothing" class="nothing">It has no objects.</li>'],
    )
  })

  it('sends a browser no more of a dry run than it can take', () => {
    const field = { path: '"'.repeat(1024), from: '"'.repeat(1024), to: '"'.repeat(1024) }
    const objects = Array.from({ length: 500 }, (_, at) => ({
      ...{ kind: 'ConfigMap', name: `c-${at}`, would: 'Change' as const },
      // One of them alone would be more than all may have.
      fields: Array.from({ length: at === 0 ? 100 : 5 }, () => field),
    }))
    const run: GitOpsDeploymentSyncRun = {
      ...{ apiVersion: 'managed-gitops.redhat.com/v1alpha1', kind: 'GitOpsDeploymentSyncRun' },
      metadata: { name: 'run', namespace: 'team-a' },
      spec: { gitopsDeploymentName: 'shop', dryRun: true },
      status: {
        phase: 'Succeeded',
        dryRun: { create: 0, change: 500, delete: 0, hold: 0, refuse: 0, unchanged: 0, omitted: 7, objects },
      },
    }
    const part = dryRunPart(deployment({}), run, { mayChange: true, maySeeRuns: true, mayRun: true, now: undefined })
    const text = part ? markupOf(part.html) : ''
    ok(text.length > 100_000 && text.length < 310_000, `${text.length} characters`)
    const shown = elementsIn(parseHtml(text)).filter(({ name }) => name === 'details')
    ok(shown.length > 1)
    match(wordsIn(parseHtml(text)), `And ${507 - shown.length} more`)
    match(wordsIn(parseHtml(text)), /And \d+ more fields/)
    ok(shown.every(({ attributes }) => !attributes.has('open')))
  })

  it('has the newest runs first, and none of a former deployment of that name', () => {
    const runOf = (name: string, creationTimestamp: string, completedAt?: string, dryRun = false): GitOpsDeploymentSyncRun => ({
      ...{ apiVersion: 'managed-gitops.redhat.com/v1alpha1', kind: 'GitOpsDeploymentSyncRun' },
      metadata: { name, namespace: 'team-a', creationTimestamp },
      spec: { gitopsDeploymentName: 'shop', dryRun },
      status: completedAt === undefined ? {} : { completedAt },
    })
    const [first, second] = ['2030-01-01T00:00:01Z', '2030-01-01T00:00:02Z']
    const former = runOf('former', '2029-01-01T00:00:00Z')
    const all = [
      runOf('a', first, second),
      former,
      runOf('b', second, second),
      runOf('c', second),
      runOf('d', first, second, true),
    ]
    const { metadata, ...rest } = deployment({})
    const shop = { ...rest, metadata: { ...metadata, creationTimestamp: first } }
    const names = (runs: GitOpsDeploymentSyncRun[]) => runs.map((run) => run.metadata.name)
    equal(partedRuns(all, shop).map(names), [['d'], ['c', 'b', 'a']])
  })
})
