import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { CustomResourceDefinitions, Deployments, GitOpsDeployments, type KubeObject } from '../../../src/api/index.ts'
import { ACCOUNT } from '../../../src/cli/import/made.ts'
import { deploymentSets } from '../../../src/operator/gitops-deployment-set/index.ts'
import { grant } from '../../support/builders/credentials.ts'
import { kubectl } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { expectObject } from '../../support/verbs.ts'
import { berth, type Outcome } from '../berth.ts'
import { type Printed, printedBy } from './imported.ts'

const KINDS = [
  ['argoproj.io', 'v1alpha1', 'Application', 'applications'],
  ['argoproj.io', 'v1alpha1', 'ApplicationSet', 'applicationsets'],
  ['source.toolkit.fluxcd.io', 'v1', 'GitRepository', 'gitrepositories'],
  ['kustomize.toolkit.fluxcd.io', 'v1', 'Kustomization', 'kustomizations'],
  ['helm.toolkit.fluxcd.io', 'v2', 'HelmRelease', 'helmreleases'],
] as const

/** As Argo CD and Flux define them, but for their schemas. */
const definition = ([group, version, kind, plural]: (typeof KINDS)[number]) => ({
  apiVersion: 'apiextensions.k8s.io/v1' as const,
  kind: 'CustomResourceDefinition' as const,
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced' as const,
    names: { kind, plural },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})

const URL = 'https://git.example.com/team-a/shop'
const TEMPLATE = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image: 'web:1' }] },
}
const web = (metadata: object = {}, more: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', ...metadata },
  spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: TEMPLATE, ...more },
})

const object = (kind: (typeof KINDS)[number][2], spec: object) => {
  const [group, version] = KINDS.find((each) => each[2] === kind) ?? []
  return { apiVersion: `${group}/${version}`, kind, metadata: { name: 'shop' }, spec }
}

describe('objects that go over from another program', (it) => {
  const cluster = testCluster()
  let stage: Stage
  let sets: RunningOperator
  let home = ''
  it.before(async () => {
    home = await mkdtemp(join(tmpdir(), 'berth-hand-over-'))
    for (const kind of KINDS) await cluster.kube.apply(CustomResourceDefinitions, definition(kind), { manager: 'test' })
    const names = KINDS.map(([group, , , plural]) => `crd/${plural}.${group}`)
    await run('kubectl', ['wait', '--for=condition=Established', '--timeout=120s', ...names])
  })
  it.beforeEach(async () => {
    // With sets beside it.
    stage = await openStage(cluster)
    sets = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace: stage.namespace,
      controllers: (context) => [deploymentSets(context, stage.git.source)],
    })
  })
  it.afterEach(async () => {
    await sets.stop()
    await stage.stop()
  })
  it.after(async () => {
    for (const kind of KINDS) await cluster.kube.delete(CustomResourceDefinitions, { name: definition(kind).metadata.name })
    await cluster.close()
    await rm(home, { recursive: true })
  })

  const run = async (program: 'kubectl' | 'berth', words: string[]): Promise<Outcome> => {
    const where = ['--kubeconfig', cluster.kubeconfig]
    if (program === 'berth') return berth([...words, ...where], { cwd: home })
    const { stdout, stderr } = await promisify(execFile)(await kubectl(), [...words, ...where], { cwd: home })
    return { code: 0, stdout, stderr }
  }
  const apply = async (given: object, ...words: string[]) => {
    await writeFile(join(home, 'object.json'), JSON.stringify(given))
    await run('kubectl', ['apply', '-n', stage.namespace, '-f', 'object.json', ...words])
  }
  const live = async () => {
    const found = await cluster.kube.get(Deployments, { name: 'web', namespace: stage.namespace })
    assert.ok(found)
    return found
  }
  const marks = async () => {
    const { labels = {}, annotations = {} } = (await live()).metadata
    return Object.keys({ ...labels, ...annotations }).filter((name) => /argo|flux|app\.kubernetes\.io|last-applied/.test(name))
  }
  /** What was printed is kept in a file, and each command typed as it stands; gives what `berth diff` has shown. */
  const follow = async (
    printed: Printed,
    before: (command: string) => Promise<void> = async () => undefined,
  ): Promise<string> => {
    await writeFile(join(home, 'berth.yaml'), printed.stdout)
    let shown = ''
    for (const command of printed.commands) {
      const [program, ...words] = wordsOf(command)
      // Berth is not installed in this cluster: the operator of the test is let in already.
      if (words[0] === 'onboard') continue
      await before(command)
      const { code, stdout, stderr } = await run(program === 'berth' ? 'berth' : 'kubectl', words)
      assert.is(code, 0, `${command}\n${stdout}${stderr}`)
      if (words[0] === 'diff') shown += stdout
      if (words[0] === 'resume') await stage.synced(commit, words[1])
    }
    return shown
  }
  let commit = ''
  const left = async (resource: string) => (await run('kubectl', ['get', resource, '-n', stage.namespace, '-o', 'name'])).stdout

  it('keep their UIDs and their pods when they come from Flux', async () => {
    const { namespace } = stage
    const labels = { 'kustomize.toolkit.fluxcd.io/name': 'shop', 'kustomize.toolkit.fluxcd.io/namespace': namespace }
    await apply(web({ labels }), '--server-side', '--field-manager=kustomize-controller')
    await run('kubectl', ['rollout', 'restart', 'deployment/web', '-n', namespace])
    const before = await live()
    await apply(object('GitRepository', { url: URL, interval: '1m0s', ref: { branch: 'main' } }))
    await apply(
      object('Kustomization', {
        path: './deploy',
        prune: true,
        interval: '10m',
        sourceRef: { kind: 'GitRepository', name: 'shop' },
      }),
    )
    commit = await stage.git.push({ 'deploy/web.yaml': web() })

    const printed = printedBy(await run('berth', ['import', 'flux', '--cluster', '--from', namespace]))
    assert.is(printed.code, 0, printed.stderr)
    const shown = await follow(printed)
    assert.match(shown, '/metadata/labels/kustomize.toolkit.fluxcd.io~1name')
    assert.not.match(shown, 'restartedAt')
    same(before, await live())
    assert.equal(await marks(), [])
    assert.is(await left('kustomizations'), '')
    commit = await stage.git.push({ 'deploy/web.yaml': web({}, { replicas: 3 }) })
    await stage.synced(commit)
    assert.is((await live()).spec?.replicas, 3)
  })

  it('keep their UIDs, too, where what applies them was applied by another one', async () => {
    const { namespace } = stage
    await grant(cluster.kube, namespace, ACCOUNT, 'cluster-admin')
    const labels = { 'kustomize.toolkit.fluxcd.io/name': 'root', 'kustomize.toolkit.fluxcd.io/namespace': namespace }
    const kustomization = (name: string, path: string) => ({
      ...object('Kustomization', { path, prune: true, interval: '10m', sourceRef: { kind: 'GitRepository', name: 'shop' } }),
      metadata: { name, ...(name !== 'root' && { labels }), finalizers: [] },
    })
    await apply(web(), '--server-side', '--field-manager=kustomize-controller')
    const before = await live()
    await apply(object('GitRepository', { url: URL, interval: '1m0s', ref: { branch: 'main' } }))
    await apply(kustomization('shop', './deploy'), '--server-side', '--field-manager=kustomize-controller')
    await apply(kustomization('root', './root'))
    const files = { 'deploy/web.yaml': web() }
    commit = await stage.git.push({ ...files, 'root/shop.yaml': kustomization('shop', './deploy') })

    const printed = printedBy(await run('berth', ['import', 'flux', '--cluster', '--from', namespace]))
    assert.is(printed.code, 0, printed.stderr)
    await follow(printed, async (command) => {
      if (!command.startsWith('berth diff root')) return
      // As the plan says: what was printed lies in Git in the place of what Flux had, without `suspend`.
      const shop = printed.objects.find(({ kind, metadata: { name } }) => kind === 'GitOpsDeployment' && name === 'shop')
      const { suspend: _, ...spec } = shop?.spec ?? {}
      commit = await stage.git.push({ ...files, 'root/shop.yaml': { ...shop, spec } })
    })
    same(before, await live())
    assert.is(await left('kustomizations'), '')
    await stage.synced(commit, 'root')
    await stage.synced(commit, 'shop')
    const { count } = (await stage.status('root')).inventory ?? {}
    assert.is(count, 1, 'the root keeps the other')
  })

  it('keep their UIDs and their pods when they come from Argo CD, by either way of applying', async () => {
    const { namespace } = stage
    const metadata = {
      labels: { 'app.kubernetes.io/instance': 'shop' },
      annotations: { 'argocd.argoproj.io/tracking-id': `shop:apps/Deployment:${namespace}/web` },
    }
    for (const words of [['--field-manager=argocd-controller'], ['--server-side', '--field-manager=argocd-controller']]) {
      await apply(web(metadata, { minReadySeconds: 5 }), ...words)
      const before = await live()
      await apply({
        ...object('Application', {
          source: { repoURL: URL, path: 'deploy' },
          destination: { server: 'https://kubernetes.default.svc', namespace },
          syncPolicy: { automated: { prune: true, selfHeal: true } },
        }),
        metadata: { name: 'shop', finalizers: ['resources-finalizer.argocd.argoproj.io'] },
      })
      commit = await stage.git.push({ 'deploy/web.yaml': web({}, { minReadySeconds: 5 }) })
      const printed = printedBy(await run('berth', ['import', 'argo', '--cluster', '--from', namespace]))
      assert.is(printed.code, 0, printed.stderr)
      const shown = await follow(printed)
      assert.match(shown, '/metadata/annotations/argocd.argoproj.io~1tracking-id')
      same(before, await live())
      assert.equal(await marks(), [], words.join(' '))
      assert.is(await left('applications'), '')
      await run('kubectl', ['delete', 'gitopsdeployments', 'shop', '-n', namespace])
      await run('kubectl', ['delete', 'deployment', 'web', '-n', namespace, '--ignore-not-found'])
    }
  })

  it('keep their UIDs when a set has made what applies them', async () => {
    const { namespace } = stage
    await grant(cluster.kube, namespace, ACCOUNT, 'admin')
    await apply(web(), '--server-side', '--field-manager=argocd-controller')
    const before = await live()
    const spec = {
      project: 'default',
      source: { repoURL: URL, path: 'deploy' },
      destination: { name: 'in-cluster', namespace },
      syncPolicy: { automated: { prune: true, selfHeal: true } },
    }
    const template = { metadata: { name: '{{app}}' }, spec: { ...spec, source: { ...spec.source, path: '{{path}}' } } }
    await apply(object('ApplicationSet', { generators: [{ list: { elements: [{ app: 'web', path: 'deploy' }] } }], template }))
    const resource = ['applicationset', 'shop', '-n', namespace, '-o', 'jsonpath={.metadata.uid}']
    const uid = (await run('kubectl', ['get', ...resource])).stdout
    const owner = { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'shop', uid }
    await apply({ ...object('Application', spec), metadata: { name: 'web', ownerReferences: [owner] } })
    commit = await stage.git.push({ 'deploy/web.yaml': web() })

    const printed = printedBy(await run('berth', ['import', 'argo', '--cluster', '--from', namespace]))
    assert.is(printed.code, 0, printed.stderr)
    await follow(printed, async (command) => {
      if (command.startsWith('berth diff'))
        await expectObject(
          cluster.kube,
          GitOpsDeployments,
          { name: 'web', namespace },
          ({ spec: { suspend } }) => suspend === true,
        )
      if (command.includes('applicationsets.argoproj.io shop') && command.includes('finalizers'))
        await stage.synced(commit, 'web')
    })
    same(before, await live())
    assert.is((await left('applicationsets')) + (await left('applications')), '')
    await stage.synced(commit, 'web')
  })
})

/** No new object, and nothing in it by which pods would be made anew. */
function same(before: KubeObject & { spec?: unknown }, after: KubeObject & { spec?: unknown }): void {
  assert.is(after.metadata.uid, before.metadata.uid)
  assert.equal(after.spec, before.spec)
}

/** As a shell splits a line: what is in quotes is one word. */
const wordsOf = (command: string): string[] => (command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''))
