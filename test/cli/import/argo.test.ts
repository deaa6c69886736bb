import * as assert from 'uvu/assert'
import { describe } from '../../support/suite.ts'
import { importing, specOf } from './imported.ts'

const application = (spec: object, metadata: object = {}) => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Application',
  metadata: { name: 'shop', namespace: 'argocd', ...metadata },
  spec: { destination: HERE, project: 'default', ...spec },
})
const HERE = { server: 'https://kubernetes.default.svc', namespace: 'team-a' }
const URL = 'https://git.example.com/team-a/shop.git'
const AUTOMATED = { automated: { prune: true, selfHeal: true } }
const whole = {
  source: { repoURL: URL, path: './deploy/', targetRevision: 'main', directory: { recurse: true } },
  syncPolicy: AUTOMATED,
}

describe('an Application', (it) => {
  it('becomes a GitOpsDeployment in its destination, and its repository a GitProject', async () => {
    const found = await importing('argo', [application(whole)])
    assert.is(found.code, 0, found.stderr)
    assert.equal(found.objects, [
      {
        apiVersion: 'berth.dev/v1alpha1',
        kind: 'GitProject',
        metadata: { name: 'shop', namespace: 'team-a' },
        spec: { url: URL, path: 'team-a/shop' },
      },
      {
        apiVersion: 'managed-gitops.redhat.com/v1alpha1',
        kind: 'GitOpsDeployment',
        metadata: { name: 'shop', namespace: 'team-a' },
        spec: {
          source: { repoURL: URL, project: 'team-a/shop', path: 'deploy', targetRevision: 'main' },
          type: 'automated',
          serviceAccountName: 'berth-deployer',
          suspend: true,
        },
      },
    ])
    assert.match(found.report, '✓ Application argocd/shop')
  })

  it('follows the default branch by HEAD, and a range by its signs', async () => {
    const follows = async (targetRevision: string) => {
      const { source } = specOf(
        await importing('argo', [application({ ...whole, source: { repoURL: URL, targetRevision } })]),
        'GitOpsDeployment',
      )
      return source
    }
    const base = { repoURL: URL, project: 'team-a/shop', path: '.' }
    assert.equal(await follows('HEAD'), base)
    assert.equal(await follows('v1.*'), { ...base, semver: 'v1.*' })
    assert.equal(await follows('>=1.2.0 <2.0.0'), { ...base, semver: '>=1.2.0 <2.0.0' })
    assert.equal(await follows('1.x'), { ...base, semver: '1.x' })
    assert.equal(await follows('release-1.x'), { ...base, targetRevision: 'release-1.x' })
    assert.equal(await follows('v1.2.3'), { ...base, targetRevision: 'v1.2.3' })
  })

  it('deletes, repairs and creates as Argo CD does without a word', async () => {
    const found = await importing('argo', [application({ ...whole, syncPolicy: { automated: {} } })])
    const { type, prune, drift, deletionPolicy } = specOf(found, 'GitOpsDeployment')
    assert.equal(
      { type, prune, drift, deletionPolicy },
      { type: 'automated', prune: false, drift: 'Detect', deletionPolicy: undefined },
    )
    const byHand = await importing('argo', [application({ ...whole, syncPolicy: undefined })])
    assert.is(specOf(byHand, 'GitOpsDeployment').type, 'manual')
    assert.match(byHand.report, 'It is synchronised by hand')
    assert.ok(byHand.commands.includes('berth sync shop -n team-a --wait'))
    const disabled = await importing('argo', [
      application({ ...whole, syncPolicy: { automated: { enabled: false, prune: true } } }),
    ])
    assert.is(specOf(disabled, 'GitOpsDeployment').type, 'manual')
  })

  it('keeps its options of a sync, and names those that have no match', async () => {
    const syncOptions = [
      'CreateNamespace=true',
      'PruneLast=true',
      'ServerSideApply=true',
      'Validate=false',
      'Replace=true',
      'Delete=confirm',
    ]
    const found = await importing('argo', [application({ ...whole, syncPolicy: { ...AUTOMATED, syncOptions } })])
    assert.equal(specOf(found, 'GitOpsDeployment').syncPolicy, { syncOptions: ['CreateNamespace=true', 'PruneLast=true'] })
    assert.match(found.report, 'spec.syncPolicy.syncOptions: Replace=true has no match.')
    assert.match(found.report, 'Validate=false has no match.')
    assert.match(found.report, 'Delete=confirm has no match.')
    assert.not.match(found.report, 'ServerSideApply')
  })

  it('leaves alone what Argo CD does, by pointers and by jq where it is a place', async () => {
    const ignoreDifferences = [
      {
        group: 'apps',
        kind: 'Deployment',
        jsonPointers: ['/spec/replicas'],
        jqPathExpressions: ['.metadata.annotations["a.b/c"]'],
      },
      { kind: 'Service', name: 'web', jqPathExpressions: ['.spec.ports[0].nodePort', '.spec.ports[]?.nodePort'] },
      { group: '*', kind: '*', managedFieldsManagers: ['kube-controller-manager'] },
    ]
    const found = await importing('argo', [application({ ...whole, ignoreDifferences })])
    assert.equal(specOf(found, 'GitOpsDeployment').ignore, [
      { paths: ['/spec/replicas', '/metadata/annotations/a.b~1c'], target: { group: 'apps', kind: 'Deployment' } },
      { paths: ['/spec/ports/0/nodePort'], target: { group: '', kind: 'Service', name: 'web' } },
    ])
    assert.match(found.report, 'spec.ignoreDifferences[1].jqPathExpressions: .spec.ports[]?.nodePort is more than a place.')
    assert.match(found.report, 'What a manager has set is no rule of Berth')
  })

  it('goes with its objects or without them, as its finalizer says', async () => {
    const policy = async (...finalizers: string[]) =>
      specOf(await importing('argo', [application(whole, { finalizers })]), 'GitOpsDeployment').deletionPolicy
    assert.is(await policy(), undefined)
    assert.is(await policy('resources-finalizer.argocd.argoproj.io'), 'Wait')
    assert.is(await policy('resources-finalizer.argocd.argoproj.io/background'), 'Delete')
  })
})

describe('a chart of an Application', (it) => {
  const rendered = async (helm: object, path = 'charts/shop') => {
    const found = await importing('argo', [application({ ...whole, source: { repoURL: URL, path, helm } })])
    return { found, source: specOf(found, 'GitOpsDeployment').source }
  }

  it('has the values that win in Argo CD', async () => {
    const { found, source } = await rendered({
      releaseName: 'web',
      valueFiles: ['values-prod.yaml', '/values/eu.yaml'],
      values: 'replicas: 1\nimage: {tag: a}\n',
      parameters: [
        { name: 'image.tag', value: '1.10', forceString: true },
        { name: 'replicas', value: '3' },
        { name: 'on', value: 'true' },
        { name: 'zip', value: '01234' },
      ],
      skipCrds: true,
    })
    assert.equal(source, {
      repoURL: URL,
      project: 'team-a/shop',
      path: 'charts/shop',
      helm: {
        releaseName: 'web',
        valueFiles: ['values-prod.yaml', '../../values/eu.yaml'],
        values: { replicas: 3, image: { tag: '1.10' }, on: true, zip: '01234' },
        skipCrds: true,
      },
    })
    assert.is(found.code, 0)
  })

  it('names the values that Berth cannot take', async () => {
    const { found } = await rendered({
      valueFiles: ['https://example.com/values.yaml', '$ref/values.yaml', 'env/*.yaml'],
      parameters: [
        { name: 'list[0]', value: 'x' },
        { name: 'a.b', value: '{x,y}' },
        { name: 'a\\.b', value: 'x' },
      ],
      fileParameters: [{ name: 'x', path: 'y' }],
      apiVersions: ['a/v1'],
    })
    for (const said of [
      'https://example.com/values.yaml has no match',
      '$ref/values.yaml has no match',
      'env/*.yaml has no match',
    ])
      assert.match(found.report, said)
    for (const name of ['list[0]', 'a.b', 'a\\.b']) assert.match(found.report, `helm.parameters: ${name} is written as`)
    assert.match(found.report, 'spec.source.helm.fileParameters: It has no match')
    assert.match(found.report, 'spec.source.helm.apiVersions: It has no match')
    assert.equal(specOf(found, 'GitOpsDeployment').source, {
      repoURL: URL,
      project: 'team-a/shop',
      path: 'charts/shop',
      helm: {},
    })
  })

  it('that is published, on a web server or in a registry, is one here, too', async () => {
    const made = async (source: object) => {
      const found = await importing('argo', [application({ source })])
      assert.is(found.code, 0, found.stderr)
      const { url, type } = specOf(found, 'GitProject')
      return { url, type, source: specOf(found, 'GitOpsDeployment').source }
    }
    const helm = { valueFiles: ['values-prod.yaml'], releaseName: 'cache' }
    assert.equal(await made({ repoURL: 'https://charts.example.com', chart: 'redis', targetRevision: '1.x', helm }), {
      url: 'https://charts.example.com',
      type: 'helm',
      source: {
        project: 'team-a/charts-example-com',
        chart: { repository: 'https://charts.example.com', name: 'redis', version: '1.x' },
        helm,
      },
    })
    for (const repoURL of ['registry.example.com/charts', 'oci://registry.example.com/charts'])
      assert.equal(await made({ repoURL, chart: 'redis', targetRevision: '1.2.3' }), {
        url: 'oci://registry.example.com/charts',
        type: 'oci',
        source: {
          project: 'team-a/charts',
          chart: { oci: 'oci://registry.example.com/charts', name: 'redis', version: '1.2.3' },
        },
      })
  })

  it('or manifests that are artifacts in a registry, are followed there', async () => {
    const url = 'oci://registry.example.com/team-a/shop'
    const found = await importing('argo', [application({ source: { repoURL: url, path: 'deploy', targetRevision: 'v1' } })])
    assert.is(found.code, 0, found.stderr)
    assert.equal(specOf(found, 'GitOpsDeployment').source, {
      ...{ project: 'team-a/shop', repoURL: url, path: 'deploy', targetRevision: 'v1' },
    })
  })

  it('has no match where there are several sources', async () => {
    const several = await importing('argo', [application({ sources: [whole.source, { repoURL: URL, ref: 'values' }] })])
    assert.is(several.code, 1)
    assert.match(several.report, 'spec.sources: Berth follows one repository')
    const one = await importing('argo', [application({ ...whole, source: undefined, sources: [whole.source] })])
    assert.is(one.code, 0, one.stderr)
  })
})

describe('what is about an Application', (it) => {
  const appProject = (syncWindows: object[]) => ({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'AppProject',
    metadata: { name: 'team', namespace: 'argocd' },
    spec: { syncWindows, sourceRepos: ['*'] },
  })

  it('has the windows of its AppProject that are for it', async () => {
    const found = await importing('argo', [
      application({ ...whole, project: 'team' }),
      appProject([
        { kind: 'allow', schedule: '0 22 * * *', duration: '1h', applications: ['sh*'], manualSync: true },
        { kind: 'deny', schedule: '0 8 * * *', duration: '1h30m', namespaces: ['team-*'], timeZone: 'Europe/Berlin' },
        { kind: 'deny', schedule: '0 9 * * *', duration: '1h', applications: ['other'] },
        {
          kind: 'deny',
          schedule: '0 9 * * *',
          duration: '1h',
          applications: ['shop'],
          clusters: ['elsewhere'],
          andOperator: true,
        },
      ]),
    ])
    assert.equal(specOf(found, 'GitOpsDeployment').syncWindows, [
      { kind: 'Allow', schedule: '0 22 * * *', duration: '1h' },
      { kind: 'Deny', schedule: '0 8 * * *', duration: '1h30m', timeZone: 'Europe/Berlin' },
    ])
    assert.match(found.report, '`berth sync` applies at any time')
    assert.match(found.report, 'spec.sourceRepos: What may be applied is said by the roles')
    const without = await importing('argo', [application({ ...whole, project: 'team' })])
    assert.match(without.report, 'The AppProject team is not among what was given')
  })

  it('names every field that nothing is made of', async () => {
    const odd = {
      kustomize: { images: ['a=b'] },
      directory: { recurse: true, exclude: 'x' },
      newField: 1,
    }
    const found = await importing('argo', [
      application({ ...whole, source: { ...whole.source, ...odd }, unheardOf: { deep: true } }),
    ])
    assert.match(found.report, 'spec.source.kustomize: Write it into the kustomization.yaml in Git.')
    assert.match(found.report, 'spec.source.directory.exclude: Berth reads all manifests')
    assert.match(found.report, 'spec.source.newField: It has no match.')
    assert.match(found.report, 'spec.unheardOf: It has no match.')
  })

  it('for another cluster is for an environment', async () => {
    const destination = { name: 'production', namespace: 'shop' }
    const found = await importing('argo', [application({ ...whole, destination })], ['--into', 'team-a'])
    assert.equal(specOf(found, 'GitOpsDeployment').destination, { environment: 'production', namespace: 'shop' })
    assert.is(found.objects.at(-1)?.metadata.namespace, 'team-a')
    assert.match(found.report, 'For the cluster production make a GitOpsDeploymentManagedEnvironment production')
    const nowhere = await importing('argo', [application({ ...whole, destination: { name: 'production' } })])
    assert.is(nowhere.code, 1)
    assert.match(nowhere.report, 'name one with --into')
  })

  it('shares the GitProject of its repository, and two of one name are told apart', async () => {
    const found = await importing('argo', [application(whole), application(whole, { namespace: 'team-b' })])
    assert.equal(
      found.objects.map(({ kind, metadata }) => [kind, metadata.name]),
      [
        ['GitProject', 'shop'],
        ['GitOpsDeployment', 'shop'],
        ['GitOpsDeployment', 'shop-team-b'],
      ],
    )
    assert.match(found.report, 'It is called shop-team-b here.')
  })

  it('never prints the credentials of a URL', async () => {
    const found = await importing('argo', [
      application({ ...whole, source: { repoURL: 'https://me:hunter2@git.example.com/a.git', path: 'x' } }),
    ])
    assert.is(specOf(found, 'GitProject').url, 'https://git.example.com/a.git')
    assert.not.match(found.stdout + found.stderr, 'hunter2')
    assert.match(found.report, 'Credentials in a URL, and what comes behind ? and #, are left out')
  })

  it('has no match as a whole where a part of it would change what is applied', async () => {
    const helm = (more: object) => ({ ...whole, source: { repoURL: URL, path: 'x', helm: more } })
    const cases: [object, string][] = [
      [{ ...whole, source: { ...whole.source, plugin: { name: 'avp' } } }, 'spec.source.plugin: Berth runs no plug-ins'],
      [helm({ values: 'big: 12345678901234567890' }), 'spec.source.helm.values: Line 1:'],
      [helm({ values: '- a list' }), 'spec.source.helm.values: It is no mapping in YAML.'],
      [helm({ releaseName: 'My_Release' }), 'spec.source.helm.releaseName: Berth would refuse it: it must match pattern'],
      [{ ...whole, source: { ...whole.source, path: '../a' } }, 'spec.source.path: ../a leads out of the repository.'],
      [
        { ...whole, source: { ...whole.source, repoURL: 's3://bucket.example.com/a' } },
        'Berth fetches from https, http and ssh.',
      ],
    ]
    for (const [spec, said] of cases) {
      const found = await importing('argo', [application(spec)])
      assert.equal(
        [found.code, found.objects.filter(({ kind }) => kind === 'GitOpsDeployment'), found.commands],
        [1, [], []],
        said,
      )
      assert.match(found.report, said)
    }
  })

  it('has an environment for each address of a cluster', async () => {
    const at = (name: string, destination: object) =>
      application({ ...whole, destination: { namespace: 'shop', ...destination } }, { name })
    const found = await importing('argo', [
      at('one', { server: 'https://rancher.example.com/k8s/clusters/c-abc' }),
      at('two', { server: 'https://rancher.example.com/k8s/clusters/c-def' }),
      at('three', { name: 'Prod EU' }),
      at('four', { name: 'prod-eu' }),
    ])
    const environments = ['one', 'two', 'three', 'four'].map((name) => {
      const { destination } = specOf(found, 'GitOpsDeployment', name)
      return JSON.stringify(destination)
    })
    assert.is(new Set(environments).size, 4, environments.join())
    assert.is(environments[3], '{"environment":"prod-eu-cluster","namespace":"shop"}')
    assert.match(found.report, 'For the cluster Prod EU make a GitOpsDeploymentManagedEnvironment prod-eu with')
  })

  it('says what Argo CD would put into values, and reads them as Helm does', async () => {
    const parameters = ['True', 'NULL', '-5', '007', '12345678901234567890'].map((value, at) => ({ name: `v${at}`, value }))
    const helm = {
      parameters: [...parameters, { name: 'host', value: '$ARGOCD_APP_NAME.example.com' }],
      valueFiles: ['a-$ARGOCD_ENV_X.yaml'],
    }
    const found = await importing('argo', [application({ ...whole, source: { repoURL: URL, path: 'x', helm } })])
    assert.match(
      JSON.stringify(specOf(found, 'GitOpsDeployment').source),
      '"values":{"v0":true,"v1":null,"v2":-5,"v3":"007","host":',
    )
    assert.match(found.report, 'helm.parameters: v4 is written as')
    assert.match(found.report, 'What Argo CD puts in the place of $ARGOCD_… has no match')
    assert.match(found.report, 'a-$ARGOCD_ENV_X.yaml has no match')
  })

  it('of several sources means the list, and drops what a URL carries', async () => {
    const sources = [{ ...whole.source, repoURL: 'https://git.example.com/new.git?private_token=s3cret#x' }]
    const found = await importing('argo', [application({ ...whole, source: { ...whole.source, path: 'old' }, sources })])
    assert.is(specOf(found, 'GitProject').url, 'https://git.example.com/new.git')
    assert.not.match(found.stdout + found.stderr, 's3cret')
    assert.not.match(found.stdout, 'old')
  })
})
