import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { is, match, ok } from 'uvu/assert'
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
import { ownInstallation } from '../cli/own-installation.ts'
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
  const { root, dir, berth, up } = ownInstallation(it, 'preview')
  const copy = join(root, 'shop')
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
    const { kube: cluster, stdout } = await up()
    const url = `${/git: (\S+)\/<name>/.exec(stdout)?.[1]}/shop.git`
    mkdirSync(join(copy, 'deploy'), { recursive: true })
    await git('init', '--quiet', '--bare', '--initial-branch=main', join(dir, 'repositories', 'shop.git'))
    await git('init', '--quiet', '--initial-branch=main')
    await git('remote', 'add', 'origin', url)
    await push('of main', 'main')
    await apply(cluster, objectsOf(url))

    const ref = { name: 'shop-feature-cart', namespace: 'team-a' }
    const first = await push('first', 'feature-cart')
    await eventually(async () => {
      const listed = await berth('preview', 'list', 'shop', '-n', 'team-a')
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
