import { delimiter, dirname, join } from 'node:path'
import { is, match } from 'uvu/assert'
import { ConfigMaps, conditionOf, GitOpsDeployments, GitProjects } from '../../src/api/index.ts'
import { ownInstallation } from '../cli/own-installation.ts'
import { fluxLayer, packChart, pushArtifact, runHelm } from '../support/artifacts.ts'
import { helm, lacksHelm } from '../support/helm.ts'
import { lacksRegistry, type Registry, serveRegistry } from '../support/registry.ts'
import { describe, type It } from '../support/suite.ts'
import { apply, expectObject } from '../support/verbs.ts'

const objectsFor = (host: string, authorization: string) => `
apiVersion: v1
kind: Namespace
metadata: { name: team-a }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: deploys, namespace: team-a }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: deploys, namespace: team-a }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit }
subjects: [{ kind: ServiceAccount, name: deploys, namespace: team-a }]
---
apiVersion: v1
kind: Secret
metadata: { name: pull, namespace: team-a }
type: kubernetes.io/dockerconfigjson
stringData: { .dockerconfigjson: '{"auths": {"${host}": {"auth": "${authorization}"}}}' }
---
apiVersion: berth.dev/v1alpha1
kind: GitProject
metadata: { name: charts, namespace: team-a }
spec: { url: "oci://${host}/charts", path: team-a/charts, credentialsSecretRef: { name: pull }, pollInterval: 1s }
---
apiVersion: berth.dev/v1alpha1
kind: GitProject
metadata: { name: settings, namespace: team-a }
spec: { url: "oci://${host}/settings", path: team-a/settings, credentialsSecretRef: { name: pull }, pollInterval: 1s }
---
apiVersion: managed-gitops.redhat.com/v1alpha1
kind: GitOpsDeployment
metadata: { name: shop, namespace: team-a }
spec:
  type: automated
  serviceAccountName: deploys
  source:
    chart: { oci: "oci://${host}/charts", name: podinfo, version: 1.x }
    helm: { values: { color: green } }
---
apiVersion: managed-gitops.redhat.com/v1alpha1
kind: GitOpsDeployment
metadata: { name: settings, namespace: team-a }
spec: { type: automated, serviceAccountName: deploys, source: { repoURL: "oci://${host}/settings", path: deploy, targetRevision: main } }
`

const settings = (text: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings }\ndata: { text: ${text} }\n`

function published(it: It) {
  const { root, berth, up } = ownInstallation(it, 'charts')
  const credential = 'ada:secret'
  let registry: Registry
  it.before(async () => {
    registry = await serveRegistry(join(root, 'registry'), { credential })
    await runHelm(
      'registry',
      'login',
      registry.host,
      '--username',
      'ada',
      '--password',
      'secret',
      '--plain-http',
      ...loginIn(root),
    )
  })
  it.after(() => registry.stop())
  const pushChart = async (version: string) => {
    const file = await packChart(root, 'podinfo', version)
    await runHelm('push', file, `oci://${registry.host}/charts`, '--plain-http', ...loginIn(root))
  }
  const pushSettings = async (text: string) => {
    const authorization = `Basic ${Buffer.from(credential).toString('base64')}`
    const place = { registry: `http://${registry.host}`, repository: 'settings', tag: 'main', authorization }
    return pushArtifact(place, [await fluxLayer({ 'deploy/settings.yaml': settings(text) })])
  }

  it('is deployed from a private registry, follows each version, and goes back', async () => {
    await pushChart('1.0.0')
    const artifact = await pushSettings('first')
    const env = { PATH: `${dirname(await helm())}${delimiter}${process.env.PATH}` }
    const { kube: cluster } = await up({ env })
    await apply(cluster, objectsFor(registry.host, Buffer.from(credential).toString('base64')))
    const at = (name: string) => ({ name, namespace: 'team-a' })
    const has = (name: string, key: string, text: string) =>
      expectObject(cluster, ConfigMaps, at(name), ({ data }) => is(data?.[key], text))

    await has('shop-settings', 'version', '1.0.0')
    await has('shop-settings', 'color', 'green')
    await has('settings', 'text', 'first')
    await expectObject(cluster, GitOpsDeployments, at('settings'), ({ status }) => is(status?.sync?.revision, artifact))
    await expectObject(cluster, GitProjects, at('charts'), ({ status }) =>
      is(conditionOf(status?.conditions, 'Ready')?.status, 'True'),
    )

    const { status: before } = await expectObject(cluster, GitOpsDeployments, at('shop'), ({ status }) =>
      is(status?.sync?.status, 'Synced'),
    )
    await pushChart('1.1.0')
    await pushSettings('second')
    await has('shop-settings', 'version', '1.1.0')
    await has('settings', 'text', 'second')

    await berth('rollback', 'shop', '-n', 'team-a', '--wait')
    await has('shop-settings', 'version', '1.0.0')
    const shown = await berth('history', 'shop', '-n', 'team-a')
    match(shown, new RegExp(`${before?.sync?.revision?.slice(0, 8)}`))
    match(shown, /podinfo 1\.0\.0\n.*podinfo 1\.1\.0\n/s)
  })
}

/** Helm keeps its logins in a file. */
const loginIn = (folder: string): string[] => ['--registry-config', join(folder, 'helm-registry.json')]

describe('a chart and an artifact that are published in a registry', published, (await lacksHelm()) ?? (await lacksRegistry()))
