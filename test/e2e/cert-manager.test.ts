import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { Secrets } from '../../src/api/index.ts'
import { certificateOf, keeping, textsOf } from '../certificates/stage.ts'
import { berth } from '../cli/berth.ts'
import { kubectl } from '../support/builders/snapshots.ts'
import { type OwnControlPlane, ownControlPlane } from '../support/control-plane.ts'
import { buildGo, isBuilt, lacksGo, startServing } from '../support/go-program.ts'
import { describe } from '../support/suite.ts'
import { apply, eventually } from '../support/verbs.ts'

const SOURCE = join(import.meta.dirname, '../support/cert-manager')
const namespace = 'berth-system'

const VALUES = `
image: registry.example.com/berth:1
kas:
  names: [kas.example.com, 192.0.2.7]
proxy:
  url: https://sign-in.w.example.com
  oidcIssuer: https://id.example.com
  oidcClientId: berth
  certificateNames: ['*.w.example.com']
`
/** One of the namespace for kas, one of the cluster for the proxy. */
const WITH_ISSUERS = VALUES.replace('  names:', '  certificateIssuer: { name: own, kind: Issuer }\n  names:').replace(
  '  certificateNames:',
  '  certificateIssuer: { name: own }\n  certificateNames:',
)

/** What signs by an authority of somebody's own. */
const issuer = (name: string, kind = 'Issuer') => `
apiVersion: cert-manager.io/v1
kind: ${kind}
metadata: { name: ${name}${kind === 'Issuer' ? `, namespace: ${namespace}` : ''} }
spec: { ca: { secretName: own-authority } }
`

/** That authority. */
const AUTHORITY = `
{ apiVersion: cert-manager.io/v1, kind: Issuer, metadata: { name: self, namespace: ${namespace} }, spec: { selfSigned: {} } }
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: { name: own, namespace: ${namespace} }
spec: { isCA: true, commonName: own, secretName: own-authority, issuerRef: { name: self } }
`

/** As the components of cert-manager tell the program. */
const ISSUERS = { kasIssuer: 'cert-manager', proxyIssuer: 'cert-manager' }

const leaveOut =
  process.env.TEST_NODE === 'make' || isBuilt(SOURCE)
    ? await lacksGo(SOURCE)
    : 'cert-manager is not built yet: `npm test -- e2e` does that, once'

describe(
  'cert-manager',
  (it) => {
    let plane: OwnControlPlane
    let stopManager: () => Promise<void>
    const call = async (parameters: string[], input = '') => {
      const running = promisify(execFile)(await kubectl(), ['--kubeconfig', plane.kubeconfig, ...parameters], {
        maxBuffer: 2 ** 26,
      })
      running.child.stdin?.end(input)
      return running
    }
    const install = async (values: string) => {
      const { stdout } = await berth(['install', '--values', '-'], { env: { BERTH_KUBECTL: await kubectl() }, input: values })
      await call(['apply', '--server-side', '-f', '-'], stdout)
    }
    const certificate = (name: string) => certificateOf(plane.kube, { namespace, name })
    /** The program runs until all is well, and gives its log. */
    const keep = async (flags: { kasIssuer?: string; proxyIssuer?: string }, meanwhile?: () => Promise<void>) => {
      const names = { kasNames: 'kas.example.com,192.0.2.7', proxyNames: '*.w.example.com' }
      const lines = await keeping({ ...names, ...flags, kubeconfig: plane.kubeconfig }, async (readiness) => {
        await meanwhile?.()
        await eventually(async () => (await readiness()) === '200 ok')
      })
      return lines.join('\n')
    }

    it.before(async () => {
      const program = await buildGo(SOURCE)
      plane = await ownControlPlane({ nodes: 0 })
      const where = ['list', '-m', '-f', '{{.Dir}}', 'github.com/cert-manager/cert-manager']
      const { stdout } = await promisify(execFile)('go', where, { cwd: SOURCE })
      await call(['apply', '--server-side', '-f', join(stdout.trim(), 'deploy', 'crds')])
      await call(['wait', '--for=condition=Established', 'crd', '--all'])
      const { stop } = await startServing(program, [plane.kubeconfig, namespace], 1)
      stopManager = stop
    })
    it.after(async () => {
      await stopManager?.()
      await plane?.remove()
    })

    it('takes the certificates of kas and the proxy over from Berth, with all their names', async () => {
      await install(VALUES)
      await keep({})
      const before = await certificate('kas-tls')
      assert.is(before.issuer, 'CN=berth-authority')
      await install(WITH_ISSUERS)
      await apply(plane.kube, AUTHORITY)
      await apply(plane.kube, issuer('own'))
      await apply(plane.kube, issuer('own', 'ClusterIssuer'))
      await keep(ISSUERS)
      const [authority, kas, proxy] = [
        await certificate('own-authority'),
        await certificate('kas-tls'),
        await certificate('berth-proxy-tls'),
      ]
      assert.is((await textsOf(plane.kube, { namespace, name: 'kas-tls' }))['ca.crt'], authority.toString())
      assert.ok(kas.verify(authority.publicKey) && proxy.verify(authority.publicKey))
      for (const name of before.subjectAltName?.split(', ') ?? []) assert.match(kas.subjectAltName ?? '', name)
      assert.ok(kas.checkHost('kas.example.com') && kas.checkIP('192.0.2.7'))
      assert.ok(proxy.checkHost('8080-web-abc.w.example.com'))
    })

    it('is waited for by the program that keeps certificates, which leaves its own alone', async () => {
      const before = (await certificate('kas-tls')).toString()
      await keep(ISSUERS)
      assert.is((await certificate('kas-tls')).toString(), before)
      await plane.kube.delete(Secrets, { namespace, name: 'kas-private-api' })
      await call([
        'patch',
        'certificate',
        'kas',
        '-n',
        namespace,
        '--type=merge',
        '-p',
        '{"spec":{"issuerRef":{"name":"later"}}}',
      ])
      await plane.kube.delete(Secrets, { namespace, name: 'kas-tls' })
      const log = await keep(ISSUERS, async () => {
        await eventually(async () => (await textsOf(plane.kube, { namespace, name: 'kas-private-api' })).secret !== undefined)
        await apply(plane.kube, issuer('later'))
      })
      assert.match(log, 'Secret kas-tls lacks tls.crt, tls.key, ca.crt, which pods wait for')
      assert.is((await certificate('kas-tls')).issuer, 'CN=own')
    })
  },
  leaveOut,
)
