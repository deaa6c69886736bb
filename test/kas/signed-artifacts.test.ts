import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, ok } from 'uvu/assert'
import type { WantedFiles } from '../../src/adapters/grpc/index.ts'
import { type GitProject, GitProjects, isTrue } from '../../src/api/index.ts'
import { fluxLayer, pushArtifact } from '../support/artifacts.ts'
import { testCluster } from '../support/control-plane.ts'
import { cosignKey, pushBundles, pushSimple } from '../support/cosign.ts'
import { failureOf } from '../support/refusal.ts'
import { lacksRegistry, type Registry, serveRegistry } from '../support/registry.ts'
import { describe, type It } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { createAgent, createProject, createSecret, type RunningKas, runKas } from './running-kas.ts'

interface CoreEvent {
  type: string
  reason: string
  message: string
  involvedObject: { name: string }
}

const never = new AbortController().signal

function signedArtifacts(it: It) {
  const cluster = testCluster()
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'berth-signed-')))
  const [ann, bob] = [cosignKey(), cosignKey()]
  let namespace = ''
  let registry: Registry
  let kas: RunningKas
  let agent = ''
  const start = () => runKas({ kubeconfig: cluster.kubeconfig, namespace })
  it.before(async () => {
    namespace = await cluster.namespace('kas')
    registry = await serveRegistry(join(folder, 'registry'))
    agent = await createAgent(cluster.kube, namespace, 'home')
    await createSecret(cluster.kube, namespace, 'ann', { 'cosign.pub': ann.public })
    kas = await start()
  })
  it.after(async () => {
    await kas.stop()
    await registry.stop()
    rmSync(folder, { recursive: true, force: true })
    await cluster.close()
  })

  const pushing = (repository: string) => {
    const place = { registry: `http://${registry.host}`, repository }
    return {
      push: async (text: string, tag = 'main') => pushArtifact({ ...place, tag }, [await fluxLayer({ a: text })]),
      sign: (digest: string, by = ann) => pushBundles(place, digest, [by.bundle(digest)]),
      signAsBefore: (digest: string, by = ann) => pushSimple(place, digest, [by.simple(digest)]),
    }
  }
  const create = async (name: string, { keys = 'ann' } = {}) => {
    const url = `oci://${registry.host}/${name}`
    await createProject(cluster.kube, namespace, name, { url, pollInterval: '1s', verify: { secretRef: { name: keys } } })
    await readyWith(name, () => undefined)
  }
  const readyWith = (name: string, check: (status: GitProject['status']) => void) =>
    expectObject(cluster.kube, GitProjects, { name, namespace }, ({ status }) => {
      ok(isTrue(status?.conditions, 'Ready'), JSON.stringify(status?.conditions))
      check(status)
    })
  const wanted = (name: string, ref: WantedFiles['ref'] = { kind: 'tag', name: 'main' }): WantedFiles => ({
    projectId: `${namespace}/${name}`,
    ref,
    globs: ['**'],
  })
  const served = async (want: WantedFiles) => (await kas.stream(agent).fetchObjects(want, never))?.commitId
  /** Asks until it is that one: a signature is pushed after what it signs. */
  const willServe = (want: WantedFiles, digest: string) =>
    eventually(async () => (await served(want).catch(() => undefined)) === digest)

  it('serve one that is signed, and say by whom', async () => {
    const { push, sign } = pushing('signed')
    const digest = await push('1')
    await sign(digest)
    await create('signed')
    is(await served(wanted('signed')), digest)
    await readyWith('signed', (status) => match(status?.verified?.[0]?.signer ?? '', /^cosign \(ec SHA256:/))
    const second = await push('2')
    await sign(second)
    await willServe(wanted('signed'), second)
    is(await served(wanted('signed', { kind: 'commit', name: digest })), digest)
  })

  it('refuse one that is not, go on with the one before, and take it as soon as it is signed', async () => {
    const { push, signAsBefore, sign } = pushing('unsigned')
    const first = await push('1')
    await signAsBefore(first)
    await create('unsigned')
    is(await served(wanted('unsigned')), first)
    const second = await push('2')
    const event = await eventually(async () => {
      is(await served(wanted('unsigned')), first)
      const { items } = await cluster.kube.read<{ items: CoreEvent[] }>(`/api/v1/namespaces/${namespace}/events`)
      return items.find(({ involvedObject, reason }) => involvedObject.name === 'unsigned' && reason === 'ArtifactNotSigned')
    })
    equal([event.type, event.message.includes(`sha256:${second} is not signed (refs/tags/main)`)], ['Warning', true])
    await sign(second, bob)
    await eventually(
      async () =>
        (await failureOf(() => kas.stream(agent).fetchObjects(wanted('unsigned'), never, first))).reason ===
        'ArtifactSignerNotAllowed',
    )
    await signAsBefore(second)
    await willServe(wanted('unsigned'), second)
  })

  it('keep what is in effect over a restart that has lost the disk', async () => {
    const { push, sign } = pushing('restart')
    const first = await push('1')
    await sign(first)
    await create('restart')
    is(await served(wanted('restart')), first)
    await readyWith('restart', (status) => is(status?.verified?.[0]?.commit, first))
    await push('2')
    await kas.stop()
    kas = await start()
    is(await served(wanted('restart')), first)
  })

  it('are those of a chart in a registry as well', async () => {
    const { push, sign } = pushing('charts/shop')
    const digest = await push('1', '1.0.0')
    await create('charts')
    const want = wanted('charts', { kind: 'chart', name: 'shop@1.x' })
    is((await failureOf(() => kas.stream(agent).fetchObjects(want, never))).reason, 'ArtifactNotSigned')
    await sign(digest)
    await willServe(want, digest)
  })

  it('say what is wrong with the keys', async () => {
    await createSecret(cluster.kube, namespace, 'ssh', { 'ann.pub': 'ssh-ed25519 AAAA ann' })
    const { push } = pushing('keys')
    await push('1')
    await create('keys', { keys: 'ssh' })
    const { reason, message } = await failureOf(() => kas.stream(agent).fetchObjects(wanted('keys'), never))
    is(reason, 'SecretInvalid')
    match(message, `Secret ${namespace}/ssh: its ann.pub: it is no public key in PEM`)
  })
}

describe('kas: signed artifacts', signedArtifacts, await lacksRegistry())
