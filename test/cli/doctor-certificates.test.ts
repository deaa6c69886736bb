import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { createAuthority, issueCertificate } from '../../src/adapters/certificates/index.ts'
import type { AnyObject } from '../../src/api/index.ts'
import { hours, minutes, systemClock } from '../../src/std/index.ts'
import { deployer } from '../support/builders/credentials.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { apply } from '../support/verbs.ts'
import { berth, findingsIn, ROOT } from './berth.ts'

const days = (count: number) => hours(24 * count)

describe('the doctor, of certificates', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  /** A namespace with the Deployments of these programs, as they are shipped. */
  const installed = async (...programs: string[]) => {
    const namespace = await cluster.namespace('doctor')
    for (const program of programs) {
      const shipped: AnyObject = parse(await readFile(join(ROOT, 'deploy', program, 'program', 'deployment.yaml'), 'utf8'))
      await apply(cluster.kube, { ...shipped, metadata: { ...shipped.metadata, namespace } })
    }
    return namespace
  }
  const findings = async (namespace: string, kubeconfig = cluster.kubeconfig): Promise<string[]> => {
    const { stdout } = await berth(['doctor', '--kubeconfig', kubeconfig, '-o', 'json', '--namespace', namespace])
    return findingsIn(stdout, 'certificates').map(({ mark, message }) => `${mark}: ${message}`)
  }
  /** Gives the days on which the certificate and its authority end. */
  const put = async (
    where: { namespace: string; name: string },
    { by = 'berth-authority', lifetime, authority: years }: { by?: string; lifetime: number; authority: number },
  ) => {
    const authority = await createAuthority(by, { clock: systemClock, lifetime: years })
    const { certificate } = await issueCertificate(
      authority,
      { name: 'kas', usages: ['server'] },
      { clock: systemClock, lifetime },
    )
    const stringData = { 'tls.crt': certificate, 'ca.crt': authority.certificate }
    await apply(cluster.kube, { apiVersion: 'v1', kind: 'Secret', metadata: where, stringData } as AnyObject)
    return [certificate, authority.certificate].map((pem) => new X509Certificate(pem).validToDate.toISOString().slice(0, 10))
  }

  it('says until when that of kas is good, and fails where there is none or its time is over', async () => {
    const namespace = await installed('kas')
    const kas = { namespace, name: 'kas-tls' }
    assert.equal(await findings(namespace), [`fail: there is no certificate in Secret ${namespace}/kas-tls`])
    const [day] = await put(kas, { lifetime: days(90), authority: days(400) })
    assert.equal(await findings(namespace), [`ok: the certificate in ${namespace}/kas-tls is good until ${day}`])
    const [soon, authorityDay] = await put(kas, { lifetime: days(6), authority: days(300) })
    assert.equal(await findings(namespace), [
      `warn: the certificate in ${namespace}/kas-tls is good until ${soon}`,
      `warn: the authority in ${namespace}/kas-tls is good until ${authorityDay}`,
    ])
    const [past, ended] = await put(kas, { lifetime: -minutes(1), authority: -minutes(1) })
    assert.equal(await findings(namespace), [
      `fail: the certificate in ${namespace}/kas-tls was good until ${past}`,
      `fail: the authority in ${namespace}/kas-tls was good until ${ended}`,
    ])
  })

  it('looks at that of the proxy, and at the authorities of others as at certificates', async () => {
    const namespace = await installed('proxy')
    const proxy = { namespace, name: 'berth-proxy-tls' }
    const [day] = await put(proxy, { by: 'somebody', lifetime: days(30), authority: days(60) })
    assert.equal(await findings(namespace), [`ok: the certificate in ${namespace}/berth-proxy-tls is good until ${day}`])
    const [, end] = await put(proxy, { by: 'somebody', lifetime: days(30), authority: days(6) })
    assert.is((await findings(namespace))[1], `warn: the authority in ${namespace}/berth-proxy-tls is good until ${end}`)
  })

  it('says that it may not look', async () => {
    const namespace = await installed('kas')
    const { kubeconfig } = await deployer(cluster.kube, namespace, { role: 'view' })
    const folder = await mkdtemp(join(tmpdir(), 'berth-doctor-'))
    await writeFile(join(folder, 'kubeconfig'), kubeconfig)
    assert.equal(await findings(namespace, join(folder, 'kubeconfig')), [`warn: Secret ${namespace}/kas-tls could not be read`])
    await rm(folder, { recursive: true })
  })
})
