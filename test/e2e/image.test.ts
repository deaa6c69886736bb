import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { arch, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { createAuthority, issueCertificate } from '../../src/adapters/certificates/index.ts'
import type { AnyObject } from '../../src/api/index.ts'
import { hours, systemClock } from '../../src/std/index.ts'
import { findingIn, findingsIn } from '../cli/berth.ts'
import { kubectl } from '../support/builders/snapshots.ts'
import { cloneRepository } from '../support/clone.ts'
import { lacksNode, type NodeCluster, nodeCluster } from '../support/node.ts'
import { describe } from '../support/suite.ts'
import { apply, eventually } from '../support/verbs.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..')
const ARCHITECTURE = arch() === 'x64' ? 'amd64' : arch()
const MOST_BYTES = 250e6
const run = promisify(execFile)

/** In another namespace than the usual one: what names that one by itself shows. */
const NAMESPACE = 'platform'

/** A kustomization that is one only where kustomize makes it: the name of the ConfigMap ends with a digest. */
const FIRST_PUSH = `
git init --quiet --bare --initial-branch=main /repositories/web.git
git clone --quiet /repositories/web.git /tmp/work
cd /tmp/work
node -e "fs.mkdirSync('production'); fs.writeFileSync('production/kustomization.yaml', 'configMapGenerator: [{ name: said, literals: [word=hello] }]')"
git add --all
git -c user.name=a -c user.email=a@example.com commit --quiet --message first
git push --quiet origin HEAD:main
`

/** Bytes of the files in each image of an archive. */
async function sizesIn(archive: string, into: string): Promise<number[]> {
  await mkdir(into)
  await run('tar', ['--extract', '--file', archive, '--directory', into])
  const blob = (digest: string) => readFile(join(into, 'blobs', ...digest.split(':')))
  const json = async (digest: string) => JSON.parse((await blob(digest)).toString())
  const { manifests } = JSON.parse(await readFile(join(into, 'index.json'), 'utf8'))
  return Promise.all(
    manifests.map(async ({ digest }: { digest: string }) => {
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
    let folder: string
    let tag: string
    let digests: string
    let cluster: NodeCluster

    const make = async (repository: string, output: string, mask = '022') => {
      const words = ['hack/image/make.ts', '--architecture', ARCHITECTURE, '--output', output]
      const shell = ['-c', 'umask "$0"; exec "$@"', mask, process.execPath, ...words]
      return (await run('sh', shell, { cwd: repository })).stdout
    }
    const secret = (namespace: string, name: string, stringData: Record<string, string>) =>
      apply(cluster.kube, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData } as AnyObject)
    const configMap = (namespace: string, name: string, data: Record<string, string>) =>
      apply(cluster.kube, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data } as AnyObject)
    const textOf = async (name: string) =>
      (await readFile(join(import.meta.dirname, 'image', name), 'utf8')).replaceAll('TAG', tag)
    const berth = async (...words: string[]) => {
      const env = { ...process.env, PATH: `${dirname(await kubectl())}:${process.env.PATH}` }
      return run(process.execPath, ['src/cli/main.ts', ...words, '--kubeconfig', cluster.kubeconfig], { cwd: REPOSITORY, env })
    }
    const untilIs = (path: string, ...words: string[]) => cluster.kubectl('wait', `--for=${path}`, '--timeout=180s', ...words)

    const install = async (image: string) => {
      const values = { image, workspaceImage: `localhost/berth-workspace:${tag}`, namespace: NAMESPACE, gitCa: tls['ca.crt'] }
      await writeFile(join(folder, 'values.yaml'), JSON.stringify(values))
      await berth('install', '--values', join(folder, 'values.yaml'), '--apply')
    }
    const certificateOfGit = async () => {
      const validity = { clock: systemClock, lifetime: hours(24) }
      const authority = await createAuthority('berth-test', validity)
      const request = { name: 'git', dnsNames: ['git.git.svc'], usages: ['server'] as const }
      const { certificate, key } = await issueCertificate(authority, request, validity)
      return { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authority.certificate }
    }

    /** What an installation may have left in the cluster. */
    const clusterWide = async () => {
      const kinds = 'crd,ns,clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding'
      const all = await cluster.kubectl('get', `${kinds},mutatingadmissionpolicy,mutatingadmissionpolicybinding`, '-o', 'name')
      return all.trim().split('\n').toSorted()
    }
    let before: string[]
    let tls: Awaited<ReturnType<typeof certificateOfGit>>

    it.before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'berth-image-'))
      tag = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8')).version
      digests = await make(REPOSITORY, join(folder, 'made'))
      cluster = await nodeCluster()
      await cluster.importImages(join(folder, 'made', 'images.tar'))
      before = await clusterWide()
      tls = await certificateOfGit()
      await install(`localhost/berth:${tag}`)
      await apply(cluster.kube, await textOf('git-server.yaml'))
      await configMap('git', 'program', { 'git-server.ts': await textOf('git-server.ts') })
      await secret('git', 'tls', tls)
      await apply(cluster.kube, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } } as AnyObject)
      await secret('team-a', 'web-git', { username: 'team', password: 'secret', 'ca.crt': tls['ca.crt'] })
    })
    it.after(async () => {
      await cluster?.remove()
      await rm(folder, { recursive: true })
    })

    it('is the same when it is made again, in another folder and with another umask', async () => {
      const copy = join(folder, 'copy')
      await cloneRepository(copy)
      assert.is(await make(copy, join(folder, 'again'), '077'), digests)
      const installation = await readFile(join(folder, 'made', 'install.yaml'), 'utf8')
      assert.is(await readFile(join(folder, 'again', 'install.yaml'), 'utf8'), installation)
      assert.match(installation, `image: localhost/berth:${tag}\n`)
    })

    it('is no larger than 250 MB, of which the part for pods of people is a fifth', async () => {
      const [program = 0, workspace = 0] = await sizesIn(join(folder, 'made', 'images.tar'), join(folder, 'layout'))
      assert.ok(program <= MOST_BYTES, `${program} bytes`)
      assert.ok(workspace <= MOST_BYTES / 5, `${workspace} bytes`)
    })

    it('makes the certificate that kas shows, and the doctor finds all of it well', async () => {
      const { stdout } = await berth('doctor', '-o', 'json', '--namespace', NAMESPACE).catch((failed) => failed)
      assert.equal(
        findingsIn(stdout).filter(({ mark }) => mark === 'fail'),
        [],
      )
      assert.match(findingIn(stdout, 'certificates').message, /kas-tls is good until/)
    })

    it('says which image cannot be had, and is mended by the right one', async () => {
      const failed = await install('localhost/berth:missing').then(
        () => assert.unreachable(),
        (thrown) => thrown,
      )
      assert.is(failed.code, 6)
      assert.match(failed.stderr, /pod certificates-\S+ container certificates waits \((ErrImagePull|ImagePullBackOff)\)/)
      const { stdout } = await berth('doctor', '-o', 'json').catch((thrown) => thrown)
      assert.match(findingsIn(stdout, 'deployments')[0]?.message ?? '', /^certificates does not run as it should: pod /)
      await install(`localhost/berth:${tag}`)
    })

    it('runs its programs as nobody, on files that cannot be written, with the roles that are shipped', async () => {
      for (const name of ['operator', 'kas', 'certificates']) {
        assert.is(await cluster.kubectl('exec', '-n', NAMESPACE, `deploy/${name}`, '--', 'node', '-e', NOBODY), '65532 EROFS\n')
      }
    })

    it('brings what was pushed through kustomize to a claimed namespace', async () => {
      await untilIs('condition=Ready', '-n', 'git', 'pod/git')
      await cluster.kubectl('exec', '-n', 'git', 'git', '--', 'sh', '-euc', FIRST_PUSH)
      await berth('onboard', 'team-a', '--berth-namespace', NAMESPACE)
      await apply(cluster.kube, await textOf('team.yaml'))
      const said = await eventually(async () =>
        /^(\S+) +said-[a-z0-9]{10} /m.exec(await cluster.kubectl('get', 'configmaps', '-A')),
      )
      assert.match(said[1] ?? '', /^team-a-/)
    })

    it('clones into a workspace, with the image for pods of people', async () => {
      await untilIs('jsonpath={.status.actualState}=Running', '-n', 'team-a', 'workspace/web')
      const [pod] = JSON.parse(await cluster.kubectl('get', 'pods', '-A', '-l', 'berth.dev/workspace', '-o', 'json')).items
      assert.is(pod.spec.initContainers[0].image, `localhost/berth-workspace:${tag}`)
      const { name, namespace } = pod.metadata
      const inside = (script: string) => cluster.kubectl('exec', '-n', namespace, name, '--', 'sh', '-c', script)
      assert.match(await inside('cat $PROJECTS_ROOT/web/production/kustomization.yaml'), /hello/)
    })

    it('goes without a trace, and leaves what people made', async () => {
      const { stdout } = await berth('uninstall', '--namespace', NAMESPACE, '--yes')
      assert.match(stdout, /^Workspace +1 +deleted, with their files$/m)
      assert.equal(await clusterWide(), [...before, 'namespace/git', 'namespace/team-a'].toSorted())
      assert.equal(JSON.parse(await cluster.kubectl('get', 'rolebindings', '-n', 'team-a', '-o', 'json')).items.length, 1)
    })
  },
  await lacksNode(),
)
