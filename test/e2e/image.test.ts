import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import type { InstallValues } from '../../src/cli/install/generated/values.ts'
import { findingIn, findingsIn } from '../cli/berth.ts'
import { cloneRepository } from '../support/clone.ts'
import { lacksNode } from '../support/node.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { makeImages, openImages } from './pods/images.ts'
import { startOutside } from './pods/outside.ts'
import { PATIENT, type Site, serveGit, startSite } from './pods/site.ts'

const MOST_BYTES = 250e6

/** In another namespace than the usual one: what names that one by itself shows. */
const NAMESPACE = 'platform'

const PROXY = {
  url: 'https://sign-in.workspaces.example.com',
  certificateNames: ['*.workspaces.example.com'],
} satisfies Partial<InstallValues['proxy']>

/** A kustomization that is one only where kustomize makes it: the name of the ConfigMap ends with a digest. */
const KUSTOMIZATION = 'configMapGenerator: [{ name: said, literals: [word=hello] }]'

/** Bytes of the files in each image of an archive. */
async function sizesIn(archive: string, into: string): Promise<number[]> {
  const { manifests } = await openImages(archive, into)
  const blob = (digest: string) => readFile(join(into, 'blobs', ...digest.split(':')))
  const json = async (digest: string) => JSON.parse((await blob(digest)).toString())
  return Promise.all(
    manifests.map(async ({ digest }) => {
      const { manifests: platforms } = await json(digest)
      const { layers } = await json(platforms[0].digest)
      const sizes = await Promise.all(
        layers.map(async (layer: { digest: string }) => gunzipSync(await blob(layer.digest)).length),
      )
      return sizes.reduce((sum, size) => sum + size, 0)
    }),
  )
}

const NOBODY = `
const { getuid } = process
try { require('fs').writeFileSync('/usr/x', '') } catch ({ code }) { console.log(getuid(), code) }
`

describe(
  'the image',
  (it) => {
    let site: Site
    const made = () => join(site.folder, 'made')

    /** What an installation may have left in the cluster. */
    const clusterWide = async () => {
      const kinds = 'crd,ns,clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding'
      const all = await site
        .cluster()
        .kubectl('get', `${kinds},mutatingadmissionpolicy,mutatingadmissionpolicybinding`, '-o', 'name')
      return all.trim().split('\n').toSorted()
    }
    let before: string[]

    it.before(async () => {
      site = await startSite({ namespace: NAMESPACE })
      before = await clusterWide()
      await serveGit(site)
      await site.install()
    })
    it.after(() => site?.remove())

    it('is the same when it is made again, in another folder and with another umask', async () => {
      const copy = join(site.folder, 'copy')
      await cloneRepository(copy)
      await makeImages(copy, join(site.folder, 'again'), { mask: '077' })
      for (const name of ['images.tar', 'install.yaml']) {
        const one = await readFile(join(made(), name))
        assert.ok(one.equals(await readFile(join(site.folder, 'again', name))), name)
      }
      const installation = await readFile(join(made(), 'install.yaml'), 'utf8')
      assert.match(installation, `image: localhost/berth:${site.tag}\n`)
    })

    it('is no larger than 250 MB, of which the part for pods of people is a quarter', async () => {
      const [program = 0, workspace = 0] = await sizesIn(join(made(), 'images.tar'), join(site.folder, 'layout'))
      assert.ok(program <= MOST_BYTES, `${program} bytes`)
      assert.ok(workspace <= MOST_BYTES / 4, `${workspace} bytes`)
    })

    it('makes the certificate that kas shows, and the doctor finds all of it well', async () => {
      const { stdout } = await site.berth('doctor', '-o', 'json', '--namespace', NAMESPACE).catch((failed) => failed)
      assert.equal(
        findingsIn(stdout).filter(({ mark }) => mark === 'fail'),
        [],
      )
      assert.match(findingIn(stdout, 'certificates').message, /kas-tls is good until/)
    })

    it('says which image cannot be had, and is mended by the right one', async () => {
      const failed = await site.install({ image: 'localhost/berth:missing' }).then(
        () => assert.unreachable(),
        (thrown) => thrown,
      )
      assert.is(failed.code, 6)
      assert.match(failed.stderr, /pod certificates-\S+ container certificates waits \((ErrImagePull|ImagePullBackOff)\)/)
      const { stdout } = await site.berth('doctor', '-o', 'json').catch((thrown) => thrown)
      assert.match(findingsIn(stdout, 'deployments')[0]?.message ?? '', /^certificates does not run as it should: pod /)
      await site.install()
    })

    it('runs its programs as nobody, on files that cannot be written, with the roles that are shipped', async () => {
      for (const name of ['operator', 'kas', 'certificates']) {
        assert.is(
          await site.cluster().kubectl('exec', '-n', NAMESPACE, `deploy/${name}`, '--', 'node', '-e', NOBODY),
          '65532 EROFS\n',
        )
      }
    })

    it('brings what was pushed through kustomize to a claimed namespace', async () => {
      await site.push('web', { 'production/kustomization.yaml': KUSTOMIZATION })
      await site.berth('onboard', 'team-a', '--berth-namespace', NAMESPACE)
      await site.applyFile('team.yaml')
      await site.applyFile('workspace.yaml')
      const said = await eventually(async () =>
        /^(\S+) +said-[a-z0-9]{10} /m.exec(await site.cluster().kubectl('get', 'configmaps', '-A')),
      )
      assert.match(said[1] ?? '', /^team-a-/)
    })

    it('clones into a workspace, with the image for pods of people', async () => {
      await site.untilIs('jsonpath={.status.actualState}=Running', '-n', 'team-a', 'workspace/web')
      const [pod] = await site.items('pods', '-A', '-l', 'berth.dev/workspace')
      assert.is(pod.spec.initContainers[0].image, `localhost/berth-workspace:${site.tag}`)
      const { name, namespace } = pod.metadata
      assert.match(await site.inside(namespace, name, 'cat $PROJECTS_ROOT/web/production/kustomization.yaml'), /hello/)
    })

    it('opens a workspace in the browser of its owner, who has signed in: a terminal, in the project', async () => {
      const outside = await startOutside(site)
      const { issuer, clientId } = outside.provider
      try {
        await site.secret(NAMESPACE, 'berth-proxy-oidc', { 'client-secret': 'secret' })
        const provider = { oidcIssuer: issuer, oidcClientId: clientId, oidcCa: site.tls['ca.crt'], oidcUsernamePrefix: '-' }
        await site.install({ proxy: { ...PROXY, ...provider } })
        await site.applyFile('browser.yaml')
        await site.untilIs('jsonpath={.status.actualState}=Running', '-n', 'team-a', 'workspace/terminal')
        const path = 'jsonpath={.spec.owner} {.status.ports[0].url}'
        const [sub = '', url = ''] = (await site.kubectl('get', '-n', 'team-a', 'workspace/terminal', '-o', path)).split(' ')
        await outside.leadToProxy()

        const stranger = await outside.browser()
        outside.provider.signInAs({ sub: 'grace' })
        await eventually(async () => (await stranger.open(url)).status === 403, PATIENT)
        const refused = await outside.openTerminal(stranger, url).catch(({ message }) => message)
        assert.is(refused, 'Unexpected server response: 403')

        const owner = await outside.browser()
        outside.provider.signInAs({ sub })
        assert.match((await owner.open(url)).body, '<title>ttyd')
        const terminal = await outside.openTerminal(owner, url)
        // What the line says is not what it prints.
        await terminal.type(
          'echo "$((6 * 7)) <$LD_LIBRARY_PATH> $(git rev-parse --show-toplevel)" | tee typed',
          '42 <> /projects/web',
        )
        terminal.close()
        const elsewhere = outside.openTerminal(owner, url, 'https://60001-other.workspaces.example.com')
        assert.is(await elsewhere.catch(({ message }) => message), 'Unexpected server response: 403')
        const [pod] = await site.items('pods', '-A', '-l', 'berth.dev/workspace=terminal')
        const { name, namespace } = pod.metadata
        assert.is(await site.inside(namespace, name, 'cat $PROJECT_SOURCE/typed'), '42 <> /projects/web\n')
      } finally {
        await outside.close()
        // Berth's namespace goes only where nobody has something of their own in it.
        await site.kubectl('delete', 'secret', '-n', NAMESPACE, 'berth-proxy-oidc', '--ignore-not-found')
      }
    })

    it('goes without a trace, and leaves what people made', async () => {
      const { stdout } = await site.berth('uninstall', '--namespace', NAMESPACE, '--yes')
      assert.match(stdout, /^Workspace +2 +deleted, with their files$/m)
      assert.equal(await clusterWide(), [...before, 'namespace/git', 'namespace/team-a'].toSorted())
      assert.is((await site.items('rolebindings', '-n', 'team-a')).length, 1)
    })
  },
  await lacksNode(),
)
