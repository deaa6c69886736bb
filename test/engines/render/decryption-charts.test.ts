import * as assert from 'uvu/assert'
import { readKeys } from '../../../src/adapters/sops/index.ts'
import { createDecryption, createRenderer, type Render } from '../../../src/engines/render/index.ts'
import { kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { helm, lacksHelm } from '../../support/helm.ts'
import { refusalOf } from '../../support/refusal.ts'
import { ageKey, lacksSops, realSops, type Sops } from '../../support/sops.ts'
import { describe } from '../../support/suite.ts'

describe(
  'encrypted templates of a chart',
  (it) => {
    let render: Render
    let sops: Sops
    let age: Awaited<ReturnType<typeof ageKey>>

    it.before(async () => {
      render = createRenderer({ kubectl: await kubectl(), helm: await helm() })
      ;[sops, age] = await Promise.all([realSops(), ageKey()])
    })

    const decrypted = async (template: string) => {
      const chart = { 'shop/Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n', 'shop/templates/secret.yaml': template }
      const settings = { releaseName: 'web', namespace: 'team-a', valueFiles: [], values: [], skipCrds: false, isExpected: true }
      const capabilities = async () => ({ kubeVersion: 'v1.36.0', apiVersions: [] })
      const manifests = await render(snapshot(chart), 'shop', { chart: { ...settings, capabilities } })
      return createDecryption(await readKeys({ 'a.agekey': age.key }, 'Secret sops-keys')).open(manifests)
    }

    it('are decrypted where they are what was committed, and refused by name where they are made up', async () => {
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one' }, stringData: { a: 'open sesame' } }
      const text = await sops.encrypt('a.yaml', secret, '--age', age.recipient, '--encrypted-regex', 'stringData')
      const [one] = await decrypted(text)
      assert.is(one?.problem, undefined)
      assert.equal(one?.object.data, { a: Buffer.from('open sesame').toString('base64') })
      assert.is(one?.object.sops, undefined)
      assert.match(
        await refusalOf(decrypted(text.replace('name: one', 'name: {{ .Release.Name }}'))),
        /^in what helm made of shop\/templates\/secret\.yaml: an object is encrypted with SOPS, and no file of the commit has what/,
      )
      assert.match(
        await refusalOf(decrypted(text.replace('name: one', 'name: two'))),
        /^shop\/templates\/secret\.yaml: was changed after it was encrypted/,
      )
    })
  },
  (await lacksSops()) ?? (await lacksHelm()),
)
