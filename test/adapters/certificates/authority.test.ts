import { X509Certificate } from 'node:crypto'
import { createServer, get } from 'node:https'
import type { AddressInfo } from 'node:net'
import * as assert from 'uvu/assert'
import { createAuthority, issueCertificate } from '../../../src/adapters/certificates/index.ts'
import { hours, systemClock } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

const VALIDITY = { clock: systemClock, lifetime: hours(1) }

describe('an authority of our own', (it) => {
  it('issues what TLS accepts from it, and refuses from another authority of the same name', async () => {
    const [ours, other] = [await createAuthority('berth-test', VALIDITY), await createAuthority('berth-test', VALIDITY)]
    const { certificate, key } = await issueCertificate(
      ours,
      { name: 'server', addresses: ['127.0.0.1'], usages: ['server'] },
      VALIDITY,
    )
    const server = createServer({ cert: certificate, key }, (_, response) => response.end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const ask = (ca: string, servername?: string) =>
      new Promise<string>((resolve) => {
        const name = servername === undefined ? {} : { servername }
        const request = get({ host: '127.0.0.1', port, ca, agent: false, ...name }, (response) => {
          response.resume()
          resolve(String(response.statusCode))
        })
        request.on('error', (thrown) => resolve('code' in thrown ? String(thrown.code) : thrown.message))
      })
    assert.is(await ask(ours.certificate), '200')
    assert.is.not(await ask(other.certificate), '200')
    assert.is(await ask(ours.certificate, 'elsewhere.example.com'), 'ERR_TLS_CERT_ALTNAME_INVALID')
    server.close()
  })

  it('writes names, addresses, groups and usages as they were asked for', async () => {
    const authority = await createAuthority('berth-test', VALIDITY)
    const request = {
      name: 'somebody',
      organizations: ['system:masters'],
      dnsNames: ['kubernetes.default.svc'],
      addresses: ['10.96.0.1', '::1'],
      usages: ['client'] as const,
    }
    const issued = new X509Certificate((await issueCertificate(authority, request, VALIDITY)).certificate)
    const issuer = new X509Certificate(authority.certificate)
    assert.ok(issued.checkIssued(issuer) && issued.verify(issuer.publicKey))
    assert.equal([issuer.ca, issued.ca], [true, false])
    assert.match(issued.subject, 'O=system:masters')
    assert.match(issued.subject, 'CN=somebody')
    assert.is(issued.subjectAltName, 'DNS:kubernetes.default.svc, IP Address:10.96.0.1, IP Address:0:0:0:0:0:0:0:1')
    assert.equal(issued.keyUsage, ['1.3.6.1.5.5.7.3.2'])
    const validFor = Date.parse(issued.validTo) - systemClock.now()
    assert.ok(validFor > 0 && validFor <= hours(1))
  })
})
