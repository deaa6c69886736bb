import { create } from '@bufbuild/protobuf'
import { equal, is } from 'uvu/assert'
import { connect, createCaches } from '../../../src/adapters/kube/index.ts'
import { Agents } from '../../../src/api/index.ts'
import { createStatusWriter } from '../../../src/kas/agent-registration/index.ts'
import { ReportRequestSchema } from '../../../src/rpc/index.ts'
import { silentLog, systemClock } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { expectObject } from '../../support/verbs.ts'
import { createAgent } from '../running-kas.ts'

describe('kas: two that write the status of one Agent', (it) => {
  const cluster = testCluster()
  let namespace = ''
  const closing: (() => Promise<void>)[] = []
  it.before(async () => {
    namespace = await cluster.namespace('kas')
    for (const name of ['dev', 'after', 'mistaken']) await createAgent(cluster.kube, namespace, name)
  })
  it.after(async () => {
    for (const close of closing.reverse()) await close()
    await cluster.close()
  })

  /** What a kas does about statuses, with no pods of agents. */
  const open = async (self: string) => {
    const kube = connect({ kubeconfig: cluster.kubeconfig })
    const caches = createCaches({ kube, clock: systemClock, log: silentLog, scope: namespace })
    const agents = caches.of(Agents)
    await caches.ready(AbortSignal.timeout(30_000))
    const nothing = () => undefined
    const writer = createStatusWriter({
      kube: caches.kube,
      agents,
      projects: { onChange: () => nothing },
      projectOf: nothing,
      refusalOf: nothing,
      roll: {
        ...{
          enter: () => nothing,
          tunnel: () => nothing,
          register: nothing,
          of: () => [],
          all: () => [],
          forget: nothing,
          onChange: nothing,
        },
        stop: nothing,
      },
      presence: { self, isAlive: () => true, others: 1, onChange: nothing },
      events: { record: nothing, flush: async () => undefined },
      clock: systemClock,
      log: silentLog,
    })
    closing.push(
      () => kube.close(),
      () => caches.stop(),
      () => writer.stop(),
    )
    const configured = (name: string, commit: string, mistakes: { line: number; column: number; message: string }[] = []) =>
      writer.report({ name, namespace }, { commit, path: 'config.yaml', mistakes })
    return {
      configured,
      /** An agent's configuration and report come to this kas. */
      async hears(commit: string) {
        const { metadata } = await shown('dev')
        const pass = {
          agent: { name: 'dev', namespace },
          uid: metadata.uid ?? '',
          id: 1n,
          ended: AbortSignal.any([]),
          close: nothing,
        }
        configured('dev', commit)
        writer.onReport(pass, create(ReportRequestSchema, { projects: [{ id: 'team/app', commitId: commit }] }))
      },
    }
  }
  const shown = (name: string, commit?: string) =>
    expectObject(cluster.kube, Agents, { name, namespace }, ({ status }) =>
      [status?.configuration, ...(name === 'dev' ? (status?.projects ?? [undefined]) : [])].every(
        (one) => !commit || one?.commit === commit,
      ),
    )

  it('keeps a good configuration that was followed by a bad one before it was written', async () => {
    const { configured } = await open('kas-1')
    const errors = [{ line: 1, column: 2, message: 'no' }]
    configured('mistaken', 'c1')
    configured('mistaken', 'c2', errors)
    const found = await expectObject(
      cluster.kube,
      Agents,
      { name: 'mistaken', namespace },
      ({ status }) => status?.configuration?.rejectedCommit === 'c2',
    )
    equal(found.status?.configuration, { commit: 'c1', path: 'config.yaml', rejectedCommit: 'c2', errors })
  })

  it('leaves what the other has heard since', async () => {
    const [one, other] = [await open('kas-1'), await open('kas-2')]
    await one.hears('c1')
    await shown('dev', 'c1')
    await other.hears('c2')
    const { metadata } = await shown('dev', 'c2')
    // A second apart for each Agent: whatever would be written back by now is.
    for (const [at, kas] of [one, other, one].entries()) {
      kas.configured('after', `a${at}`)
      await shown('after', `a${at}`)
    }
    const now = await shown('dev')
    is(now.metadata.resourceVersion, metadata.resourceVersion)
    equal(
      now.status?.projects?.map(({ commit }) => commit),
      ['c2'],
    )
    await one.hears('c3')
    await shown('dev', 'c3')
  })
})
