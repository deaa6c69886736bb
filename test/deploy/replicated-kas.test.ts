import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { V1DeploymentSpec } from '@kubernetes/client-node'
import { equal, is, ok } from 'uvu/assert'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../../src/api/index.ts'
import { parseConfig } from '../../src/kas/index.ts'
import { minutes, seconds } from '../../src/std/index.ts'
import { kubectl } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { documents } from '../support/verbs.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const read = (path: string): KubeObject[] => documents(readFileSync(join(root, path), 'utf8'))
type Deployment = KubeObject & { spec: V1DeploymentSpec }
type NetworkPolicy = KubeObject & {
  spec: {
    podSelector?: { matchLabels?: object }
    policyTypes?: string[]
    ingress?: { ports?: { port?: unknown }[]; from?: object[] }[]
  }
}
const isDeployment = (object: KubeObject): object is Deployment => object.kind === 'Deployment'
const isPolicy = (object: KubeObject): object is NetworkPolicy => object.kind === 'NetworkPolicy'

/** Of the first container: variables with a value. */
const settingsOf = ({ spec }: Deployment): Record<string, string> =>
  Object.fromEntries(
    (spec.template.spec?.containers[0]?.env ?? []).flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
  )

describe('the deployments', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  const rendered = async (folder: string): Promise<KubeObject[]> => {
    const { stdout } = await run(await kubectl(), ['kustomize', join(root, folder)])
    return parseAllDocuments(stdout).map((document) => document.toJS())
  }
  const deploymentIn = (objects: KubeObject[]): Deployment => {
    const found = objects.find(isDeployment)
    ok(found)
    return found
  }

  it('of three kas are what an API server takes, with settings that kas takes', async () => {
    const objects = await rendered('deploy/kas/replicated')
    equal(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort(), [
      'Deployment kas',
      'NetworkPolicy kas',
      'PodDisruptionBudget kas',
      'Service kas',
      'Service kas-peers',
    ])
    const namespace = await cluster.namespace('replicated')
    for (const object of objects) {
      const kind = await cluster.kube.resolve(object.apiVersion, object.kind)
      ok(kind, object.kind)
      const moved = { ...object, metadata: { ...object.metadata, namespace } }
      await cluster.kube.apply(kind, moved, { manager: 'test', dryRun: true })
    }
    const deployment = deploymentIn(objects)
    is(deployment.spec.replicas, 3)
    const config = parseConfig({}, settingsOf(deployment))
    equal([config.peers, config.privateApi], [['grpcs://kas-peers.berth-system.svc:8155'], '0.0.0.0:8155'])
    const mounts = deployment.spec.template.spec?.containers[0]?.volumeMounts?.map(({ mountPath }) => mountPath) ?? []
    for (const file of [config.peersCa, config.privateApiSecret, config.tls?.certificate])
      ok(
        mounts.some((path) => file?.startsWith(`${path}/`)),
        file,
      )
  })

  it('of three kas know Redis with the component for it, and read what they mount', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'berth-overlay-'))
    const from = (path: string) => relative(folder, join(root, path))
    const overlay = { resources: [from('deploy/kas/replicated')], components: [from('deploy/kas/redis')] }
    await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(overlay))
    const deployment = deploymentIn(await rendered(relative(root, folder)))
    const { spec } = deployment.spec.template
    // As the ConfigMap has it.
    const { redis, peers } = parseConfig({}, { ...settingsOf(deployment), BERTH_REDIS: 'rediss://redis:6379' })
    equal(peers, ['grpcs://kas-peers.berth-system.svc:8155'])
    const mount = spec?.containers[0]?.volumeMounts?.find(({ name }) => name === 'redis')
    const files = spec?.volumes
      ?.find(({ name }) => name === 'redis')
      ?.secret?.items?.map(({ path }) => `${mount?.mountPath}/${path}`)
    equal(files, [redis?.password, redis?.ca])
    const variables = spec?.containers[0]?.env?.map(({ name }) => name) ?? []
    ok(['BERTH_REDIS', 'BERTH_REDIS_USER'].every((name) => variables.includes(name)))
    const namespace = await cluster.namespace('redis')
    const kind = await cluster.kube.resolve('apps/v1', 'Deployment')
    ok(kind)
    await cluster.kube.apply(
      kind,
      { ...deployment, metadata: { ...deployment.metadata, namespace } },
      { manager: 'test', dryRun: true },
    )
    await rm(folder, { recursive: true })
  })

  for (const folder of ['deploy/kas/program', 'deploy/kas/replicated'])
    it(`${folder}: gives kas the time that it takes to end`, async () => {
      const deployment = deploymentIn(await rendered(folder))
      const { listenGrace, sessionGrace } = parseConfig({}, settingsOf(deployment))
      const given = seconds(deployment.spec.template.spec?.terminationGracePeriodSeconds ?? 30)
      ok(given >= listenGrace + sessionGrace + minutes(1), `${given}`)
      is(listenGrace, seconds(5))
    })

  for (const program of ['kas', 'operator', 'agent', 'certificates']) {
    it(`let nothing reach ${program} that is not named`, () => {
      const deployment = deploymentIn(read(`deploy/${program}/program/deployment.yaml`))
      const [policy, ...more] = read(`deploy/${program}/program/network-policy.yaml`).filter(isPolicy)
      ok(policy && more.length === 0)
      equal(policy.spec.podSelector?.matchLabels, deployment.spec.selector.matchLabels)
      equal(policy.spec.policyTypes, ['Ingress'])
      for (const { ports = [] } of policy.spec.ingress ?? []) ok(ports.length > 0, 'a rule without ports is one for all of them')
      const open = policy.spec.ingress?.flatMap(({ ports = [] }) => ports.map(({ port }) => port)) ?? []
      const listening = deployment.spec.template.spec?.containers.flatMap(({ ports = [] }) => ports) ?? []
      for (const { containerPort, name } of listening)
        ok(open.includes(containerPort) || open.includes(name), `nobody gets to ${name}`)
    })
    it(`give ${program} no right on its node`, () => {
      const { spec } = deploymentIn(read(`deploy/${program}/program/deployment.yaml`)).spec.template
      is(spec?.securityContext?.runAsNonRoot, true)
      equal(spec?.securityContext?.seccompProfile, { type: 'RuntimeDefault' })
      for (const { securityContext, resources } of spec?.containers ?? []) {
        equal(securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        ok(resources?.limits?.memory)
      }
    })
  }

  it('of the proxy ask kas where the component for tunnels says so', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'berth-overlay-'))
    const from = (path: string) => relative(folder, join(root, path))
    const kasOf = async (components: string[]) => {
      const overlay = { resources: [from('deploy/proxy/program')], components }
      await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(overlay))
      const deployment = deploymentIn(await rendered(relative(root, folder)))
      return [settingsOf(deployment).BERTH_KAS, deployment.spec.template.spec?.volumes?.map(({ name }) => name)]
    }
    equal(await kasOf([]), [undefined, ['oidc', 'tls']])
    equal(await kasOf([from('deploy/proxy/tunnels')]), ['kas.berth-system.svc:8150', ['kas', 'oidc', 'tls']])
    await rm(folder, { recursive: true })
  })

  it('let only kas ask kas for tunnels', () => {
    const [policy] = read('deploy/kas/program/network-policy.yaml').filter(isPolicy)
    const rules = policy?.spec.ingress?.filter(({ ports }) => ports?.some(({ port }) => port === 8155)) ?? []
    equal(
      rules.map(({ from }) => from),
      [[{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'berth-kas' } } }]],
    )
  })
})
