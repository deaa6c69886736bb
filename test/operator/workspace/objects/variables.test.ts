import * as assert from 'uvu/assert'
import type { Kube } from '../../../../src/adapters/kube/index.ts'
import {
  annotations,
  type KubeObject,
  labels,
  Secrets,
  type Workspace,
  type WorkspaceSpec,
  YES,
} from '../../../../src/api/index.ts'
import { freeze } from '../../../../src/operator/workspace/objects/variables.ts'
import { isFailure } from '../../../../src/std/index.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { describe } from '../../../support/suite.ts'
import { workspace } from '../../../support/workspaces.ts'

const MANY = 12
const LARGE = 700_000

describe('what a workspace inherits from many large Secrets', (it) => {
  const cluster = testCluster()
  let namespace = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('inherited')
  })
  it.after(() => cluster.close())

  interface Made {
    level?: string
    of?: string
    bytes?: number
    marks?: Record<string, string>
    notes?: Record<string, string>
  }

  const create = async (name: string, { level, of = '', bytes = LARGE, marks, notes }: Made) =>
    cluster.kube.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        namespace,
        labels: { ...(level && { [labels.variablesLevel]: level }), ...marks },
        annotations: { [annotations.variablesOf]: of, [annotations.variablesType]: 'file', ...notes },
      },
      data: { [name.toUpperCase()]: Buffer.alloc(bytes, 'x').toString('base64') },
    })
  const many = async (hint: string, made: Made, count = MANY) => {
    for (let at = 0; at < count; at++) await create(`${hint}${at}`, made)
  }

  /** The API, how much is read through it, and how many Secrets at once. */
  function weighing() {
    const seen = { bytes: 0, gets: 0, atOnce: 0 }
    let now = 0
    const weigh = <T>(found: T): T => {
      seen.bytes += JSON.stringify(found ?? '').length
      return found
    }
    const { kube } = cluster
    const home: Kube = {
      ...kube,
      async get(kind, ref, signal) {
        seen.gets++
        now++
        seen.atOnce = Math.max(seen.atOnce, now)
        try {
          return weigh(await kube.get(kind, ref, signal))
        } finally {
          now--
        }
      },
      list: async (kind, query, signal) => weigh(await kube.list(kind, query, signal)),
      async *pages(kind, query, signal) {
        for await (const page of kube.pages(kind, query, signal)) yield weigh(page)
      },
    }
    return { seen, home }
  }

  const frozen = async (spec: WorkspaceSpec, home: Kube) => {
    const one: Workspace = workspace(namespace, 'web', spec)
    const frame: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'frozen', namespace } }
    const heir = { owner: 'alice', project: undefined }
    return freeze({ workspace: one, frame, target: cluster.kube, home, heir, now: 0 })
  }
  const refusal = async (freezing: Promise<unknown>) => {
    const failure = await freezing.catch((thrown: unknown) => thrown)
    assert.ok(isFailure(failure, 'invalid'), String(failure))
    assert.is(failure.reason, 'VariablesTooLarge')
    return failure.message
  }

  it('is refused when it is too much, before the rest is read', async () => {
    await many('large', { level: 'group' })
    const { seen, home } = weighing()
    assert.match(await refusal(frozen({}, home)), /the Secrets that the workspace inherits from have \d{7} bytes and more/)
    assert.ok(seen.gets <= 5 && seen.bytes < 6_000_000, JSON.stringify(seen))
  })

  it('is not read where it is for others', async () => {
    await many('hers', { level: 'user', of: 'mallory' })
    await create('mine', { level: 'user', of: 'alice', bytes: 10 })
    const { seen, home } = weighing()
    assert.equal(
      (await frozen({}, home)).list?.map(({ name }) => name),
      ['MINE'],
    )
    assert.ok(seen.gets === 1 && seen.bytes < 100_000, JSON.stringify(seen))
  })

  it('is not kept from anybody by what somebody else has written beside it', async () => {
    await many('noted', { level: 'user', of: 'mallory', bytes: 1, notes: { large: 'x'.repeat(250_000) } }, 40)
    await create('mine', { level: 'user', of: 'alice', bytes: 10 })
    const { seen, home } = weighing()
    assert.is((await frozen({}, home)).list?.length, 1)
    assert.is(seen.gets, 1)
  })

  it('is not what lies beside its own variables, whose Secrets are read one after the other', async () => {
    const marks = { [labels.workspaceVariables]: YES }
    await many('own', { marks, bytes: 400_000 }, 5)
    const own = (at: number) => ({
      name: `V${at}`,
      type: 'file' as const,
      secretKeyRef: { name: `own${at}`, key: `OWN${at}` },
    })
    const { seen, home } = weighing()
    const variables = [0, 1, 2, 3, 4].map(own)
    assert.match(await refusal(frozen({ variables }, home)), 'spec.variables has 1200000 bytes up to "V2"; 1000000 are the most')
    assert.equal([seen.gets, seen.atOnce], [3, 1])
  })
})
