import * as assert from 'uvu/assert'
import { type HttpServer, serveHttp } from '../../../src/adapters/http/index.ts'
import { ConfigMaps, type GitOpsDeployment, GitOpsDeployments, Secrets } from '../../../src/api/index.ts'
import { type Clock, Failure, minutes, silentLog, systemClock } from '../../../src/std/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

type Notifications = NonNullable<GitOpsDeployment['spec']['notifications']>

const ALL: Notifications[number]['outcomes'] = ['Succeeded', 'Failed', 'Degraded', 'Recovered']
const healthRules = [
  {
    group: '',
    kind: 'ConfigMap',
    healthy: "!has(object.data.phase) || object.data.phase == 'ready'",
    failed: "object.data.phase == 'broken'",
  },
]
const ABOUT = { author: 'Ann <ann@example.com>', subject: 'Mend <!channel> @all *it*\u001b[2J' }
const SHOWN = { author: 'Ann <ann@example.com>', subject: 'Mend <!channel> @all *it*\\u001b[2J' }

describe('what became of a commit', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let passed = 0
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + passed }
  let stage: Stage
  let receiver: HttpServer
  let got: { path: string; body: string }[] = []

  it.beforeEach(async () => {
    got = []
    passed = 0
    receiver = await serveHttp({
      address: '127.0.0.1:0',
      clock: systemClock,
      log: silentLog,
      respond({ path, body }) {
        got.push({ path, body: body.toString() })
        return { status: 200 }
      },
    })
    stage = await openStage(cluster, { clock })
  })
  it.afterEach(async () => {
    await stage.stop()
    await receiver.stop(0)
  })
  it.after(() => cluster.close())

  /** Receivers with a Secret each, by the name of which they are asked. */
  const receivers = async (wanted: Record<string, Omit<Notifications[number], 'secretRef'>>): Promise<Notifications> => {
    for (const name of Object.keys(wanted)) {
      const stringData = { url: `http://${receiver.address}/${name}`, secret: 's' }
      const data = Object.fromEntries(Object.entries(stringData).map(([key, value]) => [key, btoa(value)]))
      const metadata = { name, namespace: stage.namespace }
      await kube.apply(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data }, { manager: 'test' })
    }
    return Object.entries(wanted).map(([name, one]) => ({ ...one, secretRef: { name } }))
  }
  const bodies = (name: string) => got.filter(({ path }) => path === `/${name}`).map(({ body }) => body)
  const results = (name: string) => bodies(name).map((body) => JSON.parse(body).result)
  /** As a controller would tell how it does, in a field that no manifest has. */
  const phase = (to: string) =>
    kube.patch(ConfigMaps, { name: 'a', namespace: stage.namespace }, { data: { phase: to } }, { manager: 'somebody' })
  const healthIs = (wanted: string) => eventually(async () => (await stage.status()).health?.status === wanted)

  it('is told when it falls ill and when it is well again, once each, with whose it is; a restart repeats nothing', async () => {
    await stage.deploy({ healthRules, notifications: await receivers({ hook: { kind: 'Webhook', outcomes: ALL } }) })
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) }, undefined, ABOUT)
    await stage.synced(commit)
    await phase('broken')
    await eventually(() => bodies('hook').length === 2)
    await stage.restart()
    await healthIs('Degraded')
    await phase('so so')
    await healthIs('Progressing')
    await phase('broken')
    await healthIs('Degraded')
    await phase('ready')
    await stage.synced(commit)
    await eventually(() => bodies('hook').length === 3)
    await stage.restart()
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }) }))
    await eventually(() => bodies('hook').length === 4)

    assert.equal(results('hook'), ['succeeded', 'degraded', 'recovered', 'succeeded'])
    const [, degraded, recovered, next] = bodies('hook').map((body) => JSON.parse(body))
    assert.equal([degraded.revision, degraded.author, degraded.subject], [commit, SHOWN.author, SHOWN.subject])
    assert.is(degraded.reason, 'Degraded')
    assert.match(degraded.message, /ConfigMap .*\/a/)
    assert.equal([recovered.revision, recovered.author, recovered.reason], [commit, SHOWN.author, 'Synced'])
    assert.not('author' in next)
    const { lastOutcome, lastTrouble } = await stage.status()
    assert.is(lastOutcome?.author, undefined)
    assert.is(lastTrouble?.revision, commit)
    assert.ok(lastTrouble?.until)
  })

  it('is told of what flaps once in ten minutes, and in the end of what lasts', async () => {
    await stage.deploy({ healthRules, notifications: await receivers({ hook: { kind: 'Webhook', outcomes: ALL } }) })
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) }))
    for (let time = 0; time < 5; time++) {
      await phase('broken')
      await healthIs('Degraded')
      await phase('ready')
      await healthIs('Healthy')
    }
    await phase('broken')
    await healthIs('Degraded')
    await eventually(() => bodies('hook').length === 3)
    passed += minutes(11)
    await phase('broken still')
    await phase('broken')
    await eventually(() => bodies('hook').length === 4)
    assert.equal(results('hook'), ['succeeded', 'degraded', 'recovered', 'degraded'])
  })

  it('is told to each receiver as far as it wants that, also of a manual deployment', async () => {
    const notifications = await receivers({
      usual: { kind: 'Webhook' },
      ill: { kind: 'Webhook', outcomes: ['Failed', 'Degraded', 'Recovered'] },
      all: { kind: 'Webhook', outcomes: ALL },
    })
    await stage.deploy({ healthRules, notifications })
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) }))
    await stage.git.push({ 'deploy/a.yaml': 'a: [' }, undefined, ABOUT)
    await stage.complains('RenderFailed')
    await eventually(() => bodies('ill').length === 1)
    assert.is(JSON.parse(bodies('ill')[0] ?? '').subject, SHOWN.subject)
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '3' }) })
    await stage.synced(commit)
    await eventually(() => bodies('ill').length === 2)
    const shop = { name: 'shop', namespace: stage.namespace }
    await kube.patch(GitOpsDeployments, shop, { spec: { type: 'manual' } })
    await phase('broken')
    await eventually(() => bodies('ill').length === 3)
    await phase('ready')
    await eventually(() => bodies('ill').length === 4 && bodies('all').length === 5 && bodies('usual').length === 3)
    assert.equal(results('usual'), ['succeeded', 'failed', 'succeeded'])
    assert.equal(results('ill'), ['failed', 'recovered', 'degraded', 'recovered'])
    assert.equal(results('all'), ['succeeded', 'failed', 'succeeded', 'degraded', 'recovered'])
  })

  it('reaches chats and other services in their own shapes, and a stranger calls nobody there', async () => {
    const mail = JSON.stringify({
      subject: '${summary}',
      content: [{ type: 'text/plain', value: '${message}\n${subject}, ${author}' }],
    })
    await stage.deploy({
      notifications: await receivers({
        slack: { kind: 'Slack' },
        teams: { kind: 'Teams' },
        mattermost: { kind: 'Mattermost' },
        mail: { kind: 'Webhook', template: { body: mail } },
      }),
    })
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a') }, undefined, ABOUT)
    await stage.synced(commit)
    await eventually(() => got.length === 4)
    const [slack, teams, mattermost, post] = ['slack', 'teams', 'mattermost', 'mail'].map((name) =>
      JSON.parse(bodies(name)[0] ?? ''),
    )
    const title = `${stage.namespace}/shop: Succeeded`
    const message = `Commit ${commit.slice(0, 12)} is in effect and healthy.`
    const line = `${commit.slice(0, 12)} ${SHOWN.subject} (${SHOWN.author})`
    assert.is(slack.text, title)
    assert.is(slack.attachments[0].blocks[1].elements[0].text, line.replaceAll('<', '&lt;').replaceAll('>', '&gt;'))
    const { body } = teams.attachments[0].content
    assert.equal(
      body.map(({ inlines }: { inlines: { text: string }[] }) => inlines[0]?.text),
      [title, message, line],
    )
    assert.is(mattermost.attachments[0].footer, line.replaceAll('@', '@\u200b'))
    assert.equal(post, {
      subject: title,
      content: [{ type: 'text/plain', value: `${message}\n${SHOWN.subject}, ${SHOWN.author}` }],
    })
  })

  it('has templates that are refused where they name what nobody knows, and told of before there is news where they are no JSON', async () => {
    const deploying = (body: string, kind: Notifications[number]['kind'] = 'Webhook') =>
      stage.deploy({ notifications: [{ kind, template: { body }, secretRef: { name: 'hook' } }] })
    const refusal = async (work: Promise<unknown>) => {
      const [settled] = await Promise.allSettled([work])
      return settled.status === 'rejected' ? Failure.from(settled.reason).message : 'it was taken'
    }
    assert.match(
      await refusal(deploying('{"a": "${autor}"}')),
      /spec\.notifications\[0\]\.template\.body: .*unknown\. Known are deployment,.* author, subject, at, summary/,
    )
    for (const body of ['${author', '$$$${author} ${', '${author}${nobody}', '${}'])
      assert.match(await refusal(deploying(body)), /is unknown/, body)
    assert.match(await refusal(deploying('{}', 'Slack')), /template is for kind Webhook/)
    await deploying('{"a": ${author}, "price": "$5 $", "shell": "$${HOME}"}')
    const [said] = await eventually(async () => {
      const messages = await stage.events('NotificationFailed')
      return messages.length > 0 && messages
    })
    assert.match(
      said ?? '',
      /^spec\.notifications\[0\] \(Webhook\): template\.body is no JSON\. Write \$\{name\} within the quotes/,
    )
    assert.equal(got, [])
  })
})
