import type { BrowserContextOptions } from 'playwright-core'
import { equal, is, match } from 'uvu/assert'
import { Agents, GitOpsDeploymentSyncRuns, GitOpsDeployments, refOf, Workspaces } from '../../../src/api/index.ts'
import { letWork } from '../../dashboard/visitor.ts'
import { lacksChromium } from '../../support/chromium.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { focused, hindrancesOf, keepPicture, until, VIEWS } from './looks.ts'
import { type BrowserStage, DASHBOARD, setBrowserStage, visitDashboard } from './stage.ts'

const ADA = 'ada@example.com'
const LONG = 'a-name-that-is-as-long-as-names-may-be-and-has-hardly-a-place-to-break'
const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
const GITOPS = 'managed-gitops.redhat.com/v1alpha1'
const COMMITS = ['3f2a91c0d4e5b6a7', 'aa00bb11cc22dd33', '0123456789abcdef'] as const

describe(
  'pages about deployments, agents and sizes in a real browser',
  (it) => {
    let stage: BrowserStage
    it.before(async () => {
      stage = await setBrowserStage((_request, response) => response.end('the app'))
      await letWork(stage.cluster.kube, stage.namespace, ADA)
    })
    it.after(() => stage.close())

    const visit = (email: string, view?: BrowserContextOptions) => visitDashboard(stage, email, view)
    const pathOf = (name: string) => `/deployments/${stage.namespace}/${name}`
    const made = async (name: string, status: object, spec: object = {}) => {
      const { kube } = stage.cluster
      await kube.create(GitOpsDeployments, {
        ...{ apiVersion: GITOPS, kind: 'GitOpsDeployment', metadata: { name, namespace: stage.namespace } },
        spec: { source: { repoURL: 'https://git.example.com/team/shop.git', path: 'deploy' }, type: 'manual', ...spec },
      })
      await kube.patch(GitOpsDeployments, { name, namespace: stage.namespace }, { status }, { subresource: 'status' })
    }
    /** As the operator answers. */
    const answer = (name: string, status: object) =>
      stage.cluster.kube.patch(
        GitOpsDeploymentSyncRuns,
        { name, namespace: stage.namespace },
        { status },
        { subresource: 'status' },
      )
    const ran = async (name: string, deployment: string, status: object, spec: object = {}) => {
      await stage.cluster.kube.create(GitOpsDeploymentSyncRuns, {
        ...{ apiVersion: GITOPS, kind: 'GitOpsDeploymentSyncRun', metadata: { name, namespace: stage.namespace } },
        spec: { gitopsDeploymentName: deployment, ...spec },
      })
      await answer(name, status)
    }
    const looked = (deployment: string) =>
      eventually(async () => {
        const runs = await stage.cluster.kube.list(GitOpsDeploymentSyncRuns, { namespace: stage.namespace })
        return runs.find(({ spec, status }) => spec.dryRun && spec.gitopsDeploymentName === deployment && !status?.phase)
      })

    it('hinder nobody: at a desk, on a phone, in light and in dark, with long names and hostile texts', async () => {
      await made('shop', statusOf(stage.namespace))
      await made(LONG, {}, { suspend: true })
      const times = { startedAt: '2030-01-01T00:00:00Z', completedAt: '2030-01-01T00:00:07Z' }
      await ran('shop-sync-1a2b3c4d', 'shop', { phase: 'Succeeded', revision: COMMITS[0], ...times })
      await ran('shop-sync-5e6f7a8b', 'shop', {
        ...{ phase: 'Failed', revision: COMMITS[1], ...times },
        conditions: [readyOf('False', 'Failed', `Deployment ${LONG}: ${HOSTILE}`)],
      })
      await ran(
        'shop-diff-9c0d1e2f',
        'shop',
        { phase: 'Succeeded', revision: COMMITS[0], ...times, dryRun: DRY_RUN },
        { dryRun: true },
      )
      for (const { name, ...view } of VIEWS) {
        const { page, complaints, context } = await visit(ADA, view)
        for (const path of ['/deployments', pathOf('shop'), pathOf(LONG)]) {
          await page.goto(`${DASHBOARD}${path}`)
          await page.getByRole('heading', { level: 1 }).waitFor()
          await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true')
          await keepPicture(page, `${name} ${path.replace(stage.namespace, 'team')}`)
          equal(await hindrancesOf(page), [], `${name}: ${path}`)
          is(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${name}: ${path} is too wide`)
          is(await page.locator('main img, main script').count(), 0)
        }
        equal(complaints, [], name)
        await context.close()
      }
    })

    it('hinder nobody where they list agents, however many', async () => {
      const { kube } = stage.cluster
      const registered = (name: string) =>
        kube.create(Agents, {
          ...{ apiVersion: 'berth.dev/v1alpha1', kind: 'Agent', metadata: { name, namespace: stage.namespace } },
          spec: { configurationProject: `team/${LONG}` },
        })
      const say = (name: string, status: object) =>
        kube.patch(Agents, { name, namespace: stage.namespace }, { status }, { subresource: 'status' })
      for (const name of ['dev', LONG.slice(0, 63), 'away']) await registered(name)
      const at = '2026-09-01T00:00:00Z'
      const pod = { podId: '1', name: 'agent-0', version: '0.1.0', kubernetesVersion: 'v1.34.1', connectedAt: at }
      const isWell = { connectedPods: [pod], conditions: [readyOf('True', 'Connected', '')] }
      await say('dev', { ...isWell, configuration: { commit: COMMITS[0] } })
      const projects = Array.from({ length: 9 }, (_, n) => ({ id: `team/${LONG}-${n}`, reason: 'Forbidden', message: HOSTILE }))
      await say(LONG.slice(0, 63), { ...isWell, projects })
      const away = readyOf('False', 'NotConnected', 'No pod is connected.')
      await say('away', { conditions: [away, { ...away, type: 'Connected' }] })
      for (const { name, ...view } of VIEWS) {
        const { page, complaints, context } = await visit(ADA, view)
        await page.goto(`${DASHBOARD}/agents`)
        await page.getByText('NotConnected').waitFor()
        await keepPicture(page, `${name} agents`)
        equal(await hindrancesOf(page), [], name)
        is(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${name} is too wide`)
        is(complaints.join('; '), '')
        await context.close()
      }
      for (let from = 0; from < 2000; from += 100)
        await Promise.all(Array.from({ length: 100 }, (_, n) => registered(`many-${String(from + n).padStart(4, '0')}`)))
      const { page } = await visit(ADA)
      await page.goto(`${DASHBOARD}/agents`)
      await page.getByText('And 1703 more.').waitFor()
      // What the page was brought up to date with at first is over then.
      await say('away', isWell)
      await page.getByRole('status').getByText('away is connected').waitFor({ state: 'attached' })
      await page.evaluate(COUNT('#rows'))
      await say('dev', { connectedPods: [], conditions: [away, { ...away, type: 'Connected' }] })
      await page.getByRole('status').getByText('dev is not connected').waitFor({ state: 'attached' })
      is(await page.evaluate('window.touched'), 1)
    })

    it('tell by the keyboard alone what a sync would change, and keep open what somebody has opened', async () => {
      await made('asked', statusOf(stage.namespace))
      const { page, complaints } = await visit(ADA)
      await page.goto(`${DASHBOARD}${pathOf('asked')}`)
      await until(page, 'What would a sync change?')
      await page.keyboard.press('Enter')
      const run = await looked('asked')
      await page.getByText('Being looked at').waitFor()
      await answer(refOf(run).name, { phase: 'Succeeded', revision: COMMITS[0], dryRun: DRY_RUN })
      const said = page.getByRole('status').getByText('A sync would do this: 1 to create, 2 to change')
      await said.waitFor({ state: 'attached' })
      await page.getByText('Before: "v1"').waitFor({ state: 'attached' })
      // Whoever has asked can ask again, though there was no button meanwhile.
      is(await focused(page), 'What would a sync change?')
      await until(page, 'Go back to aa00bb11cc22…')
      await page.keyboard.press('Enter')
      const back = page.getByRole('button', { name: 'Go back to aa00bb11cc22' })
      await back.waitFor()
      const status = { ...statusOf(stage.namespace), history: historyOf('another/path') }
      const ref = { name: 'asked', namespace: stage.namespace }
      await stage.cluster.kube.patch(GitOpsDeployments, ref, { status }, { subresource: 'status' })
      await page.getByText('in another/path').first().waitFor()
      is(await back.isVisible(), true)
      is(complaints.join('; '), '')
    })

    it('hinder nobody who wants another size, and give it by the keyboard alone', async () => {
      const { kube } = stage.cluster
      await stage.workspace('sized', { spec: { owner: ADA } })
      const ref = { name: 'sized', namespace: stage.namespace }
      const limits = { cpu: '1', memory: '2Gi' }
      const running = ['tools', LONG.slice(0, 63), 'db'].map((container) => ({ container, limits }))
      const settings = { maxResourcesPerWorkspace: { limits: { cpu: '8', memory: '16Gi' } } }
      await kube.patch(Workspaces, ref, { status: { class: { settings }, resources: { running } } }, { subresource: 'status' })
      const path = `/workspaces/${stage.namespace}/sized`
      for (const { name, ...view } of VIEWS) {
        const { page, complaints, context } = await visit(ADA, view)
        await page.goto(`${DASHBOARD}${path}`)
        await page.getByText('All its containers together may have at most').waitFor()
        await keepPicture(page, `${name} sized`)
        equal(await hindrancesOf(page), [], name)
        is(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${name} is too wide`)
        is(complaints.join('; '), '')
        await context.close()
      }
      const { page, complaints } = await visit(ADA)
      await page.goto(`${DASHBOARD}${path}`)
      await page.getByLabel('CPU of tools').focus()
      await page.keyboard.type('4')
      await until(page, 'Change the size')
      await page.keyboard.press('Enter')
      await page.getByText('Another size waits for the next start').waitFor()
      is(await page.getByLabel('CPU of tools').inputValue(), '4')
      equal((await kube.get(Workspaces, ref))?.spec.resources, [{ container: 'tools', limits: { cpu: '4' } }])
      await page.getByLabel('CPU of db').selectOption('8')
      await page.getByRole('button', { name: 'Change it and restart now' }).click()
      await page.getByText('its containers would have more CPU together than the 8').first().waitFor()
      await page.getByLabel('CPU of db').selectOption('2')
      await page.getByRole('button', { name: 'Change it and restart now' }).click()
      await eventually(async () => (await kube.get(Workspaces, ref))?.spec.desiredState === 'RestartRequested')
      // What was refused says so by its status.
      equal(
        complaints.filter((text) => !/status of 422/.test(text)),
        [],
      )
    })

    it('ask without scripts, too', async () => {
      await made('plain', statusOf(stage.namespace))
      const { page } = await visit(ADA, { javaScriptEnabled: false })
      await page.goto(`${DASHBOARD}${pathOf('plain')}`)
      await page.getByRole('button', { name: 'What would a sync change?' }).click()
      const run = await looked('plain')
      await answer(refOf(run).name, { phase: 'Failed', conditions: [readyOf('False', 'Failed', 'there is no such branch')] })
      await eventually(async () => {
        await page.reload()
        return page.getByText('That cannot be said: there is no such branch').isVisible()
      })
      match(page.url(), pathOf('plain'))
    })

    it('send of two thousand objects the one that has changed', async () => {
      const resources = Array.from({ length: 2000 }, (_, at) => ({
        ...{ version: 'v1', kind: 'ConfigMap', namespace: stage.namespace, name: `c-${String(at).padStart(4, '0')}` },
        ...{ status: 'Synced', health: { status: 'Healthy' } },
      }))
      await made('many', { ...statusOf(stage.namespace), resources })
      const { page } = await visit(ADA)
      await page.goto(`${DASHBOARD}${pathOf('many')}`)
      await page.getByText('And 1500 more.').waitFor()
      is(await page.locator('.object').count(), 500)
      const drifts = async (at: number) => {
        resources[at] = { ...resources[at], status: 'OutOfSync' } as (typeof resources)[number]
        const ref = { name: 'many', namespace: stage.namespace }
        await stage.cluster.kube.patch(GitOpsDeployments, ref, { status: { resources } }, { subresource: 'status' })
        await page
          .locator('.object')
          .filter({ hasText: `c-000${at}` })
          .getByText('OutOfSync')
          .waitFor()
      }
      // What the page was brought up to date with at first is over then.
      await drifts(3)
      await page.evaluate(COUNT('#objects'))
      await drifts(7)
      is(await page.evaluate('window.touched'), 1)
    })
  },
  await lacksChromium(),
)

/** Counts from then on how often the page changes what is in that list. */
const COUNT = (list: string) =>
  `window.touched = 0; new MutationObserver((all) => { touched += all.length }).observe(document.querySelector('${list}'), { childList: true })`

const readyOf = (status: 'True' | 'False', reason: string, message: string) => ({
  ...{ type: 'Ready', status, reason, message },
  lastTransitionTime: '2030-01-01T00:00:00Z',
})

const historyOf = (path: string) =>
  COMMITS.map((revision, at) => ({ revision, at: `2026-0${9 - at}-01T00:00:00Z`, ...(at > 0 && { path }) }))

const statusOf = (namespace: string) => ({
  sync: { status: 'OutOfSync', revision: COMMITS[0] },
  health: { status: 'Degraded' },
  lastSyncTime: '2026-09-01T00:00:00Z',
  lastOutcome: { revision: COMMITS[0], result: 'Failed', author: 'Grace Hopper', subject: `Sell twice as much ${HOSTILE}` },
  conditions: [readyOf('False', 'Degraded', 'Deployment web: 1 of 3 pods is available')],
  pendingPrune: { revision: COMMITS[0], count: 3, reason: 'PruneTooMany' },
  history: historyOf('deploy'),
  resources: [
    { version: 'v1', kind: 'ConfigMap', namespace, name: 'words', status: 'Synced', health: { status: 'Healthy' } },
    { version: 'v1', kind: 'Service', namespace, name: 'web', status: 'Synced', health: { status: 'Healthy' } },
    {
      ...{ group: 'apps', version: 'v1', kind: 'Deployment', namespace, name: 'web', status: 'OutOfSync' },
      drift: ['/spec/replicas', '/spec/template/spec/containers/0/image'],
      health: { status: 'Degraded', message: '1 of 3 pods is available' },
    },
    { version: 'v1', kind: 'Secret', namespace, name: LONG, status: 'Synced', health: { status: 'Healthy' } },
    {
      group: 'batch',
      version: 'v1',
      kind: 'Job',
      namespace,
      name: 'migrate',
      hook: 'PreSync',
      status: 'Synced',
      health: { status: 'Progressing' },
    },
    { version: 'v1', kind: 'Namespace', name: 'shop', status: 'Synced', message: HOSTILE },
  ],
})

const DRY_RUN = {
  ...{ create: 1, change: 2, delete: 1, hold: 0, refuse: 1, unchanged: 12 },
  objects: [
    {
      ...{
        would: 'Refuse',
        group: 'apps',
        kind: 'Deployment',
        namespace: 'team',
        name: LONG,
        source: 'deploy/app/deployment.yaml',
      },
      message: `spec.replicas: Invalid value: "three": ${HOSTILE}`,
    },
    {
      ...{ would: 'Create', kind: 'ConfigMap', namespace: 'team', name: 'more', source: 'deploy/more.yaml' },
      fields: [
        { path: '/kind', to: '"ConfigMap"' },
        { path: '/data/words', to: '"hello"' },
      ],
    },
    {
      ...{ would: 'Change', group: 'apps', kind: 'Deployment', namespace: 'team', name: 'web', source: 'deploy/web.yaml' },
      fields: [
        { path: '/spec/replicas', from: '2', to: '3' },
        { path: '/spec/template/spec/containers/0/image', from: '"v1"', to: `"registry.example.com/${LONG}/${LONG}:v2"` },
      ],
      omittedFields: 4,
    },
    {
      ...{ would: 'Change', kind: 'Secret', namespace: 'team', name: 'key' },
      fields: [{ path: '/data/password', from: '"***"', to: '"***"' }],
    },
    { would: 'Delete', kind: 'Service', namespace: 'team', name: 'old' },
  ],
}
