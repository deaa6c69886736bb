import * as assert from 'uvu/assert'
import { createRenderer, type Render, type Snapshot } from '../../../src/engines/render/index.ts'
import { configMap, kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { refusalOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'

const overlay = (files: Record<string, object>) =>
  snapshot({
    'shop/base/kustomization.yaml': { resources: ['settings.yaml'] },
    'shop/base/settings.yaml': configMap('settings'),
    'shop/overlays/dev/kustomization.yaml': { resources: ['../../base'] },
    ...files,
  })

describe('rendering: what is told of files', (it) => {
  let render: Render
  it.before(async () => {
    render = createRenderer({ kubectl: await kubectl() })
  })

  it('names the file of a field that kustomize does not know, and of all else the folder', async () => {
    const misspelt = (folder: string) =>
      overlay({ [`shop/${folder}/kustomization.yaml`]: { resources: [], commonLables: { a: 'b' } } })
    const table: [Snapshot, RegExp][] = [
      [
        overlay({ 'shop/base/kustomization.yaml': { resources: ['settings.yaml'], commonLables: { a: 'b' } } }),
        /^shop\/base\/kustomization\.yaml: kustomize: .*unknown field "commonLables"/,
      ],
      [misspelt('overlays/dev'), /^shop\/overlays\/dev\/kustomization\.yaml: kustomize: .*unknown field "commonLables"/],
      [
        overlay({
          'shop/base/settings.yaml': configMap('settings'),
          'shop/base/kustomization.yaml': { resources: ['settings.yaml', 'settings.yaml'] },
        }),
        /^shop\/overlays\/dev: kustomize: /,
      ],
    ]
    for (const [files, said] of table) assert.match(await refusalOf(render(files, 'shop/overlays/dev')), said)
  })

  it('says of a Helm chart, and of what SOPS has encrypted, that it is one', async () => {
    const chart = snapshot({
      'shop/Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
      'shop/templates/a.yaml': 'a: {{ .Values.a }}\n',
      'shop/values.yaml': 'a: b\n',
    })
    assert.match(
      await refusalOf(render(chart, 'shop')),
      'shop/Chart.yaml: is that of a Helm chart, and a chart is rendered only where the path is its own folder',
    )
    assert.is((await render(snapshot({ 'Chart.yaml': configMap('a') }), '.')).length, 1)
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { a: 'ENC[…]' } }
    const [found] = await render(snapshot({ 's.yaml': { ...secret, sops: { mac: 'ENC[…]' } } }), '.')
    assert.match(found?.problem ?? '', /^is encrypted with SOPS/)
  })
})
