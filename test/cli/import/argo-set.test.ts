import * as assert from 'uvu/assert'
import { describe } from '../../support/suite.ts'
import { importing, specOf } from './imported.ts'

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

describe('an ApplicationSet', (it) => {
  it('becomes a GitOpsDeploymentSet of the same directories, by either way of writing templates', async () => {
    for (const [name, path] of [
      ['{{path.basename}}', '{{ path }}'],
      ['{{ .path.basename }}', '{{- .path.path -}}'],
    ] as const) {
      const found = await made({ generators: [{ git }], goTemplate: name.includes(' .'), template: template(name, path) })
      assert.is(found.code, 0, found.stderr)
      assert.equal(specOf(found, 'GitOpsDeploymentSet'), {
        generators: [{ directories: { pattern: 'addons/*', project: 'platform', except: ['addons/old'] } }],
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
          { directories: { pattern: 'addons/*', project: 'platform', except: ['addons/old'] } },
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
        'kubectl delete applicationsets.argoproj.io addons -n argocd --cascade=orphan',
        'kubectl patch applications.argoproj.io web -n argocd --type merge',
        'berth diff web -n argocd',
        'kubectl patch gitopsdeploymentsets.berth.dev addons -n argocd --type json',
        'kubectl patch applications.argoproj.io web -n argocd --type merge',
        'kubectl delete applications.argoproj.io web -n argocd',
      ],
    )
  })
})
