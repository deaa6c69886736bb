import { equal, is, match, not } from 'uvu/assert'
import { DeploymentTargets, GitProjects, WorkspaceClasses, Workspaces } from '../../src/api/index.ts'
import { giveTarget } from '../operator/workspace/fixture.ts'
import { SIGN_IN } from '../proxy/running-proxy.ts'
import { type Stage, setStage } from '../proxy/stage.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { workspaceClass } from '../support/workspaces.ts'
import { letWork, type Visitor, visitor } from './visitor.ts'

const ADA = 'ada@example.com'

describe('the page about a workspace', (it) => {
  let stage: Stage
  let ada: Visitor
  const at = (name: string) => ({ name, namespace: stage.namespace })
  const path = (name: string) => `/workspaces/${stage.namespace}/${name}`
  const read = (name: string) => stage.cluster.kube.get(Workspaces, at(name))
  const say = (name: string, status: object) =>
    stage.cluster.kube.patch(Workspaces, at(name), { status }, { subresource: 'status' })
  it.before(async () => {
    stage = await setStage((_request, response) => response.end('the app'))
    await letWork(stage.cluster.kube, stage.namespace, ADA)
    ada = await visitor(stage, ADA)
  })
  it.after(() => stage.close())

  const shows = (where: string, words: RegExp) =>
    eventually(async () => {
      const page = await ada.page(where)
      return words.test(page.body) && page
    })

  it('says which step runs, what failed and what helps, and brings itself up to date', async () => {
    const time = '2030-01-01T00:00:00Z'
    const link = { name: 'link', linkDigest: 'a'.repeat(64), ports: ['app'], expiresAt: time }
    await stage.workspace('web', {
      state: 'Starting',
      spec: { ports: [{ name: 'app', port: 3000, visibility: 'members' }], shares: [link] },
    })
    const looking = await ada.follow(path('web'))
    const condition = { type: 'PodScheduled', status: 'True', reason: 'Done', message: 'on node one', lastTransitionTime: time }
    await say('web', { step: { name: 'Image', container: 'tools', since: time }, conditions: [condition] })
    const page = await shows(path('web'), /Image of tools/)
    match(page.body, /Pod scheduled<\/strong>: done/)
    match(page.body, /members\.\s*<a href="https:\/\/3000-web\.ws\.example\.com\/"/)
    match(page.body, /Shared with whoever has a link: app, which ends <time datetime="2030-01-01T00:00:00Z"/)
    match(page.body, /data-copy="https:\/\/3000-web\.ws\.example\.com\/"/)
    const failure = {
      reason: 'ImagePullBackOff',
      message: 'the image is not there',
      remedy: 'Correct the image',
      cause: 'Image of tools',
    }
    await say('web', { actualState: 'Failed', step: null, failure })
    const told = await eventually(() => looking.events().find(({ data }) => data.say === 'web is failed'))
    match(`${told.data.html}`, /What helps:<\/strong> Correct the image/)
    looking.close()
  })

  it('gives an hour more, restarts, and deletes after a question', async () => {
    await stage.workspace('kept')
    const stop = '2030-01-01T00:00:00Z'
    await say('kept', { willStopAt: stop, willStopReason: 'Idle', lastActivityAt: '2020-01-01T00:00:00Z', lastActivityBy: 'SSH' })
    await shows(path('kept'), /nobody uses it/)
    match((await ada.page(path('kept'))).body, /last used <time[^>]*>[^<]*<\/time> ago, by SSH\./)
    is((await ada.press(path('kept'), '+1 h kept')).url.pathname, path('kept'))
    // The class allows 36 hours from now, which is before that hour.
    match(`${(await read('kept'))?.spec.keepUntil}`, /^20\d\d-/)
    await ada.press(path('kept'), 'Restart kept')
    is((await read('kept'))?.spec.desiredState, 'RestartRequested')
    const question = await ada.page(`${path('kept')}/delete`)
    match(question.body, /What was not pushed is lost/)
    is((await ada.press(`${path('kept')}/delete`, 'Delete kept and its files')).url.pathname, '/')
    await eventually(async () => (await read('kept')) === undefined)
    await eventually(async () => (await ada.browser.ask(`${question.url.origin}${path('kept')}`)).status === 404)
  })

  it('takes no form of another host, whatever the target begins with', async () => {
    await stage.workspace('safe')
    const headers = { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' }
    for (const before of ['', '//evil.example']) {
      const target = `https://${SIGN_IN}${before}${path('safe')}/stop`
      const { status } = await ada.browser.ask(target, { method: 'POST', headers })
      is([403, 404].includes(status), true, `${target}: ${status}`)
    }
    is((await ada.browser.ask(`https://${SIGN_IN}//`)).status, 404)
    is((await read('safe'))?.spec.desiredState, 'Running')
  })

  it('shows logs and events as far as somebody may read them', async () => {
    const { cluster, namespace } = stage
    await stage.workspace('told')
    match((await ada.page(`${path('told')}/logs`)).body, /has no target yet/)
    await giveTarget(cluster, namespace)
    await say('told', { target: { name: 'here', namespace, apiURL: 'https://elsewhere.example.com' } })
    await shows(`${path('told')}/logs`, /does not lead to the cluster/)
    const apiURL = (await cluster.kube.get(DeploymentTargets, { name: 'here', namespace }))?.spec.kubernetesCredentials.apiURL
    await say('told', { target: { name: 'here', namespace, apiURL } })
    await shows(`${path('told')}/logs`, /has no pod just now/)
    const uid = (await read('told'))?.metadata.uid
    const involvedObject = { apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace', name: 'told', namespace, uid }
    await cluster.kube.post(`/api/v1/namespaces/${namespace}/events`, {
      ...{
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'told.1', namespace },
        type: 'Warning',
        reason: 'Odd',
        involvedObject,
      },
      message: '<img src=x onerror=alert(1)>',
      lastTimestamp: '2030-01-01T00:00:00Z',
    })
    // In its target: what is its own, and what a neighbour has whose name begins alike.
    const there = [
      ['Deployment', 'workspace-told-2', 'neighbour'],
      ['Pod', 'workspace-told-2-7c9d8f6bcd-x2v4z', 'neighbour'],
      ['Pod', 'workspace-told-7c9d8f6bcd-x2v4z', 'its former pod'],
    ]
    for (const [kind, name, message] of there)
      await cluster.kube.post(`/api/v1/namespaces/${namespace}/events`, {
        ...{ apiVersion: 'v1', kind: 'Event', metadata: { name: `${name}.${kind?.toLowerCase()}`, namespace } },
        ...{ type: 'Normal', reason: 'Odd', message, involvedObject: { kind, name, namespace } },
      })
    not.match((await shows(`${path('told')}/events`, /its former pod/)).body, /neighbour/)
    const page = await shows(`${path('told')}/events`, /onerror/)
    not.match(page.body, /<img/)
    const eve = await visitor(stage, 'eve@example.com')
    for (const word of ['', '/logs', '/events', '/delete'])
      match((await eve.page(`${path('told')}${word}`)).body, /There is nothing here|You may not do that/)
  })

  it('makes a workspace of a repository in two steps, as whoever asks', async () => {
    const { cluster, namespace } = stage
    const url = 'https://git.example.com/team/shop.git'
    await cluster.kube.create(GitProjects, {
      ...{ apiVersion: 'berth.dev/v1alpha1', kind: 'GitProject', metadata: { name: 'shop', namespace } },
      spec: { url, path: `${namespace}/shop` },
    })
    await cluster.kube.create(WorkspaceClasses, workspaceClass(namespace))
    await shows('/new?repo=git@git.example.com:team/shop', /Take it/)
    match((await ada.page('/new?repo=https://git.example.com/team/other')).body, /No project with/)
    const form = `/new?project=${namespace}%2Fshop`
    const refused = await ada.press(form, 'Make it and start it', {
      class: namespace,
      devfile: 'components: 3',
      variables: 'NOTHING',
    })
    is(refused.status, 422)
    match(refused.body, /“NOTHING” is no variable/)
    match(refused.body, /components: 3<\/textarea>/)
    const notMade = await ada.press(form, 'Make it and start it', {
      class: namespace,
      devfile: 'schemaVersion: 2.2.0\ncomponents: [{ name: berth-tools, container: { image: tools } }]',
    })
    is(notMade.status, 422)
    match(notMade.body, /the name of component .*berth-tools.* is reserved/)
    const made = await ada.press(form, 'Make it and start it', { class: namespace, ref: 'main', variables: 'GREETING=a=b\r\n' })
    is(made.url.pathname, path('shop'))
    const { spec } = (await read('shop')) ?? {}
    equal(
      [spec?.owner, spec?.project, spec?.variables],
      [ADA, { gitProject: 'shop', ref: 'main' }, [{ name: 'GREETING', value: 'a=b', type: 'environment' }]],
    )
    match((await ada.press(form, 'Make it and start it', { class: namespace })).body, /already exists/)
    await cluster.kube.delete(WorkspaceClasses, { name: namespace })
  })
})
