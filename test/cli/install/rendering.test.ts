import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { V1Deployment } from '@kubernetes/client-node'
import * as assert from 'uvu/assert'
import type { ConfigMap, KubeObject } from '../../../src/api/index.ts'
import { parseConfig as certificates } from '../../../src/certificates/index.ts'
import { parseConfig as kas } from '../../../src/kas/index.ts'
import { parseConfig as operator } from '../../../src/operator/index.ts'
import { parseConfig as proxy } from '../../../src/proxy/index.ts'
import { kubectl } from '../../support/builders/snapshots.ts'
import { describe } from '../../support/suite.ts'
import { documents } from '../../support/verbs.ts'
import { berth, ROOT } from '../berth.ts'

const ALL = `
image: registry.example.com:5000/berth:0.1.0
workspaceImage: registry.example.com/berth-workspace@sha256:${'a'.repeat(64)}
namespace: platform
imagePullSecrets: [registry]
apiUrl: https://api.example.com
gitCa: "-----BEGIN CERTIFICATE-----\\nMII"
everywhere: true
monitoring: { labels: { release: prometheus } }
tracing: { endpoint: http://collector.monitoring:4318 }
kas:
  names: [kas.example.com, 192.0.2.7]
  service: { type: LoadBalancer, annotations: { example.com/pool: public } }
  tunnels: grpcs://kas.example.com:8150
  redis: rediss://redis.example.com:6379
proxy:
  url: https://sign-in.w.example.com
  oidcIssuer: https://id.example.com
  oidcClientId: berth
  oidcCa: "-----BEGIN CERTIFICATE-----\\nMII"
  certificateNames: ['*.w.example.com']
  authorizeCallers: [10.42.0.0/16, 192.0.2.7]
  tunnels: true
  ssh: true
  sshAddress: ssh.w.example.com:2222
  sshTokens: true
  sshCertificatesFor: 9
programs:
  operator: { tolerations: [{ key: control-plane, operator: Exists }], replicas: 1 }
  kas: { replicas: 5, resources: { limits: { memory: 2Gi } }, env: { BERTH_SESSION_GRACE: '7', BERTH_LOG_LEVEL: debug } }
  proxy: { nodeSelector: { zone: a }, priorityClassName: high, env: { BERTH_OIDC_ISSUER: 'https://other.example.com' } }
`

/** What only an installation by `berth install` has. */
const OF_INSTALLATION = ['berth', 'berth-inventory']

describe('berth install', (it) => {
  let folder: string
  let tool: string
  it.before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-values-'))
    tool = await kubectl()
  })
  it.after(() => rm(folder, { recursive: true }))

  const install = (parameters: string[], input = '') =>
    berth(['install', ...parameters], { env: { BERTH_KUBECTL: tool }, cwd: folder, input })
  const installed = async (values: string): Promise<KubeObject[]> => {
    const { code, stdout, stderr } = await install(['--values', '-'], values)
    assert.is(code, 0, stderr)
    return documents(stdout)
  }
  const named = <T extends KubeObject>(objects: readonly KubeObject[], kind: string, name: string) =>
    objects.find((object) => object.kind === kind && object.metadata.name === name) as T | undefined
  const deploymentIn = (objects: readonly KubeObject[], name: string) =>
    named<KubeObject & V1Deployment>(objects, 'Deployment', name)
  /** The variables of its container, those from ConfigMaps as these say. */
  const variablesOf = (objects: readonly KubeObject[], name: string): Record<string, string> => {
    const env = deploymentIn(objects, name)?.spec?.template.spec?.containers[0]?.env ?? []
    return Object.fromEntries(
      env.flatMap(({ name: variable, value, valueFrom }) => {
        const { name: map = '', key = '' } = valueFrom?.configMapKeyRef ?? {}
        const text = value ?? named<KubeObject & { data: Record<string, string> }>(objects, 'ConfigMap', map)?.data[key]
        return text === undefined ? [] : [[variable, text]]
      }),
    )
  }

  it('prints what deploy/ has, with the image', async () => {
    const { stdout } = await promisify(execFile)(tool, ['kustomize', join(ROOT, 'deploy')], { maxBuffer: 2 ** 26 })
    const wanted = documents(stdout.replaceAll('image: berth\n', 'image: registry.example.com/berth:1\n'))
    const { stdout: printed } = await install(['--image', 'registry.example.com/berth:1'])
    const objects = documents(printed)
    assert.equal(named(objects, 'ConfigMap', 'berth')?.metadata.namespace, 'berth-system')
    // Pods carry a digest of what they are told.
    for (const { spec } of objects.filter(({ kind }) => kind === 'Deployment') as (KubeObject & V1Deployment)[]) {
      assert.match(JSON.stringify(spec?.template.metadata?.annotations), '{"checksum/settings":"')
      delete spec?.template.metadata?.annotations
    }
    assert.equal(
      objects.filter(({ kind, metadata }) => kind !== 'ConfigMap' || !OF_INSTALLATION.includes(metadata.name)),
      wanted,
    )
  })

  it('lists what it consists of, and labels it', async () => {
    const objects = await installed(ALL)
    const inventory = named<ConfigMap>(objects, 'ConfigMap', 'berth-inventory')
    assert.is(inventory?.metadata.namespace, 'platform')
    const listed = inventory?.data?.objects?.split('\n') ?? []
    assert.is(listed.length, objects.length - 1)
    assert.ok(listed.includes('apps/v1 Deployment platform/kas'))
    assert.ok(listed.includes('rbac.authorization.k8s.io/v1 ClusterRole berth-kas'))
    assert.equal(
      objects.filter((object) => object.metadata.labels?.['app.kubernetes.io/part-of'] !== 'berth'),
      [],
    )
  })

  it('puts every value where the program takes it', async () => {
    const objects = await installed(ALL)
    assert.equal(operator({}, variablesOf(objects, 'operator')).tunnels, {
      kas: 'grpcs://kas.example.com:8150',
      image: 'registry.example.com:5000/berth:0.1.0',
    })
    const { workspaceImage, apiUrl, gitCa, otlpEndpoint } = operator({}, variablesOf(objects, 'operator'))
    assert.is(otlpEndpoint, 'http://collector.monitoring:4318')
    assert.is(gitCa, '/etc/berth/git/ca.crt')
    assert.equal(
      [workspaceImage, apiUrl],
      [`registry.example.com/berth-workspace@sha256:${'a'.repeat(64)}`, 'https://api.example.com'],
    )
    const { kasNames, proxyNames } = certificates({}, variablesOf(objects, 'certificates'))
    assert.equal([kasNames, proxyNames], [['kas.example.com', '192.0.2.7'], ['*.w.example.com']])
    const {
      sessionGrace,
      peers,
      redis,
      otlpEndpoint: endpointOfKas,
      operator: account,
      proxy: proxyAccount,
    } = kas({}, variablesOf(objects, 'kas'))
    assert.equal([sessionGrace, peers, endpointOfKas], [7000, ['grpcs://kas-peers.platform.svc:8155'], otlpEndpoint])
    const inPod = { user: undefined, password: '/etc/berth/redis/password', ca: '/etc/berth/redis/ca.crt' }
    assert.equal(redis, { url: 'rediss://redis.example.com:6379', ...inPod, prefix: 'berth' })
    assert.equal(
      [account, proxyAccount].map((each) => JSON.stringify(each).includes('platform')),
      [true, true],
    )
    const { host, oidc, authorize, ssh, kas: throughKas } = proxy({}, variablesOf(objects, 'proxy'))
    assert.equal(authorize, { listen: '0.0.0.0:8182', callers: ['10.42.0.0/16', '192.0.2.7'] })
    assert.equal(ssh, {
      listen: '0.0.0.0:2222',
      address: { host: 'ssh.w.example.com', port: 2222 },
      takesTokens: true,
      certificatesFor: 32_400_000,
    })
    assert.is(JSON.stringify(named(objects, 'Service', 'proxy')).includes('"targetPort":"ssh"'), true)
    assert.is(JSON.stringify(named(objects, 'NetworkPolicy', 'proxy')).includes('2222'), true)
    assert.equal([host, oidc.issuer], ['sign-in.w.example.com', 'https://other.example.com'])
    assert.is(oidc.ca, '/etc/berth/provider/ca.crt')
    assert.is(throughKas?.address, 'grpcs://kas.platform.svc:8150')
    for (const kind of ['PodMonitor', 'PrometheusRule'])
      assert.equal(named(objects, kind, 'berth')?.metadata.labels, {
        'app.kubernetes.io/part-of': 'berth',
        release: 'prometheus',
      })
  })

  it('gives pods the sizes and places that were said, and a digest of the settings that they read', async () => {
    const objects = await installed(ALL)
    const pods = (name: string) => deploymentIn(objects, name)?.spec?.template.spec
    assert.equal(
      ['operator', 'kas', 'proxy', 'certificates'].map((name) => deploymentIn(objects, name)?.spec?.replicas),
      [1, 5, 2, 1],
    )
    for (const name of ['operator', 'kas', 'proxy', 'certificates']) {
      assert.equal(pods(name)?.imagePullSecrets, [{ name: 'registry' }])
      assert.is(pods(name)?.containers[0]?.image, 'registry.example.com:5000/berth:0.1.0')
    }
    const files = pods('operator')?.volumes?.find(({ name }) => name === 'git-ca')?.configMap
    const settings = named<KubeObject & { data: Record<string, string> }>(objects, 'ConfigMap', files?.name ?? '')
    assert.match(settings?.data[files?.items?.[0]?.key ?? ''] ?? '', 'BEGIN CERTIFICATE')
    assert.equal(pods('operator')?.tolerations, [{ key: 'control-plane', operator: 'Exists' }])
    assert.equal(pods('kas')?.containers[0]?.resources, { limits: { memory: '2Gi' }, requests: { cpu: '100m', memory: '128Mi' } })
    assert.equal([pods('proxy')?.nodeSelector, pods('proxy')?.priorityClassName], [{ zone: 'a' }, 'high'])
    const service = named<KubeObject & { spec: { type: string } }>(objects, 'Service', 'kas')
    assert.equal([service?.spec.type, service?.metadata.annotations], ['LoadBalancer', { 'example.com/pool': 'public' }])
    const other = await installed(ALL.replace('api.example.com', 'api2.example.com'))
    const digest = (of: readonly KubeObject[], name: string) =>
      deploymentIn(of, name)?.spec?.template.metadata?.annotations?.['checksum/settings']
    assert.is.not(digest(other, 'operator'), digest(objects, 'operator'))
    assert.is(digest(other, 'proxy'), digest(objects, 'proxy'))
    assert.is.not(digest(other, 'kas'), digest(objects, 'kas'))
  })

  it('names its namespace wherever it is named, and changes no kind by it', async () => {
    const { stdout } = await install(['--values', '-'], ALL)
    const { stdout: usual } = await install(['--values', '-'], ALL.replace('namespace: platform', ''))
    const [objects, others] = [documents(stdout), documents(usual)]
    const isDefinition = ({ kind }: KubeObject) => kind === 'CustomResourceDefinition'
    assert.equal(objects.filter(isDefinition), others.filter(isDefinition))
    assert.not.match(JSON.stringify(objects.filter((object) => !isDefinition(object))), 'berth-system')
  })

  it('asks cert-manager for certificates where an issuer is named', async () => {
    const issued = ALL.replace('  names: [kas', '  certificateIssuer: { name: ours }\n  names: [kas')
    const objects = await installed(
      issued.replace('  certificateNames:', '  certificateIssuer: { name: web, kind: Issuer }\n  certificateNames:'),
    )
    const asked = (name: string) =>
      named<KubeObject & { spec: Record<string, unknown> }>(objects, 'Certificate', name)?.spec ?? {}
    const group = 'cert-manager.io'
    assert.equal(asked('kas').issuerRef, { group, kind: 'ClusterIssuer', name: 'ours' })
    assert.equal(asked('kas').dnsNames, [
      'kas.platform.svc',
      'kas.platform.svc.cluster.local',
      'kas.platform',
      'kas',
      'kas-peers.platform.svc',
      'kas.example.com',
    ])
    assert.equal([asked('kas').secretName, asked('kas').ipAddresses], ['kas-tls', ['192.0.2.7']])
    assert.equal(asked('berth-proxy').issuerRef, { group, kind: 'Issuer', name: 'web' })
    assert.equal([asked('berth-proxy').secretName, asked('berth-proxy').dnsNames], ['berth-proxy-tls', ['*.w.example.com']])
    const { kasIssuer, proxyIssuer } = certificates({}, variablesOf(objects, 'certificates'))
    assert.equal([kasIssuer, proxyIssuer], ['cert-manager', 'cert-manager'])
    assert.is(named(await installed(ALL), 'Certificate', 'kas'), undefined)
  })

  it('leaves out what others do, and takes the policies of older clusters', async () => {
    const objects = await installed('{ image: "a/b:1", certificates: none, policies: legacy }')
    assert.equal([deploymentIn(objects, 'certificates'), deploymentIn(objects, 'proxy')], [undefined, undefined])
    assert.not.ok(objects.some(({ kind }) => kind === 'MutatingAdmissionPolicy'))
    assert.ok(deploymentIn(objects, 'kas'))
  })

  it('prints what needs the kinds by itself, and reads files', async () => {
    const { stdout } = await install(['--defaults'])
    assert.ok(documents(stdout).some(({ kind }) => kind === 'DeploymentTargetClass'))
    await writeFile(join(folder, 'values.yaml'), 'image: a/b:1\n')
    assert.is((await install(['--values', 'values.yaml'])).code, 0)
  })

  it('says what is missing and what is wrong, and exits with 7', async () => {
    const nothing = await install([])
    assert.is(nothing.code, 7)
    assert.match(nothing.stderr, 'no image of Berth is named')
    const wrong = await install(['--values', '-'], 'imag: a/b:1')
    assert.is(wrong.code, 7)
    assert.match(wrong.stderr, /-:1: imag is not known; known there: image, workspaceImage/)
  })

  it('refuses a limit below the request, also below that of deploy/', async () => {
    const { code, stderr } = await install(
      ['--values', '-'],
      'image: a/b:1\nprograms: { kas: { resources: { limits: { memory: 1Mi } } } }',
    )
    assert.is(code, 7)
    assert.match(stderr, /kas requests memory: \w+, and its limit is 1Mi/)
    assert.match(stderr, 'programs.kas.resources')
  })
})
