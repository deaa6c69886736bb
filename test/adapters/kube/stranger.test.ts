import { equal, is, match, not } from 'uvu/assert'
import { causesOf, type Kube, kubeFromSecret } from '../../../src/adapters/kube/index.ts'
import { ConfigMaps } from '../../../src/api/index.ts'
import { type Failure, Secret, sayFailure } from '../../../src/std/index.ts'
import { answeringServer, echoingServer } from '../../support/builders/strange-server.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { kubeconfigFor } from '../../support/targets.ts'
import { whyNotFollowed } from './failing-watch.ts'

const INSIDE = 'the-inside-of-another-machine'
/** As long as the tokens of service accounts are. */
const TOKEN = `${'x'.repeat(40)}.${'y'.repeat(400)}.${'z'.repeat(342)}`

const status = (more: object) => JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', ...more })

const refusals: { what: string; http: number; text: string; told: RegExp; code: Failure['code'] }[] = [
  { what: 'a text', http: 403, text: INSIDE, code: 'forbidden', told: /answered HTTP 403$/ },
  {
    what: 'a text and success that is no JSON',
    http: 200,
    text: INSIDE,
    code: 'unavailable',
    told: /something that is not JSON$/,
  },
  { what: 'JSON of another form', http: 500, text: JSON.stringify({ message: INSIDE }), code: 'unavailable', told: /HTTP 500$/ },
  { what: 'an invented reason', http: 404, text: status({ reason: INSIDE }), code: 'not-found', told: /HTTP 404$/ },
  {
    what: 'a message beside a reason of the API',
    http: 403,
    text: status({ reason: 'Forbidden', message: INSIDE, details: { name: INSIDE } }),
    code: 'forbidden',
    told: /HTTP 403 \(Forbidden\)\. Ask it with kubectl for its own words$/,
  },
  {
    what: 'what it holds against fields',
    http: 422,
    text: status({
      reason: 'Invalid',
      message: INSIDE,
      details: {
        causes: [
          { reason: 'FieldValueInvalid', field: 'spec.rules[0].host', message: INSIDE },
          { reason: 'FieldValueInvalid', field: TOKEN, message: INSIDE },
          { reason: 'FieldValueInvalid', field: `no path: ${INSIDE}`, message: INSIDE },
          { reason: 'FieldValueInvalid', field: 7, message: INSIDE },
        ],
      },
    }),
    code: 'invalid',
    told: /HTTP 422 \(Invalid\), at spec\.rules\[0\]\.host\. Ask it/,
  },
  {
    what: 'details of no form',
    http: 409,
    text: status({ reason: 'Conflict', details: [{ causes: INSIDE }] }),
    code: 'conflict',
    told: /Conflict/,
  },
]

describe('what a server that a tenant named says', (it) => {
  const closing: (() => Promise<void>)[] = []
  it.afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })
  const clientOf = (server: { url: string; close(): Promise<void> }, own?: string, skips = true): Kube => {
    const kubeconfig = new Secret(kubeconfigFor(server.url, TOKEN))
    const options = { server: server.url, insecureSkipTLSVerify: skips, reach: { refuseLocal: false, own } }
    const kube = kubeFromSecret(kubeconfig, options)
    closing.push(
      () => kube.close(),
      () => server.close(),
    )
    return kube
  }
  const answering = (http: number, text: string) =>
    answeringServer((_, response) => response.writeHead(http, { 'content-type': 'application/json' }).end(text))

  for (const { what, http, text, told, code } of refusals)
    it(`is not shown: ${what}`, async () => {
      const kube = clientOf(await answering(http, text))
      const failure = await failureOf(() => kube.get(ConfigMaps, { name: 'x', namespace: 'y' }))
      is(failure.code, code)
      match(sayFailure(failure), told)
      not.match(`${sayFailure(failure)} ${failure.reason}`, INSIDE)
      not.match(sayFailure(failure), 'zzzz')
    })

  it('still tells which fields others hold, and not in whose name', async () => {
    const fields = [
      '.spec.template.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"]',
      '.metadata.finalizers[="a/b"]',
    ]
    const causes = fields.map((field) => ({ reason: 'FieldManagerConflict', field, message: `conflict with "${INSIDE}"` }))
    const kube = clientOf(await answering(409, status({ reason: 'Conflict', details: { causes } })))
    const failure = await failureOf(() => kube.get(ConfigMaps, { name: 'x', namespace: 'y' }))
    equal(
      causesOf(failure),
      fields.map((field) => ({ reason: 'FieldManagerConflict', field, message: '' })),
    )
  })

  it('is not shown, though it is the caller’s own token', async () => {
    const kube = clientOf(await echoingServer(418))
    const failure = await failureOf(() => kube.read('/api'))
    not.match(`${sayFailure(failure)} ${failure.reason}`, /bearer|x{40}/i)
  })

  it('is not shown of a watch', async () => {
    const error = JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 403, reason: 'Forbidden', message: INSIDE } })
    const server = await answeringServer(({ url = '' }, response) => {
      const page = { metadata: { resourceVersion: '7' }, items: [] }
      response.end(url.includes('watch=true') ? `${error}\n` : JSON.stringify(page))
    })
    const { code, message } = await whyNotFollowed(clientOf(server))
    equal([code, message], ['forbidden', 'watch of configmaps: the API server answered HTTP 403 (Forbidden)'])
  })

  it('is told by a code where there is no answer, for a certificate says whose it is', async () => {
    const kube = clientOf(await answering(200, '{}'), undefined, false)
    const failure = await failureOf(() => kube.read('/api'))
    match(failure.message, /the certificate of https:\S+ is not trusted: [A-Z_]+$/)
  })

  it('is shown where it is this installation’s own API', async () => {
    const server = await answering(403, status({ reason: 'Forbidden', message: 'exceeded quota: compute' }))
    const failure = await failureOf(() => clientOf(server, server.url).get(ConfigMaps, { name: 'x', namespace: 'y' }))
    is(failure.message, 'ConfigMap y/x: exceeded quota: compute')
  })
})
