import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parseConfig } from '../../src/certificates/index.ts'
import { deployer } from '../support/builders/credentials.ts'
import { failureOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { certificateStage, keeping } from './stage.ts'

describe('the program that keeps certificates', (it) => {
  const stage = certificateStage()
  it.after(() => stage.close())

  it('is ready when all are good, says what it did, and waits for its rights', async () => {
    const namespace = await stage.namespace('certificates')
    const account = await deployer(stage.kube, namespace, { name: 'berth-certificates' })
    const folder = await mkdtemp(join(tmpdir(), 'berth-certificates-'))
    const kubeconfig = join(folder, 'kubeconfig')
    await writeFile(kubeconfig, account.kubeconfig)
    const flags = { namespace, kasNames: 'kas.example.com', proxyNames: '*.w.example.com', kubeconfig }
    const lines = await keeping(flags, async (readiness) => {
      await eventually(async () => /^503 .*berth-authority.* forbidden/.test(await readiness()))
      await stage.installed(namespace)
      await eventually(async () => (await readiness()) === '200 ok')
    })
    await rm(folder, { recursive: true })
    const kas = await stage.certificate(namespace, 'kas-tls')
    for (const name of [`kas.${namespace}.svc`, `kas-peers.${namespace}.svc`, 'kas.example.com'])
      assert.ok(kas.checkHost(name), name)
    assert.ok((await stage.certificate(namespace, 'berth-proxy-tls')).checkHost('a.w.example.com'))
    const { message, secret, validUntil } = lines.map((line) => JSON.parse(line)).find((line) => line.secret === 'kas-tls')
    assert.equal([message, secret, validUntil], ['A Secret was made', 'kas-tls', kas.validToDate.toISOString()])
    assert.not.match(lines.join(''), 'PRIVATE KEY')
  })

  it('refuses names that are none', async () => {
    for (const name of ['https://kas.example.com', 'a.*.example.com', '-a', 'kas.example.com:8150']) {
      const failure = await failureOf(async () => parseConfig({ kasNames: `kas.example.com,${name}` }, {}))
      assert.is(failure.message, `--kas-names is "${name}"`)
      assert.match(failure.remedy ?? '', /such as kas.example.com,192.0.2.7/)
    }
  })
})
