import * as assert from 'uvu/assert'
import { describe } from '../../support/suite.ts'
import { importing, specOf } from './imported.ts'

const metadata = (name: string, namespace: string) => ({ name, namespace })
const repository = (spec: object = {}) => ({
  apiVersion: 'source.toolkit.fluxcd.io/v1',
  kind: 'GitRepository',
  metadata: metadata('fleet', 'flux-system'),
  spec: { url: URL, interval: '1m0s', ref: { branch: 'main' }, ...spec },
})
const URL = 'https://git.example.com/fleet.git'
const sourceRef = { kind: 'GitRepository', name: 'fleet' }
const kustomization = (spec: object, name = 'apps', more: object = {}) => ({
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: { ...metadata(name, 'flux-system'), ...more },
  spec: { interval: '10m', path: './apps', prune: true, sourceRef, serviceAccountName: 'deployer', ...spec },
})
const helmRelease = (spec: object) => ({
  apiVersion: 'helm.toolkit.fluxcd.io/v2',
  kind: 'HelmRelease',
  metadata: metadata('shop', 'team-a'),
  spec: {
    interval: '5m',
    chart: { spec: { chart: './charts/shop', sourceRef: { ...sourceRef, namespace: 'flux-system' } } },
    ...spec,
  },
})
const SOURCE = { repoURL: URL, project: 'flux-system/fleet', path: 'apps', targetRevision: 'main' }
const ours = (name: string, namespace: string, spec: object) => ({
  apiVersion: 'managed-gitops.redhat.com/v1alpha1',
  kind: 'GitOpsDeployment',
  metadata: { name, namespace },
  spec: { ...spec, suspend: true },
})

describe('a Kustomization of Flux', (it) => {
  it('becomes a GitOpsDeployment, and its GitRepository a GitProject', async () => {
    const found = await importing('flux', [kustomization({}), repository()])
    assert.is(found.code, 0, found.stderr)
    assert.equal(found.objects, [
      {
        apiVersion: 'berth.dev/v1alpha1',
        kind: 'GitProject',
        metadata: metadata('fleet', 'flux-system'),
        spec: { url: URL, pollInterval: '1m0s', path: 'flux-system/fleet' },
      },
      ours('apps', 'flux-system', {
        source: SOURCE,
        type: 'automated',
        interval: '10m',
        deletionPolicy: 'Delete',
        serviceAccountName: 'deployer',
      }),
    ])
    assert.match(found.report, '✓ Kustomization flux-system/apps')
  })

  it('keeps variables, keys and what comes before it', async () => {
    const spec = {
      prune: false,
      force: true,
      dependsOn: [{ name: 'infra' }, { name: 'gone' }],
      postBuild: {
        substitute: { region: 'eu', count: '3' },
        substituteFrom: [{ kind: 'Secret', name: 'facts', optional: true }],
      },
      decryption: { provider: 'sops', secretRef: { name: 'sops-age' } },
    }
    const found = await importing('flux', [repository(), kustomization(spec), kustomization({ prune: true }, 'infra')])
    const { variables, decryption, dependsOn, prune, force, deletionPolicy } = specOf(found, 'GitOpsDeployment', 'apps')
    assert.equal(
      { variables, decryption, dependsOn, prune, force, deletionPolicy },
      {
        variables: {
          values: { region: 'eu', count: '3' },
          from: [{ kind: 'Secret', name: 'facts', optional: true }],
          strict: false,
        },
        decryption: { provider: 'sops', secretRef: { name: 'sops-age' } },
        dependsOn: [{ name: 'infra' }],
        prune: false,
        force: true,
        deletionPolicy: 'Orphan',
      },
    )
    assert.match(found.report, 'spec.dependsOn[1]: Kustomization flux-system/gone was not given, or has no match.')
  })

  it('goes where its objects go, and says what is needed there', async () => {
    const found = await importing('flux', [repository(), kustomization({ targetNamespace: 'team-a' })])
    assert.is(found.objects.at(-1)?.metadata.namespace, 'team-a')
    assert.equal(specOf(found, 'GitProject').grants, { serviceAccounts: [{ name: 'deployer', namespace: 'team-a' }] })
    assert.match(found.report, 'spec.targetNamespace: Flux puts every object into it, and Berth those that name none')
    assert.match(found.report, 'It is made in team-a: ConfigMaps, Secrets and service accounts of flux-system')
    const elsewhere = await importing('flux', [
      repository(),
      kustomization({ kubeConfig: { secretRef: { name: 'production' } }, targetNamespace: 'shop' }),
    ])
    assert.equal(specOf(elsewhere, 'GitOpsDeployment').destination, { environment: 'production', namespace: 'shop' })
    assert.is(elsewhere.objects.at(-1)?.metadata.namespace, 'flux-system')
  })

  it('names what has no match, and why it has none at all', async () => {
    const spec = {
      images: [{ name: 'a' }],
      patches: [{ patch: 'x' }],
      healthCheckExprs: [{ kind: 'A' }],
      suspend: true,
      novel: 1,
    }
    const found = await importing('flux', [repository(), kustomization({ ...spec, serviceAccountName: undefined })])
    for (const said of [
      'spec.images: Write it into the kustomization.yaml in Git.',
      'spec.patches: Write it into the kustomization.yaml in Git.',
      'spec.healthCheckExprs: Write it as spec.healthRules',
      'spec.suspend: It is suspended in Flux, and rests here',
      'spec.novel: It has no match.',
    ])
      assert.match(found.report, said)
    const bucket = await importing('flux', [kustomization({ sourceRef: { kind: 'Bucket', name: 'b' } })])
    assert.equal([bucket.code, bucket.stdout], [1, ''])
    assert.match(bucket.report, 'Berth follows no Bucket.')
    const alone = await importing('flux', [kustomization({})])
    assert.match(alone.report, 'GitRepository flux-system/fleet is not among what was given')
  })
})

describe('a GitRepository of Flux', (it) => {
  it('gives its revision to those who follow it', async () => {
    const follows = async (ref: object | undefined) => {
      const { targetRevision, semver } = {
        targetRevision: undefined,
        semver: undefined,
        ...(specOf(await importing('flux', [repository({ ref }), kustomization({})]), 'GitOpsDeployment').source ?? {}),
      }
      return targetRevision ?? { semver }
    }
    assert.is(await follows(undefined), 'master')
    assert.is(await follows({ branch: 'dev' }), 'dev')
    assert.is(await follows({ branch: 'dev', tag: 'v1' }), 'v1')
    assert.equal(await follows({ tag: 'v1', semver: '>=1.0.0' }), { semver: '>=1.0.0' })
    assert.is(await follows({ semver: '1.x', name: 'refs/pull/7/head' }), 'refs/pull/7/head')
    assert.is(await follows({ branch: 'main', commit: 'c0ffee' }), 'c0ffee')
    assert.is(await follows({ branch: 'main', tag: '', semver: '' }), 'main')
  })

  it('keeps its credentials and keys, and says what they are called here', async () => {
    const spec = {
      url: 'ssh://git@git.example.com/fleet',
      secretRef: { name: 'fleet-key' },
      verify: { mode: 'Tag', secretRef: { name: 'keys' } },
    }
    const found = await importing('flux', [repository({ ...spec, recurseSubmodules: true, interval: '1m0.5s', ignore: '/docs' })])
    const { credentialsSecretRef, verify, pollInterval } = specOf(found, 'GitProject')
    assert.equal(
      { credentialsSecretRef, verify, pollInterval },
      {
        credentialsSecretRef: { name: 'fleet-key' },
        verify: { mode: 'HEAD', secretRef: { name: 'keys' } },
        pollInterval: undefined,
      },
    )
    for (const said of [
      'Add the field `ssh-privatekey` to Secret fleet-key',
      'spec.verify.mode: Signatures of tags are not verified',
      'spec.interval: 1m0.5s is no duration',
      'spec.ignore: Files that it leaves out are read here',
      'spec.recurseSubmodules: All that belongs to the path must lie in the one repository.',
    ])
      assert.match(found.report, said)
  })
})

describe('a HelmRelease of Flux', (it) => {
  it('becomes a GitOpsDeployment of its chart in Git', async () => {
    const spec = {
      targetNamespace: 'shop',
      values: { replicas: 2 },
      valuesFrom: [
        { kind: 'Secret', name: 'shop-values', valuesKey: 'prod.yaml' },
        { kind: 'ConfigMap', name: 'one', targetPath: 'a.b' },
      ],
      install: { crds: 'Skip', createNamespace: true, remediation: { retries: 3 } },
      driftDetection: { mode: 'enabled', ignore: [{ paths: ['/spec/replicas'], target: { kind: 'Deployment' } }] },
    }
    const found = await importing('flux', [repository(), helmRelease(spec)])
    assert.equal(
      found.objects.at(-1),
      ours('shop', 'shop', {
        source: {
          ...SOURCE,
          path: 'charts/shop',
          helm: {
            releaseName: 'shop-shop',
            valuesFrom: [{ kind: 'Secret', name: 'shop-values', valuesKey: 'prod.yaml' }],
            values: { replicas: 2 },
            skipCrds: true,
          },
        },
        type: 'automated',
        interval: '5m',
        syncPolicy: { syncOptions: ['CreateNamespace=true'] },
        deletionPolicy: 'Delete',
        ignore: [{ paths: ['/spec/replicas'], target: { kind: 'Deployment' } }],
        serviceAccountName: 'berth-deployer',
      }),
    )
    assert.match(found.report, 'spec.valuesFrom[1].targetPath: One value out of an object has no match')
    assert.not.match(found.report, 'remediation')
    assert.ok(found.commands.includes('kubectl delete secrets -n team-a -l owner=helm,name=shop-shop'))
  })

  it('has its files of values from the directory of the chart, and looks away from drift as Flux does', async () => {
    const chart = {
      spec: {
        chart: 'charts/shop',
        sourceRef: { ...sourceRef, namespace: 'flux-system' },
        valuesFiles: ['charts/shop/a.yaml', 'values/b.yaml'],
      },
    }
    const found = await importing('flux', [repository(), helmRelease({ chart })])
    const { source, drift } = specOf(found, 'GitOpsDeployment')
    assert.is(drift, 'Detect')
    assert.equal(source, {
      ...SOURCE,
      path: 'charts/shop',
      helm: { releaseName: 'shop', valueFiles: ['a.yaml', '../../values/b.yaml'] },
    })
    assert.match(found.report, 'The values.yaml of the chart counts here in any case')
  })

  const published = (kind: string, name: string, spec: object) => ({
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    kind,
    metadata: metadata(name, 'team-a'),
    spec: { interval: '5m', ...spec },
  })
  const made = async (...given: Parameters<typeof importing>[1][number][]) => {
    const found = await importing('flux', given)
    assert.is(found.code, 0, found.stderr)
    const { source } = specOf(found, 'GitOpsDeployment')
    return { project: specOf(found, 'GitProject'), source, report: found.report }
  }

  it('of a HelmRepository becomes one of the published chart', async () => {
    const chart = { spec: { chart: 'redis', version: '1.x', sourceRef: { kind: 'HelmRepository', name: 'charts' } } }
    const web = { url: 'https://charts.example.com', secretRef: { name: 'login' } }
    const found = await made(published('HelmRepository', 'charts', web), helmRelease({ chart }))
    assert.equal(found.project, {
      ...{ url: web.url, type: 'helm', path: 'team-a/charts', pollInterval: '5m', credentialsSecretRef: { name: 'login' } },
    })
    assert.equal(found.source, {
      project: 'team-a/charts',
      chart: { repository: web.url, name: 'redis', version: '1.x' },
      helm: { releaseName: 'shop' },
    })
    const registry = published('HelmRepository', 'charts', { type: 'oci', url: 'oci://registry.example.com/charts' })
    const latest = { spec: { ...chart.spec, version: '*' } }
    const ofRegistry = await made(registry, helmRelease({ chart: latest }))
    assert.equal(ofRegistry.project, { url: 'oci://registry.example.com/charts', path: 'team-a/charts', pollInterval: '5m' })
    assert.equal(ofRegistry.source, {
      project: 'team-a/charts',
      chart: { oci: 'oci://registry.example.com/charts', name: 'redis' },
      helm: { releaseName: 'shop' },
    })
  })

  it('of an OCIRepository becomes one of the artifact, as a Kustomization does', async () => {
    const url = 'oci://registry.example.com/charts/redis'
    const redis = (ref: object, rest: object = {}) =>
      published('OCIRepository', 'redis', { url, ref, secretRef: { name: 'pull' }, ...rest })
    const release = helmRelease({ chart: undefined, chartRef: { kind: 'OCIRepository', name: 'redis' } })
    const verify = { provider: 'cosign', secretRef: { name: 'keys' } }
    const found = await made(redis({ semver: '>=1.0.0' }, { verify }), release)
    assert.equal(found.project, {
      ...{ url, path: 'team-a/redis', pollInterval: '5m', credentialsSecretRef: { name: 'pull' } },
      verify: { secretRef: { name: 'keys' } },
    })
    assert.equal(found.source, {
      ...{ project: 'team-a/redis', repoURL: url, path: '.', semver: '>=1.0.0', helm: { releaseName: 'shop' } },
    })
    const keyless = { provider: 'cosign', matchOIDCIdentity: [{ issuer: 'x', subject: 'y' }] }
    const more = { verify: keyless, provider: 'aws', layerSelector: { mediaType: 'x' } }
    const { report, project } = await made(redis({}, more), release)
    assert.is(project.verify, undefined)
    assert.match(report, /spec\.verify: Signatures are verified by keys of cosign, in a Secret/)
    assert.match(report, /spec\.provider: The identity of aws is not shown/)
    assert.is(report.split('spec.layerSelector').length, 2)
    const ofRedis = { sourceRef: { kind: 'OCIRepository', name: 'redis', namespace: 'team-a' }, path: './deploy' }
    const built = await made(redis({ tag: 'v1' }), kustomization(ofRedis))
    assert.equal(built.source, { project: 'team-a/redis', repoURL: url, path: 'deploy', targetRevision: 'v1' })
  })

  it('names a source that was not given, and makes the others', async () => {
    const chart = { spec: { chart: 'redis', sourceRef: { kind: 'HelmRepository', name: 'charts' } } }
    const found = await importing('flux', [repository(), helmRelease({ chart }), kustomization({})])
    assert.is(found.code, 1)
    assert.equal(
      found.objects.map(({ kind }) => kind),
      ['GitProject', 'GitOpsDeployment'],
    )
    assert.match(found.report, '✗ HelmRelease team-a/shop')
    assert.match(found.report, 'HelmRepository team-a/charts is not among what was given')
  })

  it('of the name of a Kustomization gets another one, and what depends on it follows', async () => {
    const found = await importing('flux', [
      repository(),
      kustomization({ targetNamespace: 'team-a' }, 'shop'),
      helmRelease({}),
      { ...helmRelease({ dependsOn: [{ name: 'shop' }] }), metadata: metadata('web', 'team-a') },
    ])
    assert.equal(
      found.objects.map(({ metadata: { name } }) => name),
      ['fleet', 'shop', 'shop-helm', 'web'],
    )
    assert.equal(specOf(found, 'GitOpsDeployment', 'web').dependsOn, [{ name: 'shop-helm' }])
  })

  it('stays in its namespace, keeps the names of its objects, and rests where it rested', async () => {
    const long = 'a-name-of-a-release-that-is-longer-than-helm-takes-it'
    const found = await importing(
      'flux',
      [
        repository(),
        { ...helmRelease({ targetNamespace: 'shop', suspend: true }), metadata: metadata(long, 'team-a') },
        helmRelease({}),
      ],
      ['--into', 'elsewhere'],
    )
    assert.equal(
      found.objects.map(({ kind, metadata: { namespace } }) => [kind, namespace]),
      [
        ['GitProject', 'flux-system'],
        ['GitOpsDeployment', 'shop'],
        ['GitOpsDeployment', 'team-a'],
      ],
    )
    // printf %s shop-a-name-of-a-release-that-is-longer-than-helm-takes-it | sha256sum
    assert.match(
      JSON.stringify(specOf(found, 'GitOpsDeployment', long).source),
      '"releaseName":"shop-a-name-of-a-release-that-is-longer--e5c81bf56471"',
    )
    assert.ok(found.commands.includes(`berth diff ${long} -n shop`))
    assert.not.ok(found.commands.some((command) => command.startsWith(`berth resume ${long}`)))
    assert.not.ok(found.commands.some((command) => command.includes(`delete helmreleases.helm.toolkit.fluxcd.io ${long}`)))
  })

  it('of another cluster is for an environment, or has no match', async () => {
    const remote = await importing('flux', [repository(), helmRelease({ kubeConfig: { secretRef: { name: 'prod' } } })])
    assert.equal(specOf(remote, 'GitOpsDeployment').destination, { environment: 'prod', namespace: 'team-a' })
    assert.not.ok(remote.commands.some((command) => command.includes('owner=helm')))
    const byConfigMap = await importing('flux', [repository(), kustomization({ kubeConfig: { configMapRef: { name: 'prod' } } })])
    assert.is(byConfigMap.code, 1)
    assert.match(byConfigMap.report, 'spec.kubeConfig: Berth knows clusters by a GitOpsDeploymentManagedEnvironment')
    assert.equal(byConfigMap.commands, [])
  })
})
