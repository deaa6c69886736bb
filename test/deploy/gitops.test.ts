import { match } from 'uvu/assert'
import { type AnyObject, type KubeObject, nameOf } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { apply } from '../support/verbs.ts'

describe('the schemas of delivery', (it) => {
  const cluster = testCluster()
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('delivery')
  })
  it.after(() => cluster.close())

  const object = (apiVersion: string, kind: string, name: string, spec: object): AnyObject => ({
    apiVersion,
    kind,
    metadata: { name },
    spec,
  })
  const put = (one: KubeObject) =>
    apply(cluster.kube, JSON.parse(JSON.stringify(one).replace('NAMESPACE', namespace)), { namespace })
  const managed = (name: string, apiURL: string) =>
    object('managed-gitops.redhat.com/v1alpha1', 'GitOpsDeploymentManagedEnvironment', name, { apiURL, credentialsSecret: 's' })
  const source = { repoURL: 'https://git.example.com/shop.git', path: 'deploy' }
  const deployment = (name: string, spec: object) =>
    object('managed-gitops.redhat.com/v1alpha1', 'GitOpsDeployment', name, { type: 'automated', source, ...spec })
  const project = (spec: object) =>
    object('berth.dev/v1alpha1', 'GitProject', 'shop', {
      path: 'NAMESPACE/shop',
      url: 'https://git.example.com/shop.git',
      ...spec,
    })

  const accepted: [KubeObject, string][] = [
    [managed('https', 'https://api.example.com:6443'), 'its API is reached by https'],
    [managed('empty', ''), 'the seeds let it be empty'],
    [deployment('plain', {}), 'it goes to its own namespace'],
    [deployment('manual', { type: 'manual' }), 'manual is a type'],
    [deployment('create-namespace', { syncPolicy: { syncOptions: ['CreateNamespace=true'] } }), 'the option is known'],
    [deployment('somewhere', { destination: { environment: 'e', namespace: 'n' } }), 'it says where the namespace is'],
    [deployment('root', { source: { ...source, path: '.' } }), 'a dot is the root'],
    [project({}), 'it says all that is needed'],
    [
      deployment('chart', { source: { chart: { repository: 'https://charts.example.com', name: 'web' } } }),
      'the latest is meant',
    ],
    [
      deployment('chart', { source: { chart: { oci: 'oci://example.com/charts', name: 'web', version: '^1' } } }),
      'a registry has charts, too',
    ],
    [project({ url: 'oci://example.com/team-a/shop' }), 'artifacts are in registries'],
    [project({ url: 'https://charts.example.com', type: 'helm' }), 'charts are on web servers'],
  ]
  for (const [given, why] of accepted) it(`take ${nameOf(given)}, because ${why}`, () => put(given))

  const chart = { repository: 'https://charts.example.com', name: 'web' }
  const refused: [KubeObject, RegExp, string][] = [
    [deployment('wrong', { source: {} }), /set either repoURL with path/, 'no source at all'],
    [deployment('wrong', { source: { ...source, chart } }), /set either repoURL with path/, 'a chart beside a repository'],
    [
      deployment('wrong', { source: { repoURL: source.repoURL } }),
      /path is required with repoURL/,
      'a repository without a path',
    ],
    [
      deployment('wrong', { source: { chart, path: '.' } }),
      /path is required with repoURL, and must be left out/,
      'a path in a chart',
    ],
    [
      deployment('wrong', { source: { chart, targetRevision: '1.0.0' } }),
      /the version of a chart is chart\.version/,
      'a revision of a chart',
    ],
    [
      deployment('wrong', { source: { chart: { ...chart, version: '1.x' }, follow: { deployment: 'dev' } } }),
      /with follow also the version/,
      'a version of what another one decides',
    ],
    [deployment('wrong', { source: { chart: { name: 'web' } } }), /set either repository/, 'a chart from nowhere'],
    [
      deployment('wrong', { source: { chart: { ...chart, repository: 'oci://x' } } }),
      /for a registry set oci/,
      'a registry in the wrong field',
    ],
    [
      project({ url: 'oci://example.com/x', type: 'git' }),
      /type oci goes with a url that starts with oci/,
      'a repository of Git in a registry',
    ],
    [project({ url: 'ssh://example.com/x', type: 'helm' }), /starts with https:\/\/ or http/, 'charts by ssh'],
    [project({ url: 'oci://ada@example.com/x' }), /must not contain credentials/, 'credentials of a registry in its url'],
    [
      project({ url: 'https://example.com/x', type: 'helm', verify: { secretRef: { name: 'keys' } } }),
      /charts of a web server cannot be verified/,
      'signatures where there are none',
    ],
    [
      project({ url: 'oci://example.com/x', verify: { mode: 'EveryCommit', secretRef: { name: 'keys' } } }),
      /EveryCommit is for commits of Git/,
      'commits before an artifact',
    ],
    [managed('http', 'http://api.example.com'), /cluster api url must start with https:\/\//, 'http'],
    [managed('smtp', 'smtp://api.example.com'), /cluster api url must start with https:\/\//, 'another scheme'],
    [deployment('wrong', { type: 'now' }), /spec type must be manual or automated/, 'an unknown type'],
    [
      deployment('wrong', { syncPolicy: { syncOptions: ['CreateNamespace=maybe'] } }),
      /the specified sync option in \.spec\.syncPolicy\.syncOptions is either mispelled or is not supported/,
      'an unknown sync option',
    ],
    [
      deployment('wrong', { destination: { namespace: 'n' } }),
      /the environment field should not be empty when the namespace is non-empty/,
      'a namespace without environment',
    ],
    [
      deployment('wrong', { destination: { namespace: 'n', environment: '' } }),
      /the environment field should not be empty when the namespace is non-empty/,
      'a namespace with an empty environment',
    ],
    [
      deployment('wrong', { source: { ...source, path: '../other' } }),
      /path must stay inside/,
      'a path that leaves the repository',
    ],
    [deployment('wrong', { source: { ...source, path: '/etc' } }), /path must stay inside/, 'an absolute path'],
    [
      deployment('wrong', { source: { ...source, path: 'overlays\\prod' } }),
      /path must be written with slashes/,
      'a path of Windows',
    ],
    [deployment('wrong', { source: { ...source, path: 'a\0' } }), /path must be written with slashes/, 'a path with a zero byte'],
    [deployment('wrong', { interval: '999999h' }), /interval must be at most 8760h/, 'an interval of a century'],
    [
      deployment('wrong', { syncWindows: [{ kind: 'Allow', schedule: '0 8 * * *', duration: '9000h' }] }),
      /duration must be at most 8760h/,
      'a window of more than a year',
    ],
    [
      deployment('wrong', { syncWindows: [{ kind: 'Allow', schedule: '0 8 * * *', duration: '99999999999999h' }] }),
      /spec\.syncWindows\[0\]\.duration/,
      'a window without end',
    ],
    [deployment('wrong', { serviceAccountName: 'a\nb' }), /spec\.serviceAccountName/, 'a service account of two lines'],
    [
      deployment('wrong', { serviceAccountName: 'x:kube-system:y' }),
      /spec\.serviceAccountName/,
      'a service account that is none',
    ],
    [project({ url: 'https://me:secret@git.example.com/x' }), /url must not contain credentials/, 'credentials in a URL'],
    [project({ url: 'file:///etc' }), /url must start with https:/, 'a file URL'],
    [project({ pollInterval: '10ms' }), /pollInterval/, 'a poll interval of milliseconds'],
    [project({ path: '../etc' }), /spec\.path/, 'a project path that climbs'],
  ]
  for (const [given, words, what] of refused)
    it(`refuse ${given.kind} with ${what}`, async () => {
      match(await refusalOf(put(given)), words)
    })

  it('refuse, on update, what they refuse at creation', async () => {
    await put(deployment('later', {}))
    match(await refusalOf(put(deployment('later', { type: 'now' }))), /spec type must be manual or automated/)
    match(
      await refusalOf(put(deployment('later', { destination: { namespace: 'n' } }))),
      /the environment field should not be empty/,
    )
    await put(managed('later', 'https://api.example.com'))
    match(await refusalOf(put(managed('later', 'smtp://api.example.com'))), /cluster api url must start with https/)
  })
})
