import { create } from '@bufbuild/protobuf'
import * as assert from 'uvu/assert'
import { dial, objectStreamOver } from '../../src/adapters/grpc/index.ts'
import { capabilitiesOf, type Kube } from '../../src/adapters/kube/index.ts'
import { createSupervisor } from '../../src/agent/gitops/index.ts'
import { ConfigMaps } from '../../src/api/index.ts'
import { noMeter } from '../../src/engines/gitops/sync/meter.ts'
import { createFileReader, createRenderer } from '../../src/engines/render/index.ts'
import { AgentConfigurationSchema } from '../../src/rpc/index.ts'
import { createYamlReader, seconds, silentLog, systemClock } from '../../src/std/index.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { deathsOf, dieAtEach, lifeOf, mortal } from '../support/mortal.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { type ForeignKas, foreignKas } from './foreign-kas.ts'

/** Lives that are lived at the same time. */
const AT_ONCE = 4

describe('an agent that is killed', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  it.after(() => cluster.close())

  /** The part of an agent that writes; `end` leaves everything as it is. */
  const live = (as: Kube, kas: ForeignKas, namespace: string) => {
    const clock = systemClock
    const connection = dial({ address: kas.address })
    const yaml = createYamlReader()
    const quick = { base: seconds(0.1), max: seconds(0.5) }
    const supervisor = createSupervisor({
      kube: as,
      clock,
      log: silentLog,
      reports: { configuration: () => undefined, project: () => undefined, forget: () => undefined, again: () => undefined },
      home: namespace,
      source: { stream: objectStreamOver(connection, clock, true), backoff: quick, yaml },
      renderers: {
        render: createRenderer({ kubectl: 'kubectl', yaml }),
        readFiles: createFileReader(yaml),
        capabilities: () => capabilitiesOf(kube),
      },
      meter: noMeter,
      tellSync: () => undefined,
      backoff: quick,
    })
    const manifestProjects = [{ id: 'shop', defaultNamespace: namespace, prunePropagationPolicy: 'background' }]
    supervisor.prepare(create(AgentConfigurationSchema, { agentId: kas.agentId, gitops: { manifestProjects } }))()
    const ending = new AbortController()
    const done = supervisor.lead(ending.signal)
    return {
      async end() {
        ending.abort()
        await done
        connection.close()
      },
    }
  }
  const namesIn = async (namespace: string) => {
    const maps = await kube.list(ConfigMaps, { namespace })
    return maps.map(({ metadata: { name } }) => name).filter((name) => !/^(inventory|agent|kube)-/.test(name))
  }
  const held = async (kas: ForeignKas, namespace: string) => {
    const inventory = await kube.get(ConfigMaps, { name: `inventory-${kas.agentId}-1`, namespace })
    return Object.keys(inventory?.data ?? {}).map((key) => key.split('_')[1])
  }
  const FIRST = { 'a.yaml': configMap('stays', { a: '1' }), 'b.yaml': configMap('goes') }
  const SECOND = { 'a.yaml': configMap('stays', { a: '2' }), 'c.yaml': configMap('comes') }

  /** The second commit is under way when it dies after so many writes; the next one finishes. Gives the writes that it took. */
  const story = async (writes: number): Promise<number> => {
    const namespace = await cluster.namespace('killed')
    const kas = await foreignKas()
    try {
      kas.push('shop', FIRST)
      const before = live(kube, kas, namespace)
      await eventually(async () => (await held(kas, namespace)).length === 2 && (await namesIn(namespace)).length === 2)
      await before.end()
      kas.push('shop', SECOND)
      const life = lifeOf(writes)
      const killed = live(mortal(kube, life), kas, namespace)
      const isThere = async () => {
        assert.equal(await namesIn(namespace), ['comes', 'stays'])
        assert.equal((await kube.get(ConfigMaps, { name: 'stays', namespace }))?.data, { a: '2' })
        assert.equal((await held(kas, namespace)).sort(), ['comes', 'stays'])
        return true
      }
      if (writes === Number.POSITIVE_INFINITY) await eventually(isThere)
      else await life.end
      await killed.end()
      const next = live(kube, kas, namespace)
      await eventually(isThere)
      await next.end()
      return life.written
    } finally {
      await kas.stop()
    }
  }

  it('half way, after whichever write, leaves what the next one finishes', async () => {
    const writes = await story(Number.POSITIVE_INFINITY)
    assert.ok(writes > 4, `it took ${writes} writes`)
    await dieAtEach(deathsOf(writes), AT_ONCE, story)
  })
})
