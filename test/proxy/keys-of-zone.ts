import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority, issueCertificate, type KeyAndCertificate } from '../../src/adapters/certificates/index.ts'
import { hours, systemClock } from '../../src/std/index.ts'
import { ZONE } from './running-proxy.ts'

/** A certificate for all hosts of the zone. */
export async function keysOfZone(): Promise<KeyAndCertificate> {
  const validity = { clock: systemClock, lifetime: hours(1) }
  const request = { name: ZONE, dnsNames: [`*.${ZONE}`], usages: ['server'] as const }
  return issueCertificate(await createAuthority('test', validity), request, validity)
}

/** Flags of a proxy that ends TLS itself; its stage removes their folder. */
export async function tlsFlags({ certificate, key }: KeyAndCertificate): Promise<{ tlsCert: string; tlsKey: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-zone-'))
  const [tlsCert, tlsKey] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  await writeFile(tlsCert, certificate)
  await writeFile(tlsKey, key)
  return { tlsCert, tlsKey }
}
