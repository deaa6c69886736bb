import * as assert from 'uvu/assert'
import { type CoreSecret, type GitOpsDeployment, GitOpsDeployments, Secrets } from '../../../src/api/index.ts'
import { readDecryption } from '../../../src/operator/gitops-deployment/services/decryptions.ts'
import { grant } from '../../support/builders/credentials.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { failureOf } from '../../support/refusal.ts'
import { ageKey, lacksSops, realSops, type Sops } from '../../support/sops.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const DECRYPTION = { provider: 'sops' as const, secretRef: { name: 'sops-keys' } }
const VALUES = ['--encrypted-regex', '^(data|stringData)$']

describe(
  'a GitOpsDeployment with spec.decryption',
  (it) => {
    const cluster = testCluster()
    const { kube } = cluster
    let stage: Stage
    let sops: Sops
    let ours: Awaited<ReturnType<typeof ageKey>>
    let others: Awaited<ReturnType<typeof ageKey>>

    it.before(async () => {
      ;[stage, sops, ours, others] = await Promise.all([openStage(cluster), realSops(), ageKey(), ageKey('hybrid')])
    })
    it.after(async () => {
      await stage.stop()
      await cluster.close()
    })

    const keys = (...texts: string[]): CoreSecret => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'sops-keys', namespace: stage.namespace },
      data: Object.fromEntries(texts.map((text, at) => [`${at}.agekey`, Buffer.from(text).toString('base64')])),
    })
    const setKeys = (...texts: string[]) => kube.apply(Secrets, keys(...texts), { manager: 'test' })
    const secret = (value: string, recipient = ours.recipient) =>
      sops.encrypt(
        'secret.yaml',
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'door' }, stringData: { code: value } },
        ...['--age', recipient],
        ...VALUES,
      )
    const door = async () => {
      const found = await kube.get(Secrets, { name: 'door', namespace: stage.namespace })
      return found && { code: Buffer.from(found.data?.code ?? '', 'base64').toString(), fields: Object.keys(found).toSorted() }
    }

    it('waits for its keys, and applies what they open, without a trace of SOPS', async () => {
      await stage.deploy({ decryption: DECRYPTION, interval: '1h' })
      const commit = await stage.git.push({
        'deploy/secret.yaml': await secret('open sesame'),
        'deploy/one.yaml': configMap('one'),
      })
      const missing = await stage.complains('DecryptionKeysNotFound')
      assert.match(missing.message, /^spec\.decryption\.secretRef: there is no Secret sops-keys in namespace /)
      await setKeys(others.key)
      const foreign = await stage.complains('DecryptionFailed')
      assert.match(
        foreign.message,
        `deploy/secret.yaml: is encrypted for ${ours.recipient}, and Secret sops-keys (spec.decryption.secretRef) has the key of none`,
      )
      assert.is(await stage.configMap('one'), undefined)
      await setKeys(others.key, ours.key)
      await stage.synced(commit)
      assert.equal(await door(), { code: 'open sesame', fields: ['apiVersion', 'data', 'kind', 'metadata', 'type'] })
    })

    it('has no more rights to its keys than its service account', async () => {
      const namespace = await cluster.namespace('without-rights')
      await kube.create(Secrets, { ...keys(ours.key), metadata: { name: 'sops-keys', namespace } })
      const deployment: GitOpsDeployment = {
        apiVersion: 'managed-gitops.redhat.com/v1alpha1',
        kind: 'GitOpsDeployment',
        metadata: { name: 'shop', namespace },
        spec: { source: { repoURL: '', path: '' }, type: 'automated', decryption: DECRYPTION },
      }
      const failure = await failureOf(() => readDecryption(deployment, kube))
      assert.is(failure.reason, 'DecryptionKeysForbidden')
      assert.match(failure.message, /^spec\.decryption\.secretRef: the service account may not read Secret sops-keys: /)
      await grant(kube, namespace, 'default', 'admin')
      await eventually(async () => (await readDecryption(deployment, kube)) !== undefined)
    })

    it('keeps what is there while a file or the keys are broken, and goes on with other keys', async () => {
      const good = await secret('open barley', others.recipient)
      const commit = await stage.git.push({ 'deploy/secret.yaml': good })
      await stage.synced(commit)
      await stage.git.push({ 'deploy/secret.yaml': good.replace('name: door', 'name: gate') })
      const changed = await stage.complains('DecryptionFailed')
      assert.match(changed.message, /^commit [0-9a-f]{12}: deploy\/secret\.yaml: was changed after it was encrypted/)
      assert.is((await door())?.code, 'open barley')

      await setKeys('no key')
      const bad = await stage.complains('DecryptionKeysInvalid')
      assert.match(bad.message, /^Secret sops-keys \(spec\.decryption\.secretRef\): line 1 of "0\.agekey" is no identity of age/)
      await setKeys(others.key)
      await stage.synced(await stage.git.push({ 'deploy/secret.yaml': await secret('open oats', others.recipient) }))
      await eventually(async () => (await door())?.code === 'open oats')
    })

    it('puts what was encrypted into what kustomize generates, and never onto the disk', async () => {
      await setKeys(ours.key)
      const env = await sops.encrypt('door.env', 'CODE=open rye\n', '--age', ours.recipient)
      const file = await sops.encrypt('door.txt', 'knock twice\n', '--age', ours.recipient)
      const commit = await stage.git.push({
        'deploy/kustomization.yaml': {
          namePrefix: 'back-',
          generatorOptions: { disableNameSuffixHash: true },
          resources: ['secret.yaml'],
          secretGenerator: [{ name: 'gate', envs: ['door.env'], files: ['note=door.txt'] }],
        },
        'deploy/secret.yaml': await secret('open corn'),
        'deploy/door.env': env,
        'deploy/door.txt': file,
      })
      await stage.synced(commit)
      const textsOf = async (name: string) => {
        const { data = {} } = (await kube.get(Secrets, { name, namespace: stage.namespace })) ?? {}
        return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
      }
      assert.equal(await textsOf('back-gate'), { CODE: 'open rye', note: 'knock twice\n' })
      assert.equal(await textsOf('back-door'), { code: 'open corn' })
      await stage.synced(await stage.git.push({ 'deploy/secret.yaml': await secret('open oats') }))
    })

    it('says of an encrypted object who would decrypt it where nobody is asked to', async () => {
      await kube.patch(GitOpsDeployments, { name: 'shop', namespace: stage.namespace }, { spec: { decryption: null } })
      await stage.git.push({ 'deploy/secret.yaml': await secret('open wheat'), 'deploy/two.yaml': configMap('two') })
      const { message } = await stage.complains('SyncFailed')
      assert.match(message, /is encrypted with SOPS, and nothing here decrypts it: a GitOpsDeployment does that with/)
      await eventually(() => stage.configMap('two'))
      assert.is((await door())?.code, 'open oats')
    })
  },
  await lacksSops(),
)
