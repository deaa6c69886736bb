import * as assert from 'uvu/assert'
import type { Kube } from '../../../../src/adapters/kube/index.ts'
import { ConfigMaps, type Kind, type Namespace, Namespaces, ResourceQuotas, typeMetaOf } from '../../../../src/api/index.ts'
import { withQuotas } from '../../../../src/operator/workspace/watch/quotas.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { describe } from '../../../support/suite.ts'

describe('workspace: quotas in targets', (it) => {
  const { kube, close } = testCluster()
  it.after(close)

  const LABELS = {
    space: { 'berth.dev/spacerequest-uid': '1', 'toolchain.dev.openshift.com/spacerequest-namespace': 'team-a' },
    'space of others': { 'berth.dev/spacerequest-uid': '2', 'toolchain.dev.openshift.com/spacerequest-namespace': 'team-b' },
    'no space': { 'toolchain.dev.openshift.com/spacerequest-namespace': 'team-a' },
  }

  /** Who writes such an object there, and who removes it. */
  async function writers(labels: Record<string, string>, kind: Kind): Promise<string[]> {
    const did: string[] = []
    const as = (name: string, namespace: string): Kube => ({
      ...kube,
      get: async (asked, ref) => {
        did.push(`${name} asks`)
        assert.is(asked.kind, Namespaces.kind)
        const found: Namespace = { ...typeMetaOf(Namespaces), metadata: { name: ref.name, labels } }
        return ref.name === namespace ? JSON.parse(JSON.stringify(found)) : undefined
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
    const target = withQuotas(as('target', 'there'), as('operator', 'there'), 'team-a')
    const object = { ...typeMetaOf(kind), metadata: { name: 'web', namespace: 'there' } }
    await target.apply(kind, object, { manager: 'test' })
    await target.delete(kind, { name: 'web', namespace: 'there' })
    return did.filter((each) => !each.endsWith('asks'))
  }

  it('are written with the own rights in a namespace that was made for this tenant, and nowhere else', async () => {
    const expected = {
      space: ['operator writes', 'operator removes'],
      'space of others': ['target writes', 'target removes'],
      'no space': ['target writes', 'target removes'],
    }
    for (const [what, labels] of Object.entries(LABELS))
      assert.equal(await writers(labels, ResourceQuotas), expected[what as keyof typeof expected], what)
  })

  it('are all that is written so', async () => {
    assert.equal(await writers(LABELS.space, ConfigMaps), ['target writes', 'target removes'])
  })
})
