import { is, match, not } from 'uvu/assert'
import { annotations, DeploymentTargetClaims, Environments, GitOpsDeployments } from '../../src/api/index.ts'
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
})
