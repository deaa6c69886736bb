import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { is, match } from 'uvu/assert'
import {
  type AnyObject,
  CustomResourceDefinitions,
  DeploymentTargetClaims,
  DeploymentTargets,
  type GitOpsDeployment,
  GitOpsDeployments,
  type Kind,
  Secrets,
} from '../../../src/api/index.ts'
import { deployer } from '../../support/builders/credentials.ts'
import { boundTo } from '../../support/builders/environments.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { claim, kubeconfigSecret, target } from '../../support/targets.ts'
import { apply, eventually } from '../../support/verbs.ts'
import { counts, entry, previewsIn } from './stage.ts'

/** The shape that clusters with the Gateway API have. */
const HTTP_ROUTES = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: httproutes.gateway.networking.k8s.io
  annotations: { api-approved.kubernetes.io: 'https://github.com/kubernetes-sigs/gateway-api/pull/2997' }
spec:
  group: gateway.networking.k8s.io
  names: { kind: HTTPRoute, listKind: HTTPRouteList, plural: httproutes, singular: httproute }
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true }
`

const Ingresses: Kind<AnyObject> = {
  ...{ group: 'networking.k8s.io', version: 'v1', kind: 'Ingress', plural: 'ingresses', namespaced: true },
}
const Balancers: Kind<AnyObject> = { group: '', version: 'v1', kind: 'Service', plural: 'services', namespaced: true }

const rule = (host?: string) => ({
  ...(host !== undefined && { host }),
  http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }] },
})

const resource = (group: string, kind: string, name: string) => ({ group, version: 'v1', kind, name })

describe('berth preview open', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''
  let folder = ''
  const { at, run, preview, tell } = previewsIn(cluster, () => namespace)
  const title = () => `Environment ${namespace}/shop-cart of branch feature/cart`

  it.before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-preview-'))
    await writeFile(join(folder, 'browser'), '#!/bin/sh\necho "opened $1"\n', { mode: 0o755 })
  })
  it.beforeEach(async () => {
    namespace = await cluster.namespace('preview-open')
    await preview('shop', {}, { environments: [entry('shop-cart', 'feature/cart')], counts: counts() })
    const { kubeconfig } = await deployer(kube, namespace, { role: 'cluster-admin' })
    await kube.create(Secrets, kubeconfigSecret(namespace, kubeconfig))
    const kubernetesCredentials = { defaultNamespace: namespace, apiURL: kube.server, clusterCredentialsSecret: 'credentials' }
    await kube.create(DeploymentTargets, target(namespace, 'space', { kubernetesCredentials }))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'shop-cart'))
    await kube.patch(DeploymentTargetClaims, at('shop-cart'), boundTo('space'), { subresource: 'status' })
  })
  it.after(async () => {
    await kube.delete(CustomResourceDefinitions, { name: 'httproutes.gateway.networking.k8s.io' })
    await rm(folder, { recursive: true })
    await cluster.close()
  })

  const open = (...more: string[]) => run('open', ['shop', 'feature/cart', ...more], { BROWSER: join(folder, 'browser') })

  /** Has a GitOpsDeployment say that it has deployed these. */
  const deployed = async (...resources: ReturnType<typeof resource>[]) => {
    const deployment: GitOpsDeployment = {
      apiVersion: 'managed-gitops.redhat.com/v1alpha1',
      kind: GitOpsDeployments.kind,
      metadata: at('shop-cart'),
      spec: { source: { repoURL: 'https://git.example.com/web.git', path: 'deploy' }, type: 'automated' },
    }
    await kube.create(GitOpsDeployments, deployment)
    const status = { resources: resources.map((each) => ({ ...each, namespace })) }
    await kube.patch(GitOpsDeployments, at('shop-cart'), { status }, { subresource: 'status' })
  }

  const ingress = (name: string, spec: object) =>
    kube.create(Ingresses, { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: at(name), spec })

  const balancer = async (name: string, port: number, addresses: object[]) => {
    const spec = {
      type: 'LoadBalancer',
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'web', port },
      ],
    }
    await kube.create(Balancers, { apiVersion: 'v1', kind: 'Service', metadata: at(name), spec })
    await kube.patch(Balancers, at(name), { status: { loadBalancer: { ingress: addresses } } }, { subresource: 'status' })
  }

  it('prints every address once, and opens the first one', async () => {
    await apply(kube, HTTP_ROUTES)
    const route = { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'HTTPRoute', plural: 'httproutes', namespaced: true }
    const made = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', metadata: at('web') }
    const hostnames = ['cart.gateway.example.com', '*.gateway.example.com']
    await eventually(() => kube.create<AnyObject>(route, { ...made, spec: { hostnames } }).catch(() => false))
    await ingress('web', {
      tls: [{ hosts: ['*.shop.example.com'] }],
      rules: [rule('cart.shop.example.com'), rule('plain.example.com'), rule(), rule('*.any.example.com')],
    })
    await ingress('again', { rules: [rule('plain.example.com')] })
    await balancer('web', 80, [{ ip: '192.0.2.7' }])
    await balancer('secure', 443, [{ hostname: 'lb.example.com' }])
    await balancer('six', 8080, [{ ip: '2001:db8::7' }])
    await deployed(
      resource('', 'Service', 'web'),
      resource('', 'Service', 'secure'),
      resource('', 'Service', 'six'),
      resource('gateway.networking.k8s.io', 'HTTPRoute', 'web'),
      resource('networking.k8s.io', 'Ingress', 'web'),
      resource('networking.k8s.io', 'Ingress', 'again'),
      resource('networking.k8s.io', 'Ingress', 'gone'),
      resource('example.com', 'Service', 'web'),
      resource('apps', 'Deployment', 'web'),
    )
    const urls = `https://cart.shop.example.com/
http://plain.example.com/
https://cart.gateway.example.com/
http://192.0.2.7/
https://lb.example.com/
http://[2001:db8::7]:8080/
`
    const { code, stdout, stderr } = await open()
    is(code, 0, stderr)
    is(stdout, `${urls}opened https://cart.shop.example.com/\n`)
    is(stderr, '')
    await tell('shop', { environments: [entry('shop-cart', 'feature/cart', { ready: false, reason: 'Progressing' })] })
    const printed = await open('--print')
    is(printed.stdout, urls)
    is(printed.stderr, `${title()} is Progressing: nothing may answer there yet.\n`)
  })

  it('says where nobody opens anything', async () => {
    await ingress('web', { rules: [rule('plain.example.com')] })
    await deployed(resource('networking.k8s.io', 'Ingress', 'web'))
    const { code, stdout, stderr } = await run('open', ['shop', 'feature/cart'], { PATH: folder, BROWSER: '' })
    is(code, 0)
    is(stdout, 'http://plain.example.com/\n')
    is(stderr, 'No browser is known on this machine: name one in BROWSER.\n')
  })

  it('says what it has looked for where nothing can be opened', async () => {
    const none = await open()
    is(none.code, 3)
    is(
      none.stderr,
      `berth: ${title()} has no address: no Ingress or HTTPRoute with a host, and no Service of type LoadBalancer with an address. Its GitOpsDeployment has deployed none of these at all. Add one in Git, or wait until it has its address. All its objects: \`berth tree shop-cart -n ${namespace}\`.\n`,
    )
    await balancer('web', 80, [])
    await ingress('all', { rules: [rule()] })
    await deployed(resource('', 'Service', 'web'), resource('networking.k8s.io', 'Ingress', 'all'))
    match((await open()).stderr, `has deployed only Ingress ${namespace}/all, Service ${namespace}/web.`)
  })

  it('says what is missing on the way into the target', async () => {
    await deployed(resource('', 'Service', 'web'))
    await kube.delete(Secrets, at('credentials'))
    const secret = await open()
    is(secret.code, 3)
    match(secret.stderr, 'there is no Secret credentials with the credentials of DeploymentTarget space.')
    await kube.delete(DeploymentTargets, at('space'))
    await eventually(async () => (await kube.get(DeploymentTargets, at('space'))) === undefined)
    const { code, stderr } = await open()
    is(code, 3)
    match(
      stderr,
      `DeploymentTargetClaim ${namespace}/shop-cart has no target. See with \`berth get claims shop-cart -n ${namespace}\` what it waits for.`,
    )
  })

  it('looks with the rights of the person alone where the target is private', async () => {
    await kube.patch(DeploymentTargets, at('space'), { metadata: { annotations: { 'berth.dev/private-to': '' } } })
    await kube.delete(Secrets, at('credentials'))
    await ingress('web', { rules: [rule('plain.example.com')] })
    await deployed(resource('networking.k8s.io', 'Ingress', 'web'))
    is((await open('--print')).stdout, 'http://plain.example.com/\n')
  })
})
