import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { stringify } from 'yaml'
import { lacksNode } from '../support/node.ts'
import { lacksRegistry, type Registry, serveRegistry } from '../support/registry.ts'
import { describe } from '../support/suite.ts'
import { apply, eventually } from '../support/verbs.ts'
import { REPOSITORY } from './pods/images.ts'
import { type Site, startSite } from './pods/site.ts'

const run = promisify(execFile)
const NAMESPACE = 'berth-system'
const PORT = 5000
const HOST = `localhost:${PORT}`
const CREDENTIAL = 'team:secret'

/** What `kubectl create secret docker-registry` writes. */
const login = (namespace: string, name: string, credential: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  type: 'kubernetes.io/dockerconfigjson',
  stringData: {
    '.dockerconfigjson': JSON.stringify({ auths: { [HOST]: { auth: Buffer.from(credential).toString('base64') } } }),
  },
})

const namespaceNamed = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

/** A class whose workspaces log in to the registry. */
const CLASS = {
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'WorkspaceClass',
  metadata: { name: 'private' },
  spec: {
    deploymentTargetClassName: 'isolation-level-namespace',
    imagePullSecrets: [{ name: 'images', namespace: 'team-a' }],
  },
}

const workspace = (name: string, image: string) => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Workspace',
  metadata: { name, namespace: 'team-a' },
  spec: {
    workspaceClassName: 'private',
    devfile: {
      inline: stringify({
        schemaVersion: '2.2.0',
        components: [{ name: 'tools', container: { image, command: ['sleep', 'infinity'], memoryLimit: '64Mi' } }],
      }),
    },
  },
})

describe(
  'images behind a login',
  (it) => {
    let site: Site
    let registry: Registry
    const serve = () =>
      serveRegistry(join(site.folder, 'registry'), { enter: site.cluster().enter, port: PORT, credential: CREDENTIAL })
    const oras = (...words: string[]) => run('go', ['tool', 'oras', ...words], { cwd: join(REPOSITORY, 'hack/release/oras') })

    const install = (tag = site.tag) =>
      site.install({ image: `${HOST}/berth:${tag}`, workspaceImage: `${HOST}/workspace:1`, imagePullSecrets: ['registry'] })
    const refusal = (what: Promise<unknown>) =>
      what.then(
        () => ({ code: 0, stderr: '' }),
        (thrown: { code: number; stderr: string }) => thrown,
      )
    /** What the workspace says of itself, once it says this reason. */
    const trouble = (name: string, reason: string) =>
      eventually(async () => {
        const [found] = (await site.items('workspaces', '-n', 'team-a')).filter(({ metadata }) => metadata.name === name)
        const { failure, conditions = [] } = found.status ?? {}
        const said = conditions.find((each: { type: string }) => each.type === 'Ready')
        assert.is(failure?.reason ?? said?.reason, reason, JSON.stringify(found.status))
        return `${said.message}`
      })
    const runs = (name: string) => site.untilIs('jsonpath={.status.actualState}=Running', '-n', 'team-a', `workspace/${name}`)

    it.before(async () => {
      site = await startSite({ namespace: NAMESPACE })
      // Pushed without a login, from the machine, into the folder that the registry of the node serves.
      registry = await serveRegistry(join(site.folder, 'registry'))
      const archive = join(site.folder, 'made', 'images.tar')
      const copy = (from: string, to: string) =>
        oras(
          'cp',
          '--from-oci-layout',
          `${archive}@${site.digests.get(`localhost/${from}:${site.tag}`)}`,
          `${registry.host}/${to}`,
        )
      await copy('berth', `berth:${site.tag}`)
      for (const tag of ['1', '2', '3']) await copy('berth-workspace', `workspace:${tag}`)
      await registry.stop()
      registry = await serve()
      await apply(site.cluster().kube, [namespaceNamed(NAMESPACE), namespaceNamed('team-a')])
      await apply(site.cluster().kube, [login(NAMESPACE, 'registry', 'team:wrong'), login('team-a', 'images', 'team:wrong')])
    })
    it.after(async () => {
      await registry?.stop()
      await site?.remove()
    })

    it('does not install with a wrong password, and says so', async () => {
      const { code, stderr } = await refusal(install())
      assert.is(code, 6, stderr)
      assert.match(stderr, /waits \((ErrImagePull|ImagePullBackOff)\)[^\n]*401 Unauthorized/)
    })

    it('installs with the right one', async () => {
      await apply(site.cluster().kube, login(NAMESPACE, 'registry', CREDENTIAL))
      await install()
    })

    it('does not upgrade to a tag that is not there, and goes on running', async () => {
      const { code, stderr } = await refusal(install('missing'))
      assert.is(code, 6, stderr)
      assert.match(stderr, /berth:missing[^\n]*not found/)
      await install()
    })

    it('tells the owner of a workspace that its image may not be pulled, and goes on when it may', async () => {
      await site.berth('onboard', 'team-a', '--berth-namespace', NAMESPACE)
      await apply(site.cluster().kube, [CLASS, workspace('web', `${HOST}/workspace:1`)])
      assert.match(await trouble('web', 'ImagePullDenied'), /imagePullSecrets of the class/)
      await apply(site.cluster().kube, login('team-a', 'images', CREDENTIAL))
      await runs('web')
    })

    it('tells the owner of a workspace that its image is not there', async () => {
      await apply(site.cluster().kube, workspace('typo', `${HOST}/workspace:missing`))
      assert.match(await trouble('typo', 'ImageNotFound'), /workspace:missing/)
      await apply(site.cluster().kube, workspace('typo', `${HOST}/workspace:2`))
      await runs('typo')
    })

    it('waits for a registry that is away', async () => {
      await registry.stop()
      await apply(site.cluster().kube, workspace('late', `${HOST}/workspace:3`))
      assert.match(await trouble('late', 'RegistryUnreachable'), /cannot be reached/)
      registry = await serve()
      await runs('late')
    })
  },
  (await lacksNode()) ?? (await lacksRegistry()),
)
