import { is, match, not } from 'uvu/assert'
import { Agents, annotations, DeploymentTargetClaims, Environments, GitOpsDeployments } from '../../src/api/index.ts'
import { type Stage, setStage } from '../proxy/stage.ts'
import { describe } from '../support/suite.ts'
import { claim } from '../support/targets.ts'
import { eventually } from '../support/verbs.ts'
import { HOME, letWork, visitor } from './visitor.ts'

const ADA = 'ada@example.com'

describe('what else the dashboard shows', (it) => {
  let stage: Stage
  it.before(async () => {
    stage = await setStage((_request, response) => response.end('the app'))
    await letWork(stage.cluster.kube, stage.namespace, ADA)
  })
  it.after(() => stage.close())

  it('is deployments with their trees, and a button to synchronise', async () => {
    const { cluster, namespace } = stage
    const at = { name: 'shop', namespace }
    await cluster.kube.create(GitOpsDeployments, {
      ...{ apiVersion: 'managed-gitops.redhat.com/v1alpha1', kind: 'GitOpsDeployment', metadata: at },
      spec: { type: 'automated', source: { repoURL: 'https://git.example.com/team/shop.git', path: 'deploy' } },
    })
    const ada = await visitor(stage, ADA)
    const looking = await ada.follow(`/deployments/${namespace}/shop`)
    const resources = [
      {
        version: 'v1',
        kind: 'ConfigMap',
        namespace,
        name: 'words',
        status: 'OutOfSync',
        drift: ['/data/<b>'],
        health: { status: 'Healthy' },
      },
    ]
    const status = { sync: { status: 'OutOfSync', revision: 'abcdef0123456789' }, health: { status: 'Degraded' }, resources }
    await cluster.kube.patch(GitOpsDeployments, at, { status }, { subresource: 'status' })
    await eventually(() => looking.events().some(({ data }) => data.say === 'shop is degraded'))
    looking.close()
    match((await ada.page('/deployments')).body, /Degraded.*commit abcdef012345/s)
    const page = await ada.page(`/deployments/${namespace}/shop`)
    match(page.body, /words<\/p>.*Healthy.*OutOfSync.*differs in \/data\/&lt;b&gt;/s)
    is((await ada.press(`/deployments/${namespace}/shop`, 'Synchronise now')).url.pathname, `/deployments/${namespace}/shop`)
    match(`${(await cluster.kube.get(GitOpsDeployments, at))?.metadata.annotations?.[annotations.sync]}`, /^20\d\d-/)
    const eve = await visitor(stage, 'eve@example.com')
    not.match((await eve.page('/deployments')).body, /shop/)
    is((await eve.browser.ask(`${HOME}/deployments/${namespace}/shop`)).status, 404)
  })

  it('is environments and claims, with what they wait for', async () => {
    const { cluster, namespace } = stage
    await cluster.kube.create(DeploymentTargetClaims, claim(namespace, 'mine'))
    await cluster.kube.create(Environments, {
      ...{ apiVersion: 'appstudio.redhat.com/v1alpha1', kind: 'Environment', metadata: { name: 'dev', namespace } },
      spec: {
        displayName: 'Development & more',
        deploymentStrategy: 'AppStudioAutomated',
        configuration: { target: { deploymentTargetClaim: { claimName: 'mine' } } },
      },
    })
    const ada = await visitor(stage, ADA)
    const has = (path: string, words: RegExp) => eventually(async () => words.test((await ada.page(path)).body))
    await has('/claims', /mine<\/h2>.*Pending.*class/s)
    await has('/environments', /Development &amp; more<\/h2>.*Not ready.*claim mine/s)
  })

  it('is agents, whether they are connected and what is wrong, for those who may list them', async () => {
    const { cluster, namespace } = stage
    const lastTransitionTime = '2030-01-01T00:00:00Z'
    const registered = (name: string) =>
      cluster.kube.create(Agents, {
        ...{ apiVersion: 'berth.dev/v1alpha1', kind: 'Agent', metadata: { name, namespace } },
        spec: { configurationProject: 'team/config', tokens: [{ name: 'first', sha256: TOKEN }] },
      })
    const say = (name: string, status: object) =>
      cluster.kube.patch(Agents, { name, namespace }, { status }, { subresource: 'status' })
    const condition = (type: string, status: string, reason: string, message: string) => ({
      ...{ type, status, reason, message, lastTransitionTime },
    })
    const TOKEN = 'c0ffee'.padEnd(64, '0')
    for (const name of ['well', 'ill', 'gone', 'fresh']) await registered(name)
    const pod = { version: '0.1.0', kubernetesVersion: 'v1.34.1', connectedAt: lastTransitionTime }
    const pods = (...names: string[]) => names.map((name, at) => ({ ...pod, podId: `${at + 1}`, name }))
    const ready = condition('Ready', 'True', 'Connected', '2 pods are connected.')
    await say('well', { connectedPods: pods('a', 'b'), conditions: [ready], configuration: { commit: 'abcdef0123456789' } })
    const projects = Array.from({ length: 6 }, (_, at) => ({ id: `team/p-${at}`, reason: 'Forbidden', message: '<b>no</b>' }))
    const errors = [{ line: 3, message: 'gitops: no such field' }]
    await say('ill', { connectedPods: pods('c'), conditions: [ready], configuration: { errors }, projects })
    const away = condition('Connected', 'False', 'NotConnected', 'No pod is connected.')
    await say('gone', { conditions: [away, { ...away, type: 'Ready' }] })
    const ada = await visitor(stage, ADA)
    const looking = await ada.follow('/agents')
    const page = await eventually(async () => {
      const found = await ada.page('/agents')
      return /gone<\/h2>.*Not connected.*NotConnected: No pod is connected\./s.test(found.body) && found
    })
    match(
      page.body,
      /well<\/h2>.*Connected<.*2 pods · version 0\.1\.0 · Kubernetes v1\.34\.1 · configured in team\/config at abcdef012345/s,
    )
    match(page.body, /ill<\/h2>.*Connected, with trouble.*line 3: gitops.*team\/p-0: Forbidden: &lt;b&gt;no.*And 3 more\./s)
    match(page.body, /fresh<\/h2>.*Not seen/s)
    not.match(page.body, TOKEN)
    looking.events()
    await say('gone', { connectedPods: pods('d'), conditions: [ready, { ...away, status: 'True', reason: 'Connected' }] })
    await eventually(() => looking.events().some(({ data }) => data.say === 'gone is connected'))
    looking.close()
    // With which tokens an agent connects is for those who work with it.
    await letWork(cluster.kube, namespace, 'vic@example.com', 'view')
    const vic = await visitor(stage, 'vic@example.com')
    match((await vic.page('/agents')).body, /There is no Agent in a namespace in which you may list them/)
  })
})
