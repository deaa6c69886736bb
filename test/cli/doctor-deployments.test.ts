import * as assert from 'uvu/assert'
import { type AnyObject, CoreEvents, Deployments, Pods } from '../../src/api/index.ts'
import { systemClock, timestamp } from '../../src/std/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { apply, eventually } from '../support/verbs.ts'
import { berth, type Finding, findingIn } from './berth.ts'

const labels = { app: 'kas' }

/** Its pods wait for a scheduler that nobody runs, so that only the test says what becomes of them. */
const deployment = (namespace: string, template: object = {}): AnyObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'kas', namespace },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { schedulerName: 'nobody', containers: [{ name: 'kas', image: 'registry.example.com/berth:1' }], ...template },
    },
  },
})

const container = (state: object, more: object = {}) => ({
  containerStatuses: [{ name: 'kas', image: '', imageID: '', ready: false, restartCount: 0, state, ...more }],
})

describe('doctor of deployments', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  const examined = async (namespace: string): Promise<Finding> => {
    const { stdout } = await berth(['doctor', '--kubeconfig', cluster.kubeconfig, '-o', 'json', '--namespace', namespace])
    return findingIn(stdout, 'deployments')
  }
  const applied = async (template: object = {}) => {
    const namespace = await cluster.namespace('deployments')
    await apply(cluster.kube, deployment(namespace, template))
    return namespace
  }
  const podOf = (namespace: string) => eventually(async () => (await cluster.kube.list(Pods, { namespace }))[0])
  const say = async (namespace: string, status: object) => {
    const { metadata } = await podOf(namespace)
    await cluster.kube.patch(Pods, { name: metadata.name, namespace }, { status }, { subresource: 'status' })
    return metadata
  }

  it('says what a container waits for, and what can be done', async () => {
    const namespace = await applied()
    const { name } = await say(namespace, container({ waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling it' } }))
    const { mark, message, remedy = '' } = await examined(namespace)
    assert.is(mark, 'fail')
    const said = `pod ${name}: container kas waits (ImagePullBackOff): Back-off pulling it`
    assert.is(message, `kas does not run as it should: ${said}`)
    assert.match(remedy, `kubectl logs -n ${namespace} deployment/kas\``)
  })

  it('names the Secret that a person has to make, rather than values or logs that would not help', async () => {
    const volumes = [
      { name: 'oidc', secret: { secretName: 'berth-proxy-oidc' } },
      { name: 'tls', secret: { secretName: 'kas-tls' } },
      { name: 'other', secret: { secretName: 'not-needed', optional: true } },
    ]
    const namespace = await applied({ volumes, imagePullSecrets: [{ name: 'pull' }] })
    await say(namespace, container({ waiting: { reason: 'CreateContainerConfigError', message: 'secret "pull" not found' } }))
    const secrets = `Secret ${namespace}/berth-proxy-oidc, ${namespace}/pull`
    assert.is(
      (await examined(namespace)).remedy,
      `Make what is not there: ${secrets} (docs/proxy.md, docs/installation.md). Its pods wait for it, and then run by themselves.`,
    )
    const make = (name: string) =>
      apply(cluster.kube, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } } as AnyObject)
    await make('berth-proxy-oidc')
    await make('pull')
    assert.match(
      (await examined(namespace)).remedy ?? '',
      `Secret ${namespace}/kas-tls is made by the program certificates, or by you`,
    )
    await make('kas-tls')
    assert.match((await examined(namespace)).remedy ?? '', 'Correct your values')
  })

  it('says how a container ended, also while it waits to be started again', async () => {
    const namespace = await applied()
    const ended = { terminated: { exitCode: 7, reason: 'Error' } }
    const waits = container({ waiting: { reason: 'CrashLoopBackOff' } }, { lastState: ended, restartCount: 3 })
    const { name } = await say(namespace, waits)
    const said = `pod ${name}: container kas ended with exit code 7 (Error), and was started again 3 times`
    assert.match((await examined(namespace)).message, said)
    await say(namespace, container(ended, { restartCount: 3 }))
    const { message, remedy = '' } = await examined(namespace)
    assert.match(message, said)
    assert.match(remedy, `kubectl logs -n ${namespace} deployment/kas --previous`)
  })

  it('says what the scheduler says', async () => {
    const namespace = await applied()
    const message = '0/3 nodes are available: 3 Insufficient memory.'
    await say(namespace, { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] })
    assert.match((await examined(namespace)).message, message)
  })

  it('says the last warning where nobody else says something', async () => {
    const namespace = await applied()
    const { name, uid } = await say(namespace, container({ waiting: { reason: 'ContainerCreating' } }))
    const now = systemClock.now()
    for (const [at, message] of [
      [now, 'configmap "kas" not found'],
      [now - 60_000, 'an older one'],
    ] as const) {
      await cluster.kube.create(CoreEvents, {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { generateName: 'kas-', namespace } as never,
        type: 'Warning',
        reason: 'FailedMount',
        message,
        lastTimestamp: timestamp(at),
        involvedObject: { kind: 'Pod', name, namespace, uid: uid ?? '' },
      })
    }
    assert.match((await examined(namespace)).message, `pod ${name}: configmap "kas" not found`)
  })

  it('says why no pod is made', async () => {
    const namespace = await applied({ serviceAccountName: 'nobody' })
    await eventually(async () => {
      const found = await cluster.kube.get(Deployments, { name: 'kas', namespace })
      return found?.status?.conditions?.some(({ type, status }) => type === 'ReplicaFailure' && status === 'True') || undefined
    })
    assert.match((await examined(namespace)).message, /serviceaccount "nobody" not found/)
  })

  it('is patient with pods of which nobody has said anything, and content when they are ready', async () => {
    const namespace = await applied()
    await podOf(namespace)
    const { mark, message } = await examined(namespace)
    assert.equal([mark, message], ['warn', 'kas does not run as it should: its pods are being started'])
    await say(namespace, { conditions: [{ type: 'Ready', status: 'True' }] })
    await eventually(async () => (await examined(namespace)).mark === 'ok' || undefined)
    assert.is((await examined(namespace)).message, 'all pods run of kas')
  })
})
