import * as assert from 'uvu/assert'
import { createMetrics, type HttpServer, serveHttp } from '../../../src/adapters/http/index.ts'
import {
  ConfigMaps,
  conditionOf,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  Secrets,
} from '../../../src/api/index.ts'
import { gitopsMeter } from '../../../src/operator/gitops-deployment/index.ts'
import { createLog, silentLog, systemClock } from '../../../src/std/index.ts'
import { managedEnvironment, managedSecret } from '../../support/builders/environments.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { dryRun, openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { kubeconfigFor } from '../../support/targets.ts'
import { eventually } from '../../support/verbs.ts'

/** Neither a label nor a host name nor a number may be so: wherever it is put, the API server quotes it. */
const CANARY = 'canary 4711 must: not be seen'
const WORD = 'canary-4711-word-must-not-be-seen'
const OLD = 'canary-4711-of-yesterday-not-be-seen'
const EVERY = /canary| 4711 |be.seen/

const encoded = (contents: Record<string, string>) =>
  Object.fromEntries(Object.entries(contents).map(([key, value]) => [key, Buffer.from(value).toString('base64')]))

function notIn(text: string, where: string): void {
  const at = EVERY.exec(text)?.index
  assert.is(at === undefined ? undefined : text.slice(Math.max(0, at - 200), at + 100), undefined, where)
}

/** Of each sort of field one that is refused with the value that stands in it. */
const REFUSED = {
  'deploy/label.yaml': { ...configMap('label'), metadata: { name: 'label', labels: { x: '${spaced}' } } },
  'deploy/service.yaml': {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'service' },
    spec: { selector: { app: '${spaced}' }, ports: [{ name: '${word}', port: 80, targetPort: '${spaced}' }] },
  },
  'deploy/ingress.yaml': {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'ingress' },
    spec: { rules: [{ host: '${spaced}' }] },
  },
  'deploy/type.yaml': {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'type' },
    spec: { replicas: '${word}', selector: { matchLabels: { a: 'a' } }, template: { metadata: { labels: { a: '${spaced}' } } } },
  },
  'deploy/quota.yaml': {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'quota' },
    spec: { hard: { pods: '${word}' } },
  },
  'deploy/secret.yaml': {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'secret' },
    type: '${word}',
    data: { a: '${spaced}' },
  },
}

describe('secrets of a GitOpsDeployment', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const lines: string[] = []
  const metrics = createMetrics()
  const letters: string[] = []
  let receiver: HttpServer
  let stage: Stage

  it.before(async () => {
    receiver = await serveHttp({
      address: '127.0.0.1:0',
      clock: systemClock,
      log: silentLog,
      respond({ body }) {
        letters.push(body.toString())
        return { status: 500, text: body.toString() + CANARY }
      },
    })
    stage = await openStage(cluster, {
      log: createLog('debug', { write: (line) => lines.push(line) }),
      settings: { meter: gitopsMeter(metrics) },
    })
  })
  it.after(async () => {
    await stage.stop()
    await receiver.stop(0)
    await cluster.close()
  })

  const secret = (name: string, contents: Record<string, string>) =>
    kube.apply(
      Secrets,
      { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: stage.namespace }, data: encoded(contents) },
      { manager: 'test' },
    )

  it('appear in no status, Event, log line, metric or notification', async () => {
    const { namespace, git } = stage
    await secret('values', { spaced: `${CANARY}\n`, word: WORD })
    await secret('hook', { url: `http://${receiver.address}/${WORD}?token=${WORD}`, secret: WORD })
    await secret('gitea', { url: `http://${receiver.address}/api/${WORD}`, token: WORD })
    await kube.create(Secrets, managedSecret(namespace, 'far', kubeconfigFor(kube.server, WORD)))
    const spec = { apiURL: kube.server, credentialsSecret: 'far', allowInsecureSkipTLSVerify: true }
    await kube.create(GitOpsDeploymentManagedEnvironments, managedEnvironment(namespace, 'far', spec))
    const variables = { from: [{ kind: 'Secret' as const, name: 'values' }] }
    const notifications = [
      { kind: 'Webhook' as const, secretRef: { name: 'hook' } },
      { kind: 'Gitea' as const, secretRef: { name: 'gitea' } },
    ]
    // What the first of them looks like must be known before there is news.
    await stage.deploy({ variables, notifications })
    await stage.synced(await git.push({ 'deploy/good.yaml': configMap('good', { a: '${word}' }) }))
    await git.push({ 'deploy/good.yaml': configMap('good', { a: '${word}' }), ...REFUSED })
    await stage.complains('SyncFailed')

    await stage.deploy({ variables, destination: { environment: 'far' } }, 'far')
    await stage.deploy({ source: { repoURL: `https://me:${WORD}@git.example.com/none`, path: 'deploy' } }, 'nowhere')
    await stage.complains('GitProjectNotFound', 'nowhere')
    await dryRun(cluster, stage)
    await eventually(async () => conditionOf((await stage.status('far')).conditions, 'Ready')?.message)
    await eventually(async () => (await stage.events('NotificationFailed')).length >= 2)

    const { conditions } = await stage.status()
    assert.match(conditionOf(conditions, 'Ready')?.message ?? '', /Invalid value: "\*\*\*/)
    assert.ok((await stage.events('SyncFailed')).some((message) => message.includes('***')))
    const seen = await everythingTold()
    assert.ok(letters.length >= 2)
    for (const [where, text] of Object.entries(seen)) {
      assert.ok(text.length > 100, where)
      notIn(text, where)
    }
    assert.is((await kube.get(ConfigMaps, { name: 'good', namespace }))?.data?.a, WORD)
  })

  it('do not appear either when they have been replaced, or the deployment goes', async () => {
    const { namespace, git } = stage
    await secret('values', { spaced: `${OLD} and spaces`, word: OLD })
    const commit = await git.push({ 'deploy/good.yaml': configMap('good', { a: '${word}' }), ...REFUSED })
    await eventually(async () => (await stage.status()).sync?.revision === commit)
    await kube.delete(GitOpsDeployments, { name: 'shop', namespace })
    await eventually(async () => (await kube.get(GitOpsDeployments, { name: 'shop', namespace })) === undefined)
    for (const [where, text] of Object.entries(await everythingTold())) notIn(text, where)
  })

  async function everythingTold(): Promise<Record<string, string>> {
    const { namespace } = stage
    await stage.operator.events.flush()
    const [deployments, runs, environments] = await Promise.all([
      kube.list(GitOpsDeployments, { namespace }),
      kube.list(GitOpsDeploymentSyncRuns, { namespace }),
      kube.list(GitOpsDeploymentManagedEnvironments, { namespace }),
    ])
    return {
      status: JSON.stringify([...deployments, ...runs, ...environments].map(({ status }) => status)),
      events: JSON.stringify(await kube.read(`/api/v1/namespaces/${namespace}/events`)),
      log: lines.join(''),
      metrics: await metrics.render(),
      letters: letters.join('\n'),
    }
  }
})
