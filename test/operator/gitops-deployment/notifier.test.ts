import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as assert from 'uvu/assert'
import type { Receipt } from '../../../src/adapters/http/index.ts'
import { type GitOpsDeployment, Secrets } from '../../../src/api/index.ts'
import type { ControllerContext } from '../../../src/engines/controller/index.ts'
import { createNotifier } from '../../../src/operator/gitops-deployment/notify/notifier.ts'
import { createLog, systemClock } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

setFlagsFromString('--expose_gc')
const collect: () => void = runInNewContext('gc')
const used = () => {
  collect()
  return process.memoryUsage().heapUsed / 2 ** 20
}
const VERSIONS = 150

describe('what is said of a receiver', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  it.after(() => cluster.close())

  /** What an Event and what the log say when a receiver answers so, and how often it was asked. */
  async function tellOf(receipt: Omit<Receipt, 'text'>) {
    const namespace = await cluster.namespace('notifier')
    const data = { url: btoa('https://hooks.example.com/'), secret: btoa('s') }
    const metadata = { name: 'hook', namespace }
    await kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data })
    const messages: string[] = []
    const lines: string[] = []
    let asked = 0
    const events: ControllerContext['events'] = {
      record: (_, occurrence) => void messages.push(occurrence.message),
      flush: () => Promise.resolve(),
    }
    const log = createLog('info', { write: (line) => lines.push(line) })
    const notifier = createNotifier({
      context: { clock: systemClock, events, log },
      send: () => {
        asked++
        return Promise.resolve({ text: '', ...receipt })
      },
      asTenant: () => kube,
    })
    const deployment = (revision: string): GitOpsDeployment => ({
      apiVersion: 'managed-gitops.redhat.com/v1alpha1',
      kind: 'GitOpsDeployment',
      metadata: { name: 'shop', namespace, uid: 'u' },
      spec: {
        type: 'automated',
        source: { repoURL: 'https://git.example.com/shop', path: 'deploy' },
        notifications: [{ kind: 'Webhook', secretRef: { name: 'hook' } }],
      },
      status: { lastOutcome: { revision, result: 'Succeeded' } },
    })
    notifier.look(deployment('1'))
    notifier.look(deployment('2'))
    const said = await eventually(() => messages[0])
    notifier.close()
    return { message: said, asked, log: lines.join('') }
  }

  it('names the number that a host of the internet answered, and does not ask again after a refusal', async () => {
    const { message, asked } = await tellOf({ status: 307, isOwn: false })
    assert.match(message, /hooks\.example\.com answered 307\. Redirects are not followed/)
    assert.is(asked, 1)
  })

  it('of one in the own networks names no number, but in the log of the operator', async () => {
    const [refused, away] = await Promise.all([tellOf({ status: 404, isOwn: true }), tellOf({ status: 503, isOwn: true })])
    assert.is(refused.message, away.message)
    assert.is(refused.asked, away.asked)
    assert.not.match(refused.message, /404/)
    assert.match(refused.log, /did not take it <- it answered 404/)
  })

  it('that hangs keeps of each version of a large deployment no more than is told', async () => {
    const events = { record: () => undefined, flush: () => Promise.resolve() }
    const context = { clock: systemClock, events, log: createLog('error', { write: () => undefined }) }
    const never = new Promise<Receipt>(() => undefined)
    const notifier = createNotifier({ context, send: () => never, asTenant: () => kube })
    const version = (n: number): GitOpsDeployment => ({
      apiVersion: 'managed-gitops.redhat.com/v1alpha1',
      kind: 'GitOpsDeployment',
      metadata: { name: 'shop', namespace: 'evil', uid: 'u' },
      spec: {
        type: 'automated',
        source: { repoURL: 'https://git.example.com/shop', path: 'deploy' },
        variables: { values: { large: Buffer.alloc(2 ** 19, `${n}`).toString('latin1') } },
        notifications: [{ kind: 'Webhook', secretRef: { name: 'hook' } }],
      },
      status: { lastOutcome: { revision: `${n}`, result: 'Succeeded' } },
    })
    const before = used()
    for (let n = 0; n < VERSIONS; n++) notifier.look(version(n))
    const grown = used() - before
    notifier.close()
    assert.ok(grown < VERSIONS / 8, `${Math.round(grown)} MiB more`)
  })
})
