import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { ConfigMaps, Deployments, GitOpsDeployments, Secrets } from '../../../src/api/index.ts'
import { createRenderer } from '../../../src/engines/render/index.ts'
import { kubectl } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { helm, lacksHelm, wholeHelm } from '../../support/helm.ts'
import { describe } from '../../support/suite.ts'
import { berth } from '../berth.ts'

const CHART = {
  'charts/shop/Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.2.3\n',
  'charts/shop/values.yaml': 'replicas: 0\npassword: none\nextra: {}\n',
  'charts/shop/templates/all.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}, labels: {app.kubernetes.io/managed-by: {{ .Release.Service }}}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {containers: [{name: web, image: "web:1", env: [{name: PASSWORD, value: {{ .Values.password }}}]}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-settings}
data: {{ toJson .Values.extra }}
`,
}

const adopting: Parameters<typeof describe>[1] = (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let home = ''
  let stage: Stage
  it.before(async () => {
    home = await mkdtemp(join(tmpdir(), 'berth-adopt-'))
    for (const [path, content] of Object.entries(CHART)) {
      await mkdir(dirname(join(home, path)), { recursive: true })
      await writeFile(join(home, path), content)
    }
  })
  it.beforeEach(async () => {
    stage = await openStage(cluster, {
      settings: { render: createRenderer({ kubectl: await kubectl(), helm: await helm() }) },
    })
  })
  it.afterEach(() => stage.stop())
  it.after(async () => {
    await cluster.close()
    await rm(home, { recursive: true })
  })

  const runHelm = async (verb: string, ...words: string[]) => {
    const env = { ...process.env, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home }
    const where = ['--namespace', stage.namespace, '--kubeconfig', kubeconfig]
    return (await promisify(execFile)(await wholeHelm(), [verb, ...words, ...where], { env })).stdout
  }
  const install = (...words: string[]) =>
    runHelm('upgrade', '--install', 'web', join(home, 'charts/shop'), '--set', 'password=hunter2-for-all', ...words)
  const adopt = (words: string[] = [], answer?: string, release = 'web') =>
    berth(
      [
        'adopt',
        'helm',
        release,
        '-n',
        stage.namespace,
        '--kubeconfig',
        kubeconfig,
        '--project',
        'shop',
        '--path',
        'charts/shop',
        ...words,
      ],
      { ...(answer !== undefined && { answer }) },
    )
  const deployment = () => kube.get(Deployments, { name: 'web', namespace: stage.namespace })
  const managers = async () => {
    const { metadata } = (await deployment()) ?? {}
    const fields: unknown = metadata && 'managedFields' in metadata ? metadata.managedFields : undefined
    return JSON.stringify(fields)
  }
  const records = () => kube.list(Secrets, { namespace: stage.namespace, labels: 'owner=helm,name=web' })
  const wish = () => kube.get(GitOpsDeployments, { name: 'web', namespace: stage.namespace })

  it('goes on with each object as it stands, and Helm knows the release no more', async () => {
    await install('--set', 'extra.a=b')
    await install('--set', 'extra.a=b,extra.c=d')
    const before = await deployment()
    assert.match(await managers(), '"helm"')
    await stage.git.push(CHART)
    const { code, stdout, stderr } = await adopt(['--yes'])
    assert.is(code, 0, stdout + stderr)
    assert.match(stdout, 'Helm release web (shop-1.2.3, revision 2) as GitOpsDeployment')
    assert.match(stdout.replace(/\s+/g, ' '), 'Helm does not know the release web any more.')
    assert.not.match(stdout, 'hunter2')

    const after = await deployment()
    assert.is(after?.metadata.uid, before?.metadata.uid)
    assert.equal(after?.spec, before?.spec, 'no pod is made anew')
    assert.is(after?.metadata.annotations?.['deployment.kubernetes.io/revision'], '1')
    assert.not.match(await managers(), '"helm"')
    assert.equal(await records(), [])
    assert.not.match(await runHelm('list'), 'web')
    assert.not.match(JSON.stringify(await wish()), 'hunter2')

    const { 'charts/shop/templates/all.yaml': all, ...rest } = CHART
    await stage.synced(
      await stage.git.push({ ...rest, 'charts/shop/templates/all.yaml': all.replace('data: {{', 'data: {} # {{') }),
      'web',
    )
    const settings = await kube.get(ConfigMaps, { name: 'web-settings', namespace: stage.namespace })
    assert.equal(settings?.data ?? {}, {}, 'what Helm had set and Git has no more is gone')
  })

  it('names what the release has and Git has no more', async () => {
    await install()
    const { 'charts/shop/templates/all.yaml': all, ...rest } = CHART
    await stage.git.push({ ...rest, 'charts/shop/templates/all.yaml': all.split('---\n')[0] ?? '' })
    const { code, stdout, stderr } = await adopt(['--yes'])
    assert.is(code, 0, stderr)
    assert.match(stdout.replace(/\s+/g, ' '), 'it stays and belongs to nobody: ConfigMap web-settings')
    assert.ok(await kube.get(ConfigMaps, { name: 'web-settings', namespace: stage.namespace }))
  })

  it('only shows what would change, and asks', async () => {
    await install()
    await stage.git.push({ ...CHART, 'charts/shop/values.yaml': 'replicas: 2\nextra: {}\npassword: none\n' })
    const shown = await adopt(['--dry-run'])
    assert.is(shown.code, 0, shown.stderr)
    assert.match(shown.stdout, /\/spec\/replicas\n +- 0\n +\+ 2/)
    const nobody = await adopt()
    assert.is(nobody.code, 7, nobody.stderr)
    assert.match(nobody.stderr, 'nothing was changed: there is no terminal to ask at. Give --yes.')
    const declined = await adopt([], 'n')
    assert.match(declined.stderr, 'nothing was changed')
    assert.is(await wish(), undefined)
    assert.is(await kube.get(Secrets, { name: 'web-values', namespace: stage.namespace }), undefined)
    assert.is((await records()).length, 1)
    const accepted = await adopt([], 'y')
    assert.is(accepted.code, 0, accepted.stderr)
    assert.equal(await records(), [])
  })

  it('says what is wrong, and leaves nothing behind', async () => {
    await install()
    const unknown = await adopt([], undefined, 'wbe')
    assert.is(unknown.code, 3, unknown.stderr)
    assert.match(unknown.stderr, `there is no Helm release wbe in namespace ${stage.namespace}. There is web.`)
    await stage.git.push({ ...CHART, 'charts/shop/templates/odd.yaml': '{{ fail "no" }}' })
    const broken = await adopt(['--yes'])
    assert.match(broken.stderr.replace(/\s+/g, ' '), 'cannot be said: helm: execution error at (shop/templates/odd.yaml:1:3): no')
    assert.is(await wish(), undefined)
    await kube.patch(Secrets, { name: 'sh.helm.release.v1.web.v1', namespace: stage.namespace }, { data: { release: 'AAAA' } })
    assert.match((await adopt(['--yes'])).stderr, 'Secret sh.helm.release.v1.web.v1 holds no release as Helm 3 and 4 write it')
    await kube.patch(
      Secrets,
      { name: 'sh.helm.release.v1.web.v1', namespace: stage.namespace },
      { metadata: { labels: { status: 'pending-upgrade' } } },
    )
    assert.match((await adopt(['--yes'])).stderr, 'revision 1 of the Helm release web is pending-upgrade, and not deployed')
  })
}

describe('adopting a release of Helm', adopting, await lacksHelm())
