import * as assert from 'uvu/assert'
import type { GitOpsDeploymentSet } from '../../../src/api/index.ts'
import { desiredOf } from '../../../src/operator/gitops-deployment-set/desired.ts'
import { elementsOf, simpleGenerators } from '../../../src/operator/gitops-deployment-set/elements.ts'
import { describe } from '../../support/suite.ts'
import { importing, type Printed, specOf } from './imported.ts'

const URL = 'https://git.example.com/platform.git'
const set = (spec: object, metadata: object = {}) => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'ApplicationSet',
  metadata: { name: 'addons', namespace: 'argocd', ...metadata },
  spec,
})
const template = (name: string, path: string, more: object = {}) => ({
  metadata: { name },
  spec: {
    project: 'default',
    source: { repoURL: URL, path, targetRevision: 'main' },
    destination: { name: 'in-cluster', namespace: 'argocd' },
    syncPolicy: { automated: { prune: true, selfHeal: true } },
    ...more,
  },
})
const git = { repoURL: URL, revision: 'HEAD', directories: [{ path: 'addons/*' }, { path: 'addons/old', exclude: true }] }
const list = { elements: [{ app: 'web', replicas: 3 }, { app: 'api' }] }
const made = (spec: object, words: string[] = []) => importing('argo', [set(spec)], words)

/** What the operator would make of the only set that was printed, by name. */
async function madeBy({ objects }: Printed, files: string[] = []) {
  const printed: GitOpsDeploymentSet = JSON.parse(JSON.stringify(objects.find(({ kind }) => kind === 'GitOpsDeploymentSet')))
  const names = new Map(simpleGenerators(printed.spec).map(([field]) => [field, files] as const))
  return desiredOf(printed, elementsOf(printed.spec, { environments: [], names }))
}

describe('an ApplicationSet', (it) => {
  it('becomes a GitOpsDeploymentSet of the same directories, by either way of writing templates', async () => {
    for (const [name, path] of [
      ['{{path.basename}}', '{{ path }}'],
      ['{{ .path.basename }}', '{{- .path.path -}}'],
    ] as const) {
      const found = await made({ generators: [{ git }], goTemplate: name.includes(' .'), template: template(name, path) })
      assert.is(found.code, 0, found.stderr)
      assert.equal(specOf(found, 'GitOpsDeploymentSet'), {
        generators: [{ directories: { pattern: 'addons/*', project: 'platform', except: ['addons/old', 'addons/.*'] } }],
        template: {
          metadata: { name: '${directory}' },
          spec: {
            source: { repoURL: URL, project: 'argocd/platform', path: '${path}', targetRevision: 'main' },
            type: 'automated',
            deletionPolicy: 'Wait',
            serviceAccountName: 'berth-deployer',
            suspend: true,
          },
        },
      })
    }
  })

  it('keeps its elements, and each with each', async () => {
    const matrix = { generators: [{ list }, { git }] }
    const found = await made({ generators: [{ matrix }], template: template('{{app}}-{{path.basename}}', '{{path}}/{{app}}') })
    const { generators, template: ours } = specOf(found, 'GitOpsDeploymentSet')
    assert.equal(generators, [
      {
        product: [
          { list: { elements: [{ app: 'web', replicas: '3' }, { app: 'api' }] } },
          { directories: { pattern: 'addons/*', project: 'platform', except: ['addons/old', 'addons/.*'] } },
        ],
      },
    ])
    assert.match(JSON.stringify(ours), '"name":"${app}-${directory}"')
    assert.match(JSON.stringify(ours), '"path":"${path}/${app}"')
  })

  it('of clusters is one of Environments, with their labels', async () => {
    const selector = {
      matchLabels: { 'argocd.argoproj.io/secret-type': 'cluster', tier: 'prod' },
      matchExpressions: [
        { key: 'region', operator: 'NotIn', values: ['us', 'ap'] },
        { key: 'gpu', operator: 'Exists' },
      ],
    }
    const found = await made({
      generators: [{ clusters: { selector, values: { size: 'large' } } }],
      template: template('shop-{{name}}', 'envs/{{metadata.labels.region}}/{{values.size}}', {
        destination: { server: '{{server}}', namespace: 'shop' },
      }),
    })
    const { generators, template: ours } = specOf(found, 'GitOpsDeploymentSet')
    assert.equal(generators, [
      { environments: { labelSelector: 'tier=prod,region notin (us,ap),gpu', labels: { region: 'region' } } },
    ])
    assert.match(JSON.stringify(ours), '"destination":{"environment":"${environment}","namespace":"shop"}')
    assert.match(JSON.stringify(ours), '"path":"envs/${region}/large"')
    assert.match(found.report, 'For each cluster make an Environment')
  })

  it('goes on in waves, and says what stays when an element goes', async () => {
    const step = (value: string, maxUpdate?: unknown) => ({
      matchExpressions: [{ key: 'tier', operator: 'In', values: [value] }],
      ...(maxUpdate !== undefined && { maxUpdate }),
    })
    const found = await made({
      generators: [{ list }],
      strategy: { type: 'RollingSync', rollingSync: { steps: [step('dev'), step('prod', '25%'), step('last', 0)] } },
      syncPolicy: { preserveResourcesOnDeletion: true, applicationsSync: 'create-update' },
      template: template('{{app}}', '{{app}}'),
    })
    const { rollout, removal, template: ours } = specOf(found, 'GitOpsDeploymentSet')
    assert.equal(rollout, {
      steps: [
        { labelSelector: 'tier in (dev)' },
        { labelSelector: 'tier in (prod)', maxAtOnce: '25%' },
        { labelSelector: 'tier in (last)' },
      ],
    })
    assert.equal(removal, { policy: 'Orphan' })
    assert.not.match(JSON.stringify(ours), 'deletionPolicy')
    assert.match(found.report, 'None at all has no match')
  })

  it('keeps what only looks like a variable, and deploys elsewhere by an environment of our own cluster', async () => {
    const found = await made({
      generators: [{ list }],
      template: template('{{app}}', 'x', {
        source: { repoURL: URL, path: 'x', helm: { valuesObject: { text: '${HOME} {{app}}' } } },
        destination: { name: 'in-cluster', namespace: '{{app}}' },
      }),
    })
    const ours = JSON.stringify(specOf(found, 'GitOpsDeploymentSet').template)
    assert.match(ours, '"text":"$${HOME} ${app}"')
    assert.match(ours, '"destination":{"environment":"in-cluster","namespace":"${app}"}')
    assert.match(found.report, 'make a GitOpsDeploymentManagedEnvironment in-cluster')
  })

  it('without a match is named with what there is instead, and its Applications become GitOpsDeployments', async () => {
    const cases: [object, string][] = [
      [{ generators: [{ pullRequest: { github: {} } }] }, 'Berth has lists, Environments, branches and directories'],
      [{ generators: [{ git: { repoURL: URL, files: [{ path: 'x.json' }] } }] }, 'Files with values have no match'],
      [{ generators: [{ list, selector: { matchLabels: { app: 'web' } } }] }, 'Choose the elements where they are made.'],
      [{ generators: [{ list: { elements: [{ a: { b: 1 } }] } }] }, 'Berth has elements that are written out'],
      [
        { generators: [{ list }], template: template('{{app}}-{{replicas}}', 'x') },
        'a text for every name that the template has',
      ],
      [{ generators: [{ matrix: { generators: [{ list }, { list }] } }] }, 'Two of them give the same name'],
      [{ generators: [{ git: { ...git, files: [{ path: 'x' }] } }] }, 'Files with values have no match'],
      [{ generators: [{ git: { repoURL: URL, directories: [{ path: 'envs/{{env}}/*' }] } }] }, 'by patterns with stars'],
      [{ generators: [{ git: { repoURL: URL, directories: [{ path: 'envs/[ab]*' }] } }] }, 'by patterns with stars'],
      [{ generators: [{ clusters: { values: { a: '{{name}}' } } }] }, 'Labels and values that are made of others have no match.'],
      [
        { generators: [{ clusters: { selector: { matchLabels: { tier: '{{tier}}' } } } }] },
        'that are made of others have no match.',
      ],
      [{ generators: [{ list: { elements: [{ app: '{{name}}-x' }] } }] }, 'each with a text for every name'],
      [{ generators: [{ list }], templatePatch: 'x' }, 'Berth has one template for all'],
      [
        {
          generators: [{ git }],
          template: template('{{path.basename}}', '', {
            source: { repoURL: URL, path: '{{path}}', helm: { valueFiles: ['/eu.yaml'] } },
          }),
        },
        '/eu.yaml has no match',
      ],
      [
        {
          generators: [{ list }],
          template: { ...template('{{app}}', 'x'), metadata: { name: '{{app}}', labels: { '{{app}}': 'x' } } },
        },
        '{{app}} is more than the name of a value.',
      ],
      [
        {
          generators: [{ list }],
          template: template('{{app}}', 'x', { destination: { server: 'https://{{app}}', namespace: 'x' } }),
        },
        'Where it goes is no cluster of a list',
      ],
      [{ generators: [{ list }, { list: { elements: [{ app: 'x' }] } }, { pullRequest: {} }] }, 'generators[2]'],
      [
        { generators: [{ list }], template: template('{{app | upper}}', '{{app}}') },
        '{{app | upper}} is more than the name of a value.',
      ],
      [{ generators: [{ list }], template: template('{{app}}', '{{path}}') }, '{{path}} is more than the name of a value.'],
      [{ generators: [{ list }], template: { metadata: { name: 'x' } } }, 'It has no template with a name and a spec.'],
      [{ generators: [] }, 'They give a name in different ways, or there is none'],
    ]
    for (const [spec, said] of cases) {
      const found = await made({ template: template('{{app}}', '{{app}}'), ...spec })
      assert.equal([found.code, found.objects.filter(({ kind }) => kind === 'GitOpsDeploymentSet')], [1, []], said)
      assert.match(found.report, said)
    }
  })

  it('goes over with its Applications: they let go of what its own take', async () => {
    const owner = { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'addons', uid: 'u' }
    const child = { ...set(template('', 'web').spec, { name: 'web', ownerReferences: [owner] }), kind: 'Application' }
    const found = await importing('argo', [set({ generators: [{ list }], template: template('{{app}}', '{{app}}') }), child])
    assert.equal(
      found.objects.map(({ kind }) => kind),
      ['GitProject', 'GitOpsDeploymentSet'],
    )
    assert.equal(
      found.commands.map((command) => command.replace(/ -p .*/, '')),
      [
        'berth onboard argocd',
        'kubectl apply -f berth.yaml',
        'kubectl patch applicationsets.argoproj.io addons -n argocd --type merge',
        'kubectl patch applications.argoproj.io web -n argocd --type merge',
        'berth diff web -n argocd',
        'kubectl patch gitopsdeploymentsets.berth.dev addons -n argocd --type json',
        'kubectl patch applicationsets.argoproj.io addons -n argocd --type merge',
        'kubectl patch applications.argoproj.io web -n argocd --type merge',
        'kubectl delete applicationsets.argoproj.io addons -n argocd --cascade=orphan',
        'kubectl delete applications.argoproj.io web -n argocd',
      ],
    )
  })

  it('gives its operator what Argo CD has: the same names, values of the same types', async () => {
    const elements = [
      { cluster: 'dev', url: 'https://kubernetes.default.svc', version: '1.20', replicas: '2' },
      { cluster: 'prod', url: 'https://1.2.3.4', version: '1234e56', replicas: '3' },
    ]
    const helm = {
      valueFiles: ['values-{{.cluster}}.yaml'],
      valuesObject: { image: { tag: '{{.version}}' }, note: 'on {{.cluster}}' },
      parameters: [
        { name: 'replicas', value: '{{.replicas}}' },
        { name: 'build', value: '{{.version}}', forceString: true },
      ],
    }
    const spec = {
      source: { repoURL: URL, path: 'charts/{{.cluster}}', helm },
      destination: { server: '{{.url}}', namespace: 'shop' },
    }
    const found = await made({
      goTemplate: true,
      generators: [{ list: { elements } }],
      template: template('{{.cluster}}-shop', '', spec),
    })
    assert.is(found.code, 0, found.stderr)
    assert.match(found.report, 'Make the Environment 1-2-3-4, with the credentials of the cluster.')
    const all = [...(await madeBy(found)).values()].map(({ object }) => object())
    assert.equal(
      all.map(({ metadata: { name } }) => name),
      ['dev-shop', 'prod-shop'],
    )
    const values = '# as text\nimage: {tag: "{{version}}"}\nbuild: {{replicas}}\n'
    const asTexts = {
      source: { repoURL: URL, path: 'x', helm: { values } },
      destination: { name: 'in-cluster', namespace: 'argocd' },
    }
    const other = await made({ generators: [{ list: { elements } }], template: template('{{cluster}}', '', asTexts) })
    const [first] = [...(await madeBy(other)).values()].map(({ object }) => JSON.stringify(object().spec))
    assert.match(first ?? '', '"values":{"image":{"tag":"1.20"},"build":2}')
    const [dev, prod] = all.map(({ spec: one }) => JSON.stringify(one))
    assert.match(
      dev ?? '',
      '"valueFiles":["values-dev.yaml"],"values":{"image":{"tag":"1.20"},"note":"on dev","replicas":2,"build":"1.20"}',
    )
    assert.match(dev ?? '', '"destination":{"environment":"in-cluster","namespace":"shop"}')
    assert.match(prod ?? '', '"tag":"1234e56"')
    assert.match(prod ?? '', '"destination":{"environment":"1-2-3-4","namespace":"shop"}')
  })

  it('of overlapping directories has each once, and none that is hidden', async () => {
    const directories = [{ path: 'apps/*' }, { path: 'apps/x' }, { path: 'more/*' }]
    const found = await made({
      generators: [{ git: { repoURL: URL, directories } }],
      template: template('{{path.basename}}', '{{path}}'),
    })
    const files = ['apps/x/a.yaml', 'apps/y/b.yaml', 'apps/.github/c.yaml', 'more/z/d.yaml', 'README.md']
    assert.equal([...(await madeBy(found, files)).keys()], ['x', 'y', 'z'])
  })

  it('in steps is synchronised by itself, as Argo CD does then, and by hand where it is so', async () => {
    const byHand = template('{{app}}', '{{app}}', { syncPolicy: {} })
    const inSteps = await made({ generators: [{ list }], strategy: { type: 'RollingSync' }, template: byHand })
    assert.match(JSON.stringify(specOf(inSteps, 'GitOpsDeploymentSet').template), '"type":"automated"')
    const manual = await made({ generators: [{ list }], template: byHand })
    assert.match(JSON.stringify(specOf(manual, 'GitOpsDeploymentSet').template), '"type":"manual"')
  })
})
