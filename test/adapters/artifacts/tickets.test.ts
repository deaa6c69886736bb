import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { equal, is, match } from 'uvu/assert'
import { Secret } from '../../../src/std/index.ts'
import { fluxLayer } from '../../support/artifacts.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { artifactStage } from './stage.ts'

const hashOf = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** A registry that lets in whoever has a ticket of its office, as those of GitHub, GitLab and Docker do. */
async function registryWithOffice() {
  const asked: string[] = []
  const layer = await fluxLayer({ 'a.yaml': 'a: 1\n' })
  const pages = new Map<string, Uint8Array>([[`/v2/team/shop/blobs/${hashOf(layer.bytes)}`, layer.bytes]])
  const described = { mediaType: layer.mediaType, digest: hashOf(layer.bytes), size: layer.bytes.length }
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, layers: [described] }))
  for (const reference of ['v1', hashOf(manifest)]) pages.set(`/v2/team/shop/manifests/${reference}`, manifest)
  let realm = ''
  let lasts = 300
  let leads = ''
  const answer = ({ url = '', headers }: IncomingMessage): { status: number; body?: Uint8Array | string; headers?: object } => {
    asked.push(url)
    const { pathname, searchParams } = new URL(url, realm)
    if (pathname === '/office') {
      const known = headers.authorization === `Basic ${Buffer.from('ada:secret').toString('base64')}`
      if (!known || searchParams.get('scope') !== 'repository:team/shop:pull') return { status: 401 }
      return { status: 200, body: JSON.stringify({ token: 'ticket', expires_in: lasts }) }
    }
    if (headers.authorization !== 'Bearer ticket') {
      const challenge = `Bearer realm="${realm}",service="registry"`
      return { status: 401, headers: { 'www-authenticate': challenge } }
    }
    if (leads && pathname.includes('/blobs/')) return { status: 307, headers: { location: leads } }
    const page = pages.get(pathname)
    return page ? { status: 200, body: page } : { status: 404 }
  }
  const server = createServer((request, response) => {
    const { status, body, headers = {} } = answer(request)
    response.writeHead(status, { ...headers }).end(request.method === 'HEAD' ? undefined : body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  realm = `http://${host}/office`
  return {
    url: `oci://${host}/team/shop`,
    asked,
    pages,
    offices: () => asked.filter((url) => url.startsWith('/office')).length,
    setStay: (seconds: number) => {
      lasts = seconds
    },
    setRealm: (url: string) => {
      realm = url
    },
    leadOn: (url: string) => {
      leads = url
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

describe('tickets of a registry', (it) => {
  let stage: Awaited<ReturnType<typeof artifactStage>>
  let registry: Awaited<ReturnType<typeof registryWithOffice>>
  const credential = { username: 'ada', password: new Secret('secret') }
  const V1 = { kind: 'tag', name: 'v1' } as const
  it.beforeEach(async () => {
    stage = await artifactStage()
    registry = await registryWithOffice()
  })
  it.afterEach(() => {
    registry.close()
    stage.remove()
  })

  it('are fetched once, with the credential, for as long as they last', async () => {
    const { texts } = await stage.take(registry.url, V1, 'oci', { credential })
    equal(texts, { 'a.yaml': 'a: 1\n' })
    await stage.take(registry.url, V1, 'oci', { credential })
    is(registry.offices(), 1)
  })

  it('are fetched anew when they have run out', async () => {
    registry.setStay(0)
    await stage.find(registry.url, V1, 'oci', { credential })
    await stage.find(registry.url, V1, 'oci', { credential })
    is(registry.offices() > 1, true)
  })

  it('of one are not used for another', async () => {
    await stage.find(registry.url, V1, 'oci', { credential, owner: 'team-a/pull' })
    const failure = await failureOf(() => stage.find(registry.url, V1, 'oci', { owner: 'team-b/pull' }))
    is(failure.reason, 'AuthenticationFailed')
  })

  it('are not asked for where nothing may be asked', async () => {
    registry.setRealm('http://169.254.169.254/office')
    const failure = await failureOf(() => stage.find(registry.url, V1, 'oci', { credential }))
    is(failure.reason, 'AddressNotAllowed')
    registry.setRealm('ftp://127.0.0.1/office')
    match((await failureOf(() => stage.find(registry.url, V1, 'oci', { credential }))).message, /where nothing is fetched from/)
  })

  it('are not asked for at the word of whoever the registry leads on to', async () => {
    const [shown, other] = [[] as (string | undefined)[], createServer()]
    other.on('request', ({ headers }, response) => {
      shown.push(headers.authorization)
      const challenge = `Bearer realm="http://127.0.0.1:${(other.address() as AddressInfo).port}/office"`
      response.writeHead(401, { 'www-authenticate': challenge }).end()
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    registry.leadOn(`http://127.0.0.1:${(other.address() as AddressInfo).port}/blob`)
    const failure = await failureOf(() => stage.take(registry.url, V1, 'oci', { credential }))
    is(failure.reason, 'AuthenticationFailed')
    equal(shown, [undefined])
    other.closeAllConnections()
    other.close()
  })

  it('let nothing in that is not what its digest names', async () => {
    for (const [path, bytes] of registry.pages)
      if (path.includes('/blobs/')) registry.pages.set(path, Buffer.concat([bytes, bytes]))
    is((await failureOf(() => stage.take(registry.url, V1, 'oci', { credential }))).reason, 'DigestMismatch')
    for (const path of registry.pages.keys())
      if (path.includes('sha256:')) registry.pages.set(path, Buffer.from('{"layers": []}'))
    const failure = await failureOf(() => stage.take(registry.url, V1, 'oci', { credential }))
    is(failure.reason, 'DigestMismatch')
  })
})
