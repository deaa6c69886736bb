import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { describe } from '../../support/suite.ts'
import { berth, tooWide } from '../berth.ts'
import { importing, printedBy } from './imported.ts'

const app = (name: string, more: object = {}) => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Application',
  metadata: { name, namespace: 'argocd' },
  spec: {
    source: { repoURL: 'https://git.example.com/shop.git', path: name },
    destination: { name: 'in-cluster', namespace: 'team-a' },
    syncPolicy: { automated: { prune: true, selfHeal: true } },
  },
  ...more,
})

describe('what `berth import` reads', (it) => {
  let folder = ''
  it.before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-import-'))
  })
  it.after(() => rm(folder, { recursive: true }))

  const names = (outcome: Awaited<ReturnType<typeof berth>>) =>
    printedBy(outcome).objects.flatMap(({ kind, metadata: { name } }) => (kind === 'GitOpsDeployment' ? [name] : []))

  it('is a folder with the folders in it, several files, standard input, and Lists in them', async () => {
    await mkdir(join(folder, 'apps/more'), { recursive: true })
    await writeFile(join(folder, 'apps/a.yaml'), `replicas: 3\n---\n${JSON.stringify(app('a'))}\n---\n# nothing\n`)
    await writeFile(
      join(folder, 'apps/more/b.yml'),
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [app('b'), app('c')] }),
    )
    await writeFile(join(folder, 'apps/more/note.txt'), 'not: [yaml')
    await writeFile(join(folder, 'apps/more/template.yaml'), 'name: {{ .Values.name }}')
    await symlink('nowhere', join(folder, 'apps/more/link.yaml'))
    await writeFile(join(folder, 'd.json'), JSON.stringify(app('d')))
    const words = ['import', 'argo', '-f', 'apps', '-f', 'd.json', '-f', '-']
    const outcome = await berth(words, { cwd: folder, input: JSON.stringify(app('e')) })
    assert.is(outcome.code, 0, outcome.stderr)
    assert.equal(names(outcome), ['a', 'b', 'c', 'd', 'e'])
    assert.match(outcome.stderr, /template\.yaml:1:\d+: .* It is passed over\./)
    assert.match(printedBy(outcome).report, `(${join('apps', 'more', 'b.yml')})`)
  })

  it('is refused with its place where it is no YAML, and with its field where it is of another type', async () => {
    await writeFile(join(folder, 'bad.yaml'), 'a: 1\nb: [\n')
    const bad = await berth(['import', 'argo', '-f', 'bad.yaml'], { cwd: folder })
    assert.equal([bad.code, bad.stdout], [7, ''])
    assert.match(bad.stderr, /^berth: bad\.yaml:\d+:\d+: /)
    const odd = await importing('argo', [app('shop', { spec: { source: ['x'] } })])
    assert.is(odd.code, 1)
    assert.match(odd.report, /✗ Application argocd\/shop .* spec\.source: It is no mapping\./)
  })

  it('never becomes a command: names are such as clusters have', async () => {
    const hostile = await importing('argo', [app('x', { metadata: { name: 'x; rm -rf ~', namespace: 'argocd' } })])
    assert.is(hostile.code, 7)
    assert.match(hostile.stderr, 'has a name or a namespace such as no cluster has')
    const place = { ...app('x').spec, destination: { name: 'in-cluster', namespace: '$(id)' } }
    const there = await importing('argo', [app('x', { spec: place })])
    assert.equal([there.code, there.stdout], [1, ''])
    assert.match(there.report, 'spec.destination.namespace: It is no name such as clusters have.')
    const into = await importing('argo', [app('x')], ['--into', 'a b'])
    assert.is(into.code, 2)
  })

  it('is said when it is nothing, or not named', async () => {
    await writeFile(join(folder, 'other.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n')
    const nothing = await berth(['import', 'flux', '-f', 'other.yaml'], { cwd: folder })
    assert.is(nothing.code, 3)
    assert.match(nothing.stderr, 'there is none of gitrepositories,kustomizations,helmreleases in other.yaml')
    assert.is((await berth(['import', 'flux', '-f', 'missing.yaml'], { cwd: folder })).code, 3)
    await writeFile(join(folder, 'twins.json'), JSON.stringify({ kind: 'List', items: [app('a'), app('a')] }))
    const twins = await berth(['import', 'argo', '-f', 'twins.json'], { cwd: folder })
    assert.is(twins.code, 7)
    assert.match(twins.stderr, 'Application a is in twins.json and in twins.json.')
    const unsaid = await berth(['import', 'flux'], { cwd: folder })
    assert.is(unsaid.code, 7)
    assert.match(unsaid.stderr, 'Name files with -f, or give --cluster.')
  })

  it('is printed as JSON, too, in one List, and its report fits a terminal', async () => {
    const found = await importing('argo', [app('shop', { spec: { ...app('shop').spec, novel: { a: 1 } } })], ['-o', 'json'])
    const { kind, items } = JSON.parse(found.stdout)
    assert.equal([kind, items.length], ['List', 4])
    assert.equal(tooWide(found.stderr), [])
  })
})

describe('the way by which it goes over', (it) => {
  const at = (name: string, metadata: object) => app(name, { metadata: { name, namespace: 'argocd', ...metadata } })
  /** Names by the first command of each. */
  const stopped = (commands: readonly string[]) => [
    ...new Set(commands.flatMap((command) => /^kubectl patch \S+\.argoproj\.io (\S+)/.exec(command)?.[1] ?? [])),
  ]

  it('stops what applies others first, and takes it away last', async () => {
    const found = await importing('argo', [
      at('child', { annotations: { 'argocd.argoproj.io/tracking-id': 'root:argoproj.io/Application:argocd/child' } }),
      at('grandchild', { labels: { 'app.kubernetes.io/instance': 'child' } }),
      at('root', { annotations: { 'argocd.argoproj.io/tracking-id': 'root:argoproj.io/Application:argocd/root' } }),
    ])
    assert.equal(stopped(found.commands), ['root', 'child', 'grandchild'])
    const resumed = found.commands.flatMap((command) => /^berth resume (\S+)/.exec(command)?.[1] ?? [])
    assert.equal(resumed, ['grandchild', 'child', 'root'])
    const removed = found.commands.flatMap((command) => /^kubectl delete applications\S+ (\S+)/.exec(command)?.[1] ?? [])
    assert.equal(removed, ['grandchild', 'child', 'root'])
    assert.match(found.report, 'These apply others of those above, from Git.')
  })

  it('leaves out what was made by a set without a match, and a set of which nothing was given', async () => {
    const set = (name: string, generator: object) => ({
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'ApplicationSet',
      metadata: { name, namespace: 'argocd' },
      spec: { generators: [generator], template: { metadata: { name: '{{x}}' }, spec: app('x').spec } },
    })
    const owner = { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'lost', uid: 'u' }
    const alone = set('alone', { list: { elements: [{ x: 'a' }] } })
    const found = await importing('argo', [set('lost', { pullRequest: {} }), alone, at('one', { ownerReferences: [owner] })])
    assert.is(found.code, 1)
    assert.match(found.report, 'ApplicationSet argocd/lost has applied it, and has no match: take it out of what that applies')
    assert.match(found.report, 'None of its Applications was given: give them, too, to hand it over.')
    assert.equal(found.commands, [])
  })

  it('leaves out what was applied by something without a match, or by another program', async () => {
    const root = app('root', { spec: { ...app('root').spec, sources: [{ repoURL: 'x' }, { repoURL: 'y' }] } })
    const tracked = { annotations: { 'argocd.argoproj.io/tracking-id': 'root:argoproj.io/Application:argocd/one' } }
    const byChart = { labels: { 'app.kubernetes.io/instance': 'root', 'app.kubernetes.io/managed-by': 'Helm' } }
    const byFlux = {
      labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps', 'kustomize.toolkit.fluxcd.io/namespace': 'flux-system' },
    }
    const byOther = { ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'GitOpsCluster', name: 'x', uid: 'u' }] }
    const found = await importing('argo', [
      at('one', tracked),
      at('two', byChart),
      at('three', byFlux),
      at('four', byOther),
      root,
    ])
    assert.is(found.code, 1)
    assert.equal(found.commands, [])
    assert.match(found.report, 'Application argocd/root has applied it, and has no match: take it out of what that applies')
    assert.match(found.report, 'Kustomization flux-system/apps has applied it, and would put back')
    assert.match(found.report, 'GitOpsCluster argocd/x has applied it, and would put back')
  })

  it('leaves out a set of which not all was given, and lets rest what Argo CD lets rest', async () => {
    const set = {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'ApplicationSet',
      metadata: { name: 'all', namespace: 'argocd' },
      spec: {
        generators: [{ list: { elements: [{ x: 'one' }] } }],
        template: { metadata: { name: '{{x}}' }, spec: app('x').spec },
      },
      status: {
        resources: [
          { kind: 'Application', name: 'one', namespace: 'argocd' },
          { kind: 'Application', name: 'two' },
        ],
      },
    }
    const owner = { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'all', uid: 'u' }
    const found = await importing('argo', [
      set,
      at('one', { ownerReferences: [owner] }),
      at('paused', { annotations: { 'argocd.argoproj.io/skip-reconcile': 'true' } }),
    ])
    assert.match(found.report, 'It has Application argocd/two, too: give all of them to hand it over.')
    assert.not.ok(found.commands.some((command) => /(?:resume|delete).* paused/.test(command)))
    assert.not.ok(
      found.commands.some((command) => /applicationsets|applications\.argoproj\.io one/.test(command)),
      found.commands.join('\n'),
    )
    assert.match(found.report, 'Argo CD does not reconcile it, and it rests here, too')
  })

  it('reads objects whose metadata is written carelessly', async () => {
    const careless = { labels: null, annotations: { a: 1 }, finalizers: null, ownerReferences: null }
    const found = await importing('argo', [at('one', careless)])
    assert.is(found.code, 0, found.stderr)
    const flux = {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name: 'a', ...careless },
      spec: {},
    }
    assert.is((await importing('flux', [flux])).code, 1)
  })

  it('ends where two say that they have applied one another', async () => {
    const found = await importing('argo', [
      at('a', { labels: { 'app.kubernetes.io/instance': 'b' } }),
      at('b', { labels: { 'app.kubernetes.io/instance': 'a' } }),
    ])
    assert.is(found.code, 0, found.stderr)
    assert.equal(stopped(found.commands).toSorted(), ['a', 'b'])
  })

  it('touches nothing of what belongs to one that was not given', async () => {
    const orphan = at('one', {
      ownerReferences: [{ apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'gone', uid: 'u' }],
    })
    const below = at('two', { annotations: { 'argocd.argoproj.io/tracking-id': 'one:argoproj.io/Application:argocd/two' } })
    const found = await importing('argo', [orphan, below, at('free', {})])
    assert.match(found.report, 'ApplicationSet argocd/gone has applied it, and would put back what is changed')
    assert.match(found.report, 'Application argocd/one has applied it, and does not go over')
    const names = new Set(found.commands.flatMap((command) => /\b(one|two|free)\b/.exec(command)?.[1] ?? []))
    assert.equal([...names], ['free'])
  })

  it('knows who has applied what across namespaces, by each of the marks of Argo CD', async () => {
    const there = (name: string, mark: object) => ({ ...app(name), metadata: { name, namespace: 'team-a', ...mark } })
    const found = await importing('argo', [
      there('a', { annotations: { 'argocd.argoproj.io/tracking-id': 'root:argoproj.io/Application:team-a/a' } }),
      there('b', { labels: { 'argocd.argoproj.io/instance': 'root' } }),
      there('c', { annotations: { 'argocd.argoproj.io/tracking-id': 'team-b_other:argoproj.io/Application:team-a/c' } }),
      there('d', { labels: { 'app.kubernetes.io/instance': 'release', 'app.kubernetes.io/managed-by': 'Helm' } }),
      { ...app('other'), metadata: { name: 'other', namespace: 'team-b' } },
      at('root', {}),
    ])
    assert.equal(stopped(found.commands), ['d', 'other', 'root', 'a', 'b', 'c'])
  })
})
