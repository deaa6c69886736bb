import { equal, is, match } from 'uvu/assert'
import { DeploymentTargetClasses, labels, WorkspaceClasses } from '../../src/api/index.ts'
import { createProject } from '../kas/running-kas.ts'
import { hostOf, ZONE } from '../proxy/running-proxy.ts'
import { type Stage, setStage } from '../proxy/stage.ts'
import { describe } from '../support/suite.ts'
import { targetClass } from '../support/targets.ts'
import { workspaceClass } from '../support/workspaces.ts'
import { elementsIn, parseHtml, wordsIn } from './markup.ts'
import { letWork, visitor } from './visitor.ts'

const ADA = 'ada@example.com'

describe('the class of a new workspace', (it) => {
  let stage: Stage
  it.before(async () => {
    stage = await setStage((_request, response) => response.end('the app'))
    await letWork(stage.cluster.kube, stage.namespace, ADA)
    await createProject(stage.cluster.kube, stage.namespace, 'shop', { url: 'https://git.example.com/shop.git' })
  })
  it.after(async () => {
    const { kube } = stage.cluster
    for (const name of names()) await kube.delete(WorkspaceClasses, { name })
    await kube.delete(DeploymentTargetClasses, { name: targets() })
    await stage.close()
  })
  const own = (name: string) => `${name}-${stage.namespace}`
  const names = () => ['anywhere', 'far', 'near', 'also-near', 'off'].map(own)
  const targets = () => own('there')

  it('stands under its region, by its own label or by that of its targets, with where the way there is measured', async () => {
    const { kube } = stage.cluster
    const inRegion = (region: string) => ({ labels: { [labels.region]: region } })
    const byHand = { provisioner: 'nobody' }
    const ofTargetsThere = targetClass(targets(), byHand)
    await kube.create(DeploymentTargetClasses, { ...ofTargetsThere, metadata: { name: targets(), ...inRegion(own('b-near')) } })
    const [anywhere = '', far = '', near = '', alsoNear = '', off = ''] = names()
    await kube.create(WorkspaceClasses, workspaceClass(anywhere, { dnsZone: ZONE }))
    await kube.create(WorkspaceClasses, workspaceClass(far, { dnsZone: 'far.example.com' }, inRegion(own('a-far'))))
    const ofTargets = { deploymentTargetClassName: targets() }
    await kube.create(WorkspaceClasses, workspaceClass(near, { ...ofTargets, dnsZone: ZONE }))
    await kube.create(WorkspaceClasses, workspaceClass(alsoNear, {}, inRegion(own('b-near'))))
    await kube.create(WorkspaceClasses, workspaceClass(off, { enabled: false }, inRegion(own('c-off'))))
    const ada = await visitor(stage, ADA)
    const page = await ada.page(`/new?project=${stage.namespace}/shop&class=${near}`)
    const groups = elementsIn(parseHtml(page.body)).filter(
      ({ name, attributes }) => name === 'optgroup' && attributes.get('label')?.endsWith(stage.namespace),
    )
    const seen = groups.map((group) => [
      ...['label', 'data-ping'].map((attribute) => group.attributes.get(attribute)),
      ...elementsIn(group)
        .filter(({ name }) => name === 'option')
        .map(({ attributes }) => attributes.get('value') ?? '')
        .toSorted(),
    ])
    equal(seen, [
      [own('a-far'), 'https://ping.far.example.com/.berth/ping', far],
      [own('b-near'), `https://ping.${ZONE}/.berth/ping`, alsoNear, near],
    ])
    const options = elementsIn(parseHtml(page.body)).filter(({ name }) => name === 'option')
    is(
      options.some((option) => wordsIn(option).startsWith(anywhere)),
      true,
    )
    equal(
      options.filter(({ attributes }) => attributes.has('selected')).map(({ attributes }) => attributes.get('value')),
      [near],
    )
    const policy = String(page.headers['content-security-policy'])
    for (const zone of ['far.example.com', ZONE])
      match(policy, new RegExp(`connect-src 'self' [^;]*https://ping.${zone}/.berth/ping`))
    match(String((await ada.page('/')).headers['content-security-policy']), "connect-src 'self';")
  })

  it('is as far away as any host of its zone, which answers whoever asks and says nothing', async () => {
    await stage.workspace('web', { spec: { owner: ADA } })
    const stranger = stage.browser()
    for (const host of [`ping.${ZONE}`, hostOf('web')]) {
      const { status, body, headers } = await stranger.ask(`https://${host}/.berth/ping`, {
        headers: { origin: 'https://evil.example', 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'cross-site' },
      })
      equal([status, body, headers['access-control-allow-origin'], headers['set-cookie']], [200, '', '*', undefined])
    }
    is((await stranger.ask(`https://ping.${ZONE}/`)).status, 404)
  })
})
