import * as assert from 'uvu/assert'
import {
  ClusterRoleBindings,
  ConfigMaps,
  CustomResourceDefinitions,
  Deployments,
  DeploymentTargetClasses,
  Namespaces,
  Secrets,
  Services,
  SpaceTiers,
  WorkspaceClasses,
} from '../../../src/api/index.ts'
import { kubectl } from '../../support/builders/snapshots.ts'
import { type OwnControlPlane, ownControlPlane } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { runAtTerminal } from '../../support/terminal.ts'
import { berth, MAIN } from '../berth.ts'

const namespace = 'platform'
const CTRL_C = '\u0003'
const LESS = `{ image: "registry.example.com/berth:1", namespace: ${namespace} }`
const MORE = `
image: registry.example.com/berth:1
namespace: ${namespace}
everywhere: true
proxy: { url: https://sign-in.w.example.com, oidcIssuer: https://id.example.com, oidcClientId: berth }
`

describe('berth install --apply', (it) => {
  let plane: OwnControlPlane
  let tool: string
  it.before(async () => {
    plane = await ownControlPlane({ nodes: 1 })
    tool = await kubectl()
  })
  it.after(() => plane.remove())

  const install = (values: string, flags: string[] = [], answer?: string) =>
    berth(['install', '--values', '-', '--apply', '--kubeconfig', plane.kubeconfig, ...flags], {
      env: { BERTH_KUBECTL: tool },
      input: values,
      ...(answer !== undefined && { answer }),
    })
  const names = async () => ({
    classes: (await plane.kube.list(DeploymentTargetClasses)).map(({ metadata }) => metadata.name),
    tiers: (await plane.kube.list(SpaceTiers)).map(({ metadata }) => metadata.name),
  })
  /** Which of what only more values install is there. */
  const extras = async () => [
    (await plane.kube.get(Deployments, { namespace, name: 'proxy' })) !== undefined,
    (await plane.kube.list(ClusterRoleBindings)).some(({ metadata }) => metadata.name === 'berth-tenant-operator'),
  ]

  it('changes nothing where its namespace has what is of others', async () => {
    const metadata = { name: 'theirs', namespace: 'taken' }
    await plane.kube.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'taken' } })
    await plane.kube.create(Services, { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }] } })
    const { code, stderr } = await install(LESS.replace('platform', 'taken'))
    assert.is(code, 7)
    assert.match(stderr, 'namespace taken has what is not of Berth: Service taken/theirs')
    assert.equal(await plane.kube.list(CustomResourceDefinitions), [])
  })

  it('changes nothing where the cluster does not have kinds that it needs', async () => {
    const { code, stderr } = await install(`${LESS.slice(0, -1)}, monitoring: {} }`)
    assert.is(code, 7)
    assert.match(stderr, 'does not serve PodMonitor of monitoring.coreos.com/v1, PrometheusRule of monitoring.coreos.com/v1')
    assert.match(stderr, 'Install first what serves it')
    assert.equal(await plane.kube.list(CustomResourceDefinitions), [])
  })

  it('applies all of it, makes what it starts with, and waits until it runs', async () => {
    const { code, stdout, stderr } = await install(MORE)
    assert.is(code, 0, stderr)
    assert.match(stderr, `Installing Berth in namespace platform of the cluster at ${plane.kube.server}.\n`)
    assert.match(stderr, /^Made \d{2,}: .+ and \d+ more\.$/m)
    assert.match(stderr, 'Waiting until proxy runs.\n')
    assert.match(stdout, 'Berth runs in namespace platform. Look at it with `berth doctor`.')
    assert.equal(await names(), { classes: ['isolation-level-namespace'], tiers: ['appstudio-env'] })
    assert.equal(await extras(), [true, true])
  })

  it('changes nothing without an answer where something would be taken away, and says what', async () => {
    const { code, stderr } = await install(LESS)
    assert.is(code, 7)
    assert.match(stderr, '  Deployment platform/proxy\n')
    assert.match(stderr, 'nothing was changed: there is no terminal to ask at')
    assert.equal(await extras(), [true, true])
  })

  it('takes away what was installed before, and nothing that people made', async () => {
    const metadata = { name: 'kas-tls', namespace }
    await plane.kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { 'tls.crt': 'theirs' } } as never)
    const before = await plane.kube.list(ConfigMaps, { namespace })
    const { code, stderr } = await install(LESS, [], new URL(plane.kube.server).host)
    assert.is(code, 0, stderr)
    assert.match(stderr, 'Removed Deployment platform/proxy.\n')
    assert.equal(await extras(), [false, false])
    assert.ok(await plane.kube.get(Secrets, metadata))
    const left = (await plane.kube.list(ConfigMaps, { namespace })).map((map) => map.metadata.name)
    assert.equal(
      left,
      before.map((map) => map.metadata.name).filter((name) => name !== 'berth-proxy'),
    )
    const again = await install(LESS)
    assert.is(again.code, 0, again.stderr)
    assert.not.match(again.stderr, 'Removed')
    assert.match(again.stderr, /^Nothing had to change: all \d+ objects are as they should be\.$/m, again.stderr)
    const other = await install(LESS.replace('platform', 'platform, programs: { operator: { replicas: 1 } }'))
    assert.match(other.stderr, 'Changed 2: Deployment platform/operator, PodDisruptionBudget platform/operator.\n', other.stderr)
  })

  it('leaves classes and tiers to people, unless it is told to make its own', async () => {
    await plane.kube.delete(SpaceTiers, { name: 'appstudio-env' })
    assert.is((await install(LESS)).code, 0)
    assert.equal(await names(), { classes: ['isolation-level-namespace'], tiers: [] })
    const { stderr } = await install(LESS, ['--defaults', '--yes'])
    assert.match(stderr, 'Made SpaceTier appstudio-env.\n')
    await plane.kube.delete(SpaceTiers, { name: 'appstudio-env' })
    await plane.kube.delete(DeploymentTargetClasses, { name: 'isolation-level-namespace' })
    for (const { metadata } of await plane.kube.list(WorkspaceClasses)) await plane.kube.delete(WorkspaceClasses, metadata)
    assert.is((await install(LESS)).code, 0)
    assert.equal(await names(), { classes: ['isolation-level-namespace'], tiers: ['appstudio-env'] })
  })

  it('ends without complaint when somebody presses Ctrl-C at its terminal, also at its question', async () => {
    const image = 'registry.example.com/berth:1'
    for (const [verb, when] of [
      [['install', '--image', image, '--namespace', namespace, '--apply'], 'Installing Berth'],
      [['uninstall'], ' to go on:'],
    ] as const) {
      const words = [process.execPath, MAIN, ...verb, '--kubeconfig', plane.kubeconfig]
      const { code, screen } = await runAtTerminal(words, { env: { BERTH_KUBECTL: tool }, when, keys: CTRL_C })
      assert.is(code, 130, screen)
      assert.not.match(screen, /abort/i)
    }
  })

  it('is once in a cluster', async () => {
    const { code, stderr } = await install(LESS.replace('platform', 'elsewhere'))
    assert.is(code, 7)
    assert.match(stderr, 'Berth is installed in namespace platform of this cluster, and not in elsewhere')
  })

  it('leaves its namespace to others who have something there, without its rules', async () => {
    const metadata = { name: 'precious', namespace }
    await plane.kube.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
    const { code, stdout, stderr } = await berth(['uninstall', '--yes', '--kubeconfig', plane.kubeconfig])
    assert.is(code, 0, stderr)
    const lines = stdout.replaceAll(/\s+/g, ' ')
    assert.match(lines, 'Namespace platform, with what is not of Berth there: ConfigMap platform/precious.')
    assert.match(lines, 'the namespace berth-credentials with all that is in them')
    const left = await plane.kube.get(Namespaces, { name: namespace })
    assert.equal(left?.metadata.labels, { 'kubernetes.io/metadata.name': namespace })
    assert.ok(await plane.kube.get(ConfigMaps, metadata))
    assert.equal(await plane.kube.list(Deployments, { namespace }), [])
    assert.equal(await plane.kube.list(Secrets, { namespace }), [])
  })
})
