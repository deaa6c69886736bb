import * as assert from 'uvu/assert'
import { parseConfig, start } from '../../src/agent/index.ts'
import { ConfigMaps, type Kind, type KubeObject } from '../../src/api/index.ts'
import { startBerth } from '../cli/berth.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { type ForeignKas, foreignKas } from './foreign-kas.ts'

interface Lease extends KubeObject {
  spec?: { holderIdentity?: string }
}
const Leases: Kind<Lease> = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', namespaced: true }

describe('an agent that is told to end', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let kas: ForeignKas
  let namespace = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('end')
    kas = await foreignKas({ reports: true })
    kas.configure({ gitops: { manifestProjects: [{ id: 'shop', defaultNamespace: namespace }] } })
    kas.push('shop', { 'a.yaml': configMap('one') })
  })
  it.afterEach(() => kas.stop())
  it.after(() => cluster.close())

  const settings = () => ({ kasAddress: kas.address, kubeconfig, namespace, podName: 'pod', operations: '127.0.0.1:0' })
  const holder = async () =>
    (await kube.get(Leases, { name: `agent-${kas.agentId}-lock`, namespace }))?.spec?.holderIdentity ?? ''
  /** Ends when `isTime` says so of what it has logged. */
  const live = async (isTime: (lines: readonly string[]) => boolean) => {
    const ending = new AbortController()
    const lines: string[] = []
    const look = () => {
      if (isTime(lines)) ending.abort()
    }
    look()
    const write = (line: string) => {
      lines.push(line)
      look()
    }
    const config = parseConfig({ ...settings(), logLevel: 'debug' }, { AGENTK_TOKEN: 'secret' })
    await start(config, ending.signal, { log: { write }, up: look })
    return lines
  }

  it('before it has begun ends at once', async () => {
    await live(() => true)
    assert.is(await holder(), '')
  })

  for (const many of [1, 2, 3, 4, 5])
    it(`after its log line ${many} ends, and leads no more`, async () => {
      const lines = await live(({ length }) => length >= many)
      assert.match(lines.at(-1) ?? '', /agent stopped/)
      assert.is(await holder(), '')
    })

  it('as soon as it leads gives the Lease up', async () => {
    await live((lines) => lines.some((line) => line.includes('"leading"')))
    assert.is(await holder(), '')
  })

  it('by SIGTERM gives the Lease up, and its exit code is 0', async () => {
    const { kasAddress, podName, operations } = settings()
    const words = ['--kas-address', kasAddress, '--namespace', namespace, '--pod-name', podName, '--operations', operations]
    const env = { AGENTK_TOKEN: 'secret', KUBECONFIG: kubeconfig }
    const berth = startBerth(['agent', 'run', ...words], { env })
    await expectObject(kube, ConfigMaps, { name: 'one', namespace }, () => true)
    assert.is(await holder(), 'pod')
    berth.process.kill('SIGTERM')
    assert.equal([(await berth.ended).code, await holder()], [0, ''])
    const early = startBerth(['agent', 'run', ...words], { env })
    await eventually(() => early.printed().stdout.length > 0)
    early.process.kill('SIGTERM')
    assert.equal([(await early.ended).code, await holder()], [0, ''])
  })
})
