import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { is, match, ok } from 'uvu/assert'
import { connect, type Kube } from '../../src/adapters/kube/index.ts'
import {
  ConfigMaps,
  DeploymentTargetClaims,
  DeploymentTargets,
  Environments,
  GitOpsDeployments,
  type Kind,
  Namespaces,
  Previews,
} from '../../src/api/index.ts'
import { exportedIn, startBerth } from '../cli/berth.ts'
import { processesIn } from '../cli/leftovers.ts'
import { describe } from '../support/suite.ts'
import { apply, eventually, expectGone, expectObject } from '../support/verbs.ts'

const greeting = (text: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: greeting }\ndata: { text: ${text} }\n`

const objectsOf = (url: string) => `
apiVersion: v1
kind: Namespace
metadata: { name: team-a }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: previews, namespace: team-a }
---
apiVersion: appstudio.redhat.com/v1alpha1
kind: DeploymentTargetClass
metadata: { name: sandbox }
spec: { provisioner: appstudio.redhat.com/devsandbox, reclaimPolicy: Delete }
---
apiVersion: berth.dev/v1alpha1
kind: GitProject
metadata: { name: shop, namespace: team-a }
spec: { url: ${url}, path: team-a/shop, defaultBranch: main, pollInterval: 1s }
---
apiVersion: berth.dev/v1alpha1
kind: Preview
metadata: { name: shop, namespace: team-a }
spec:
  branches: { project: shop, pattern: "feature-*" }
  deploymentTargetClassName: sandbox
  template: { spec: { source: { path: deploy }, serviceAccountName: previews } }
`

describe('a branch that is pushed to a real Git server', (it) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'berth-preview-e2e-')))
  const dir = join(root, 'up')
  const copy = join(root, 'shop')
  let kube: Kube | undefined
  it.after(async () => {
    await kube?.close()
    await startBerth(['down', '--dir', dir]).ended
    await eventually(() => processesIn(dir).length === 0)
    rmSync(root, { recursive: true, force: true })
  })
  const berth = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await startBerth(words).ended
    is(code, 0, `${stdout}\n${stderr}`)
    return stdout
  }
  const git = (...words: string[]) =>
    promisify(execFile)('git', ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com', ...words], { cwd: copy })
  const push = async (text: string, branch: string) => {
    writeFileSync(join(copy, 'deploy', 'greeting.yaml'), greeting(text))
    await git('add', '--all')
    await git('commit', '--quiet', '--message', text)
    await git('push', '--quiet', 'origin', `HEAD:${branch}`)
    return (await git('rev-parse', 'HEAD')).stdout.trim()
  }

  it('has its objects in a namespace of its own, follows each commit, and leaves nothing behind', async () => {
    const stdout = await berth('up', '--dir', dir, '--detach')
    const kubeconfig = exportedIn(stdout).KUBECONFIG ?? ''
    const url = `${/git: (\S+)\/<name>/.exec(stdout)?.[1]}/shop.git`
    mkdirSync(join(copy, 'deploy'), { recursive: true })
    await git('init', '--quiet', '--bare', '--initial-branch=main', join(dir, 'repositories', 'shop.git'))
    await git('init', '--quiet', '--initial-branch=main')
    await git('remote', 'add', 'origin', url)
    await push('of main', 'main')
    const cluster = connect({ kubeconfig })
    kube = cluster
    await apply(cluster, objectsOf(url))

    const ref = { name: 'shop-feature-cart', namespace: 'team-a' }
    const first = await push('first', 'feature-cart')
    await eventually(async () => {
      const listed = await berth('preview', 'list', 'shop', '-n', 'team-a', '--kubeconfig', kubeconfig)
      match(listed, new RegExp(`^shop +feature-cart +shop-feature-cart +Ready +${first.slice(0, 8)} `, 'm'))
      return true
    })
    const [target] = await cluster.list(DeploymentTargets, { namespace: 'team-a' })
    const namespace = target?.spec.kubernetesCredentials.defaultNamespace ?? ''
    const greets = (text: string) =>
      expectObject(cluster, ConfigMaps, { name: 'greeting', namespace }, ({ data }) => is(data?.text, text))
    await greets('first')

    const second = await push('second', 'feature-cart')
    await greets('second')
    await expectObject(cluster, Previews, { name: 'shop', namespace: 'team-a' }, ({ status }) => {
      const [entry] = status?.environments ?? []
      ok(entry?.ready)
      is(entry?.commit, second)
    })

    await git('push', '--quiet', 'origin', '--delete', 'feature-cart')
    for (const kind of [DeploymentTargetClaims, Environments, GitOpsDeployments] as Kind[]) await expectGone(cluster, kind, ref)
    await expectGone(cluster, Namespaces, { name: namespace })
    await eventually(async () => (await cluster.list(DeploymentTargets, { namespace: 'team-a' })).length === 0)
    await expectObject(cluster, Previews, { name: 'shop', namespace: 'team-a' }, ({ status }) =>
      is(status?.environments?.length, 0),
    )
  })
})
