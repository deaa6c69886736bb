import * as assert from 'uvu/assert'
import type { Kube } from '../../../../src/adapters/kube/index.ts'
import {
  annotations,
  ConfigMaps,
  type Kind,
  type KubeObject,
  labels,
  Namespaces,
  ResourceQuotas,
  SpaceRequests,
  typeMetaOf,
} from '../../../../src/api/index.ts'
import { withQuotas } from '../../../../src/operator/workspace/watch/quotas.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { describe } from '../../../support/suite.ts'

type Marks = Record<string, string>

describe('workspace: quotas in targets', (it) => {
  const { kube, close } = testCluster()
  it.after(close)

  const spaceOf = (uid: string, tenant: string): Marks => ({
    [labels.spaceRequestUid]: uid,
    [labels.spaceRequestNamespace]: tenant,
  })
  const PRIVATE = { [annotations.privateTo]: 'alice' }
  /** The namespace's labels, and the SpaceRequest of uid 1 with its labels and annotations. */
  const CASES: Record<string, { space: Marks; claimUid?: string; notes?: Marks; isOurs: boolean }> = {
    'a space': { space: spaceOf('1', 'team-a'), isOurs: true },
    'the private space of its claim': { space: spaceOf('1', 'team-a'), claimUid: 'own', notes: PRIVATE, isOurs: true },
    'the private space of another claim': { space: spaceOf('1', 'team-a'), claimUid: 'of alice', notes: PRIVATE, isOurs: false },
    'the space of a request that is gone': { space: spaceOf('2', 'team-a'), isOurs: false },
    'a space of another tenant': { space: spaceOf('1', 'team-b'), isOurs: false },
    'no space': { space: { [labels.spaceRequestNamespace]: 'team-a' }, isOurs: false },
  }

  /** Who writes such an object there, and who removes it. */
  async function writers({ space, claimUid, notes = {} }: (typeof CASES)[string], kind: Kind): Promise<string[]> {
    const did: string[] = []
    const held: Record<string, KubeObject> = {
      [Namespaces.kind]: {
        ...typeMetaOf(Namespaces),
        metadata: { name: 'there', labels: space, annotations: { [annotations.spaceRequest]: 'team-a/made' } },
      },
      [SpaceRequests.kind]: {
        ...typeMetaOf(SpaceRequests),
        metadata: {
          name: 'made',
          namespace: 'team-a',
          uid: '1',
          labels: claimUid === undefined ? {} : { [labels.claimUid]: claimUid },
          annotations: notes,
        },
      },
    }
    const as = (name: string): Kube => ({
      ...kube,
      get: async (asked, ref) => {
        const found = held[asked.kind]
        return found?.metadata.name === ref.name ? JSON.parse(JSON.stringify(found)) : undefined
      },
      apply: async (_, applied) => {
        did.push(`${name} writes`)
        return applied
      },
      delete: async () => {
        did.push(`${name} removes`)
        return 'deleted'
      },
    })
    const target = withQuotas(as('target'), as('operator'), { tenant: 'team-a', claimUid: 'own' })
    const object = { ...typeMetaOf(kind), metadata: { name: 'web', namespace: 'there' } }
    await target.apply(kind, object, { manager: 'test' })
    await target.delete(kind, { name: 'web', namespace: 'there' })
    return did
  }

  it('are written with the own rights in a namespace that was made for this tenant, and in no private one of others', async () => {
    for (const [what, each] of Object.entries(CASES)) {
      const writer = each.isOurs ? 'operator' : 'target'
      assert.equal(await writers(each, ResourceQuotas), [`${writer} writes`, `${writer} removes`], what)
    }
  })

  it('are all that is written so', async () => {
    for (const each of Object.values(CASES)) assert.equal(await writers(each, ConfigMaps), ['target writes', 'target removes'])
  })
})
