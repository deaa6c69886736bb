import { is, match, ok, unreachable } from 'uvu/assert'
import { Secrets, WorkspaceClasses, type WorkspaceSpec, Workspaces } from '../../../src/api/index.ts'
import { Failure } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { eventually, expectGone } from '../../support/verbs.ts'
import { everybody, INLINE, prepareNamespace, words } from './fixture.ts'

/** Of a namespace, a workspace and most names in a devfile. */
const LONGEST = 63
const components = (count: number) => `schemaVersion: 2.2.0\ncomponents:\n${'- {name: a, volume: {}}\n'.repeat(count)}`

describe('workspace: bad input', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  const { at, create, set, becomes, expect, deleteAll } = words(cluster, () => namespace)

  it.before(async () => {
    namespace = await cluster.namespace('workspace-bad'.padEnd(LONGEST - '-12345678'.length, 'x'))
    is(namespace.length, LONGEST)
    await prepareNamespace(cluster, namespace)
    operator = await startOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers: everybody })
  })
  it.after(async () => {
    await deleteAll()
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: namespace })
    await cluster.close()
  })

  it('in a devfile is told in a few words, and the workspace runs when it is mended', async () => {
    const cases: [inline: string, says: RegExp][] = [
      ['schemaVersion: 2.2.0\ncomponents: [', /^.*line 2/],
      ['schemaVersion: 2.2.0\ncomponents: &a [*a]', /refers to itself/],
      [components(2000), /there are 2000, and at most 1000 are read/],
    ]
    await Promise.all(cases.map(([inline], n) => create(`bad-${n}`, { devfile: { inline } })))
    for (const [n, [, says]] of cases.entries()) {
      const { status } = await becomes(`bad-${n}`, 'Error')
      is(status?.failure?.reason, 'DevfileInvalid')
      match(status?.failure?.message ?? '', says)
      ok(JSON.stringify(status).length < 20_000)
    }
    await Promise.all(cases.map((_case, n) => set(`bad-${n}`, { devfile: { inline: INLINE } })))
    for (const n of cases.keys()) await becomes(`bad-${n}`, 'Running')
  })

  it('that is too large does not get in', async () => {
    const refused = async (inline: string, says: RegExp) => {
      try {
        await create('huge', { devfile: { inline } })
        unreachable()
      } catch (thrown) {
        match(Failure.from(thrown).message, says)
      }
    }
    await refused(components(10_000), /spec\.devfile\.inline.*(Too long|may not be (more|longer) than)/)
    await refused(`# ${'x'.repeat(4 * 2 ** 20)}`, /too large|limit is/i)
  })

  it('is none where names are as long as they may be', async () => {
    const long = (letter: string, length = LONGEST) => letter.repeat(length)
    const inline = `schemaVersion: 2.2.0
components:
  - name: ${long('t')}
    container:
      image: example.com/tools:1
      dedicatedPod: true
      endpoints: [{ name: ${long('e', 15)}, targetPort: 65535 }]
      volumeMounts: [{ name: ${long('v')}, path: /v }]
  - { name: ${long('m')}, container: { image: example.com/tools:1 } }
  - { name: ${long('v')}, volume: { size: 1Gi } }
commands:
  - { id: ${long('c')}, exec: { component: ${long('m')}, commandLine: echo hello } }
events: { postStart: [${long('c')}] }
`
    const spec: WorkspaceSpec = {
      devfile: { inline },
      ports: [{ name: long('p', 15), port: 65_534 }],
      variables: [{ name: long('V', 253), value: 'x' }],
    }
    await create(long('w'), spec)
    await becomes(long('w'), 'Running')
    await kube.delete(Workspaces, at(long('w')))
    await expectGone(kube, Workspaces, at(long('w')))
  })

  it('is a Secret that goes: the workspace is found again when it is back', async () => {
    await create('web')
    await becomes('web', 'Running')
    const ref = { name: 'credentials', namespace }
    const { type = 'Opaque', data = {} } = await eventually(() => kube.get(Secrets, ref))
    await kube.delete(Secrets, ref)
    const { status } = await expect('web', (now) => now.status?.failure?.reason === 'CredentialsMissing')
    is(status?.actualState, 'Unknown')
    match(status?.failure?.remedy ?? '', /^Store a kubeconfig for http/)
    await kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: ref, type, data })
    const { status: after } = await becomes('web', 'Running')
    is(after?.failure, undefined)
  })
})
