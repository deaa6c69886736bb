import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import { createMemory } from '../../../src/adapters/kube/memory.ts'
import {
  ConfigMaps,
  type CoreSecret,
  type GitOpsDeployment,
  GitOpsDeployments,
  type KubeObject,
  Secrets,
} from '../../../src/api/index.ts'
import { withVariables } from '../../../src/engines/render/variables.ts'
import {
  createVariableReader,
  readInputs,
  type VariableReader,
} from '../../../src/operator/gitops-deployment/services/variables.ts'
import { isFailure, systemClock } from '../../../src/std/index.ts'
import { grant } from '../../support/builders/credentials.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { steppedClock } from '../../support/clock.ts'
import { testCluster } from '../../support/control-plane.ts'
import { at, openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const LARGE = 400_000
const MEBIBYTE = 2 ** 20

type Source = NonNullable<NonNullable<GitOpsDeployment['spec']['variables']>['from']>[number]

const secretOf = (namespace: string, name: string, value: string): CoreSecret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  data: { [name]: Buffer.from(value).toString('base64') },
})

const named = (...names: string[]): Source[] => names.map((name) => ({ kind: 'Secret', name }))

describe('variables of a GitOpsDeployment', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''

  it.before(async () => {
    namespace = await cluster.namespace('variables')
    await grant(kube, namespace, 'default', 'admin')
    for (const name of ['a', 'b', 'c', 'd']) await kube.create(Secrets, secretOf(namespace, name, name.repeat(LARGE)))
    await kube.create(Secrets, secretOf(namespace, 'small', 'before'))
  })
  it.after(() => cluster.close())

  const deployment = (name: string, ...from: string[]): GitOpsDeployment => ({
    apiVersion: 'managed-gitops.redhat.com/v1alpha1',
    kind: 'GitOpsDeployment',
    metadata: { name, namespace, uid: name, generation: 1 },
    spec: { ...at('deploy'), source: { repoURL: '', path: '' }, type: 'automated', variables: { from: named(...from) } },
  })
  const keyOf = (name: string) => `${namespace}/${name}`
  const readerWith = (each: number, over: Kube = kube) =>
    createVariableReader({ kube: over, clock: systemClock, memory: createMemory({ all: 100 * each, each }) })
  const refusal = async (reading: Promise<unknown>) => {
    const failure = await reading.catch((thrown: unknown) => thrown)
    assert.ok(isFailure(failure, 'too-large'), String(failure))
    assert.is(failure.reason, 'VariablesTooLarge')
    return failure.message
  }

  /** The API, and the names of what is got through it. */
  function noting() {
    const got: string[] = []
    const through = (inner: Kube): Kube => ({
      ...inner,
      get: async (kind, ref, signal) => {
        got.push(ref.name)
        return inner.get(kind, ref, signal)
      },
      as: (identity) => through(inner.as(identity)),
    })
    return { got, kube: through(kube) }
  }

  it('have a mebibyte at most, and what comes after is not read', async () => {
    const { got, kube: over } = noting()
    const words = await refusal(readerWith(16 * MEBIBYTE, over).of(deployment('one', 'a', 'b', 'c', 'd'), 'commit'))
    assert.match(words, /^spec\.variables\.from\[2\]: with Secret c the variables have 1200\d{3} bytes; 1048576 are the most/)
    assert.equal(got, ['a', 'b', 'c'])
    assert.match(await refusal(readInputs(deployment('one', 'd', 'c', 'b'), kube)), /from\[2\]: with Secret b /)
  })

  it('have so much of a namespace in sum, which is free again when a deployment is gone', async () => {
    const reader = readerWith(MEBIBYTE)
    await reader.of(deployment('one', 'a'), 'commit')
    assert.match(
      await refusal(reader.of(deployment('two', 'a'), 'commit')),
      `there is no room for them beside those of the other GitOpsDeployments of namespace ${namespace} (1 MiB at most`,
    )
    assert.is(await reader.learn(deployment('two', 'a')), false)
    reader.drop(keyOf('one'))
    assert.is((await reader.of(deployment('two', 'a'), 'commit')).variables?.values.get('a')?.length, LARGE)
  })

  it('count where they stand in objects, too', async () => {
    const reader = readerWith(1.2 * MEBIBYTE)
    const { variables } = await reader.of(deployment('one', 'a'), 'commit')
    const manifests = (count: number) =>
      Array.from({ length: count }, () => ({ source: 'a.yaml', object: configMap('a', { a: '${a}' }) }))
    const put = async (count: number) => withVariables(manifests(count), variables)
    assert.is((await put(1)).length, 1)
    await refusal(put(3))
    assert.equal((await put(1))[0]?.object.data, { a: 'a'.repeat(LARGE) })
    reader.drop(keyOf('one'))
    const { variables: other } = await reader.of(deployment('two', 'small'), 'commit')
    assert.is(withVariables([{ source: 'a.yaml', object: configMap('a', { a: '${small}' }) }], other).length, 1)
  })

  it('take no more of it however often they are read', async () => {
    const reader = readerWith(MEBIBYTE)
    for (let commit = 0; commit < 5; commit++) await reader.of(deployment('one', 'a'), `commit-${commit}`)
    reader.forget(keyOf('one'))
    await reader.of(deployment('one', 'a'), 'commit-4')
    assert.equal([...(reader.secretsOf(keyOf('one')) ?? [])], ['a'.repeat(LARGE)])
  })

  it('are known to be secret once they have changed, too, and whoever learns them reads them when he needs them', async () => {
    const { got, kube: over } = noting()
    const reader: VariableReader = readerWith(MEBIBYTE, over)
    const small = deployment('small', 'small')
    assert.is(await reader.learn(small), true)
    assert.is(await reader.learn(small), true)
    await kube.patch(Secrets, { name: 'small', namespace }, { data: { small: Buffer.from('after').toString('base64') } })
    assert.is((await reader.of(small, 'commit')).variables?.values.get('small'), 'after')
    await reader.of(small, 'commit')
    assert.equal([...(reader.secretsOf(keyOf('small')) ?? [])].sort(), ['after', 'before'])
    assert.equal(got, ['small', 'small'])
  })
})

describe('variables whose sources change', (it) => {
  it('are read again a second after they were read last, however often those change', async () => {
    const clock = steppedClock()
    let version = 1
    let reads = 0
    const kube = { get: async () => ({ data: { a: String(++reads) } }), as: () => kube } as unknown as Kube // as: nothing else is asked
    const reader = createVariableReader({
      kube,
      clock,
      memory: createMemory({ all: MEBIBYTE, each: MEBIBYTE }),
      versionsOf: () => [String(version)],
    })
    const deployment: GitOpsDeployment = {
      apiVersion: 'managed-gitops.redhat.com/v1alpha1',
      kind: 'GitOpsDeployment',
      metadata: { name: 'shop', namespace: 'team', uid: 'u', generation: 1 },
      spec: {
        source: { repoURL: '', path: '' },
        type: 'automated',
        variables: { from: [{ kind: 'ConfigMap', name: 'size' }] },
      },
    }
    const read = async () => (await reader.of(deployment, 'commit')).variables?.values.get('a')
    assert.equal([await read(), await read()], ['1', '1'])
    version++
    assert.is(await read(), '1')
    await clock.step(1000)
    assert.equal([await read(), await read()], ['2', '2'])
    await clock.step(5000)
    assert.is(await read(), '2')
  })
})

describe('a GitOpsDeployment whose variables change', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage

  it.before(async () => {
    stage = await openStage(cluster)
  })
  it.after(async () => {
    await stage.stop()
    await cluster.close()
  })

  it('follows their ConfigMaps and Secrets without waiting for its interval, from when they are made', async () => {
    const { namespace, git } = stage
    const from: Source[] = [...named('hue'), { kind: 'ConfigMap', name: 'size' }]
    await stage.deploy({ interval: '1h', variables: { from } })
    const commit = await git.push({ 'deploy/one.yaml': configMap('one', { is: '${hue} ${size}' }) })
    await stage.complains('VariablesNotFound')
    await kube.create(Secrets, secretOf(namespace, 'hue', 'red'))
    await kube.create(ConfigMaps, configMap('size', { size: 'small' }, namespace))
    await stage.synced(commit)
    const becomes = (is: string) => eventually(async () => (await stage.configMap('one'))?.data?.is === is)
    await becomes('red small')
    await kube.patch(Secrets, { name: 'hue', namespace }, { data: { hue: Buffer.from('blue').toString('base64') } })
    await becomes('blue small')
    await kube.patch(ConfigMaps, { name: 'size', namespace }, { data: { size: 'large' } })
    await becomes('blue large')
  })
})

describe('a GitOpsDeployment with too many variables', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage

  it.before(async () => {
    stage = await openStage(cluster)
  })
  it.after(async () => {
    await stage.stop()
    await cluster.close()
  })

  it('is told which source is one too many, and goes on without it', async () => {
    const { namespace, git } = stage
    for (const name of ['a', 'b', 'c']) await kube.create(Secrets, secretOf(namespace, name, name.repeat(LARGE)))
    await stage.deploy({ variables: { from: named('a', 'b', 'c') } })
    const commit = await git.push({ 'deploy/one.yaml': configMap('one') })
    const { message } = await stage.complains('VariablesTooLarge')
    assert.match(message, /spec\.variables\.from\[2\]: with Secret c the variables have .* Leave that Secret out/)
    const ref: KubeObject['metadata'] = { name: 'shop', namespace }
    await kube.patch(GitOpsDeployments, ref, { spec: { variables: { from: named('a', 'b') } } })
    await stage.synced(commit)
  })
})
