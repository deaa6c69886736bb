import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createAuthority, issueCertificate } from '../../../src/adapters/certificates/index.ts'
import { NODE_ADDRESS } from '../../../src/adapters/control-plane/index.ts'
import type { AnyObject } from '../../../src/api/index.ts'
import type { InstallValues } from '../../../src/cli/install/generated/values.ts'
import { hours, minutes, systemClock } from '../../../src/std/index.ts'
import { kubectl } from '../../support/builders/snapshots.ts'
import { type NodeCluster, nodeCluster } from '../../support/node.ts'
import { apply, eventually } from '../../support/verbs.ts'
import { ourImages, REPOSITORY } from './images.ts'
import type { End } from './line.ts'

const run = promisify(execFile)

/** A real node on which Berth is to run as pods of its image. */
export interface Site {
  /** Of the test; it goes with the site. */
  folder: string
  /** Where Berth is installed. */
  namespace: string
  /** The version of the images. */
  tag: string
  /** The digests of the images by name, such as `localhost/berth:0.1.0`. */
  digests: ReadonlyMap<string, string>
  /** Of the Git server and the identity provider, and of kas for whoever has none made. */
  tls: Record<'tls.crt' | 'tls.key' | 'ca.crt', string>
  /** As the node was started last. */
  cluster(): NodeCluster
  /** Installs what these values say, of the images of Berth unless they name another. */
  install(values?: InstallValues): Promise<void>
  berth(...words: string[]): Promise<{ stdout: string; stderr: string }>
  kubectl(...words: string[]): Promise<string>
  /** What `kubectl get` finds. */
  items(...words: string[]): Promise<AnyItem[]>
  /** `kubectl wait`. */
  untilIs(condition: string, ...words: string[]): Promise<unknown>
  secret(namespace: string, name: string, data: Record<string, string>): Promise<unknown>
  /** Applies a file of this folder, with the version in the place of TAG. */
  applyFile(name: string): Promise<unknown>
  /** Pushes a commit of these files by name to the branch main of a repository, which begins with it. */
  push(repository: string, files: Record<string, string>): Promise<void>
  /** What a script prints in a container. */
  inside(namespace: string, pod: string, script: string): Promise<string>
  /** The namespace of a bound claim of `team-a`, in whatever cluster. */
  spaceOf(claim: string): Promise<string>
  /** Of a workspace, where there is one. */
  workspacePod(): Promise<AnyItem>
  /** What a script prints in the clone that this workspace has of `web`. */
  inWorkspace(script: string): Promise<string>
  /** The certificate of the authority in a Secret of Berth's. */
  authorityIn(secret: string): Promise<string>
  /** Where a port of a Service of Berth's is. */
  serviceAt(name: string, port: number): Promise<End>
  /** Stops the node with its control plane, and starts it with what it had, or what somebody has made of its folder meanwhile. */
  restart(meanwhile?: (folder: string) => Promise<void>): Promise<void>
  remove(): Promise<void>
}

export const PATIENT = { within: minutes(5) }

/** Waits until a check throws no more. */
export const soon = (check: () => Promise<unknown>) => eventually(() => check().then(() => true), PATIENT)

// biome-ignore lint/suspicious/noExplicitAny: it has the shape of whatever kind was asked for.
export type AnyItem = any

/** Of a pod: another where somebody has made it anew, or a container has started again. */
export const uidWithRestarts = ({ metadata, status }: AnyItem): string =>
  `${metadata.uid} ${status.containerStatuses.map((each: AnyItem) => each.restartCount)}`

/** The certificate of a server, its key and the authority that issued it, each by the name of its file. */
export async function makeCertificate(dnsNames: string[]): Promise<Site['tls']> {
  const validity = { clock: systemClock, lifetime: hours(24) }
  const authority = await createAuthority('berth-test', validity)
  const request = { name: 'berth', dnsNames, addresses: ['127.0.0.1', NODE_ADDRESS], usages: ['server'] as const }
  const { certificate, key } = await issueCertificate(authority, request, validity)
  return { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authority.certificate }
}

/** Commits files, which are JSON by name, to the branch main of a repository. The image has no more than a shell, git and Node. */
const PUSH = `
[ -d "/repositories/$1.git" ] || git init --quiet --bare --initial-branch=main "/repositories/$1.git"
work="/tmp/$1-$$"
git clone --quiet "/repositories/$1.git" "$work" 2> /dev/null
cd "$work"
node -e '
  for (const [file, text] of Object.entries(JSON.parse(process.argv[1]))) {
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, text)
  }
' "$2"
git add --all
git -c user.name=a -c user.email=a@example.com commit --quiet --allow-empty --message change
git push --quiet origin HEAD:main
`

/** A node with the images of Berth beside it, in `made/images.tar`. */
export async function startSite({ namespace, values: basic = {} }: { namespace: string; values?: InstallValues }): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-site-'))
  const { version: tag } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8'))
  const { digests, folder: made } = await ourImages()
  await symlink(made, join(folder, 'made'))
  const tls = await makeCertificate(['git.git.svc', 'kas.berth-system.svc'])
  let cluster = await nodeCluster(join(folder, 'node'))
  const site: Site = {
    folder,
    namespace,
    tag,
    digests,
    tls,
    cluster: () => cluster,
    async install(values) {
      const image = `localhost/berth:${tag}`
      const all = {
        image,
        workspaceImage: `localhost/berth-workspace:${tag}`,
        namespace,
        gitCa: tls['ca.crt'],
        ...basic,
        ...values,
      }
      await writeFile(join(folder, 'values.yaml'), JSON.stringify(all))
      await site.berth('install', '--values', join(folder, 'values.yaml'), '--apply')
    },
    async berth(...words) {
      const env = { ...process.env, PATH: `${dirname(await kubectl())}:${process.env.PATH}` }
      return run(process.execPath, ['src/cli/main.ts', ...words, '--kubeconfig', cluster.kubeconfig], { cwd: REPOSITORY, env })
    },
    kubectl: (...words) => cluster.kubectl(...words),
    items: async (...words) => JSON.parse(await cluster.kubectl('get', ...words, '-o', 'json')).items,
    untilIs: (condition, ...words) => cluster.kubectl('wait', `--for=${condition}`, `--timeout=${PATIENT.within}ms`, ...words),
    secret: (inNamespace, name, stringData) =>
      apply(cluster.kube, object('Secret', { name, namespace: inNamespace }, { stringData })),
    applyFile: async (name) => apply(cluster.kube, (await textOf(name)).replaceAll('TAG', tag)),
    async push(repository, files) {
      await cluster.kubectl('exec', '-n', 'git', 'git', '--', 'sh', '-euc', PUSH, 'sh', repository, JSON.stringify(files))
    },
    inside: (inNamespace, pod, script) => cluster.kubectl('exec', '-n', inNamespace, pod, '--', 'sh', '-euc', script),
    async spaceOf(claim) {
      const target = await cluster.kubectl('get', '-n', 'team-a', 'dtc', claim, '-o', 'jsonpath={.spec.targetName}')
      const path = 'jsonpath={.spec.kubernetesCredentials.defaultNamespace}'
      return cluster.kubectl('get', '-n', 'team-a', 'dt', target, '-o', path)
    },
    async workspacePod() {
      const [pod] = await site.items('pods', '-A', '-l', 'berth.dev/workspace')
      return pod
    },
    async inWorkspace(script) {
      const { name, namespace: its } = (await site.workspacePod()).metadata
      return site.inside(its, name, `cd $PROJECTS_ROOT/web\n${script}`)
    },
    async authorityIn(secret) {
      const encoded = await cluster.kubectl('get', 'secret', '-n', namespace, secret, '-o', 'jsonpath={.data.ca\\.crt}')
      return Buffer.from(encoded, 'base64').toString()
    },
    async serviceAt(name, port) {
      const ip = await cluster.kubectl('get', 'service', '-n', namespace, name, '-o', 'jsonpath={.spec.clusterIP}')
      return { enter: cluster.enter, address: `${ip}:${port}` }
    },
    async restart(meanwhile) {
      await cluster.stop()
      await meanwhile?.(join(folder, 'node'))
      cluster = await nodeCluster(join(folder, 'node'))
    },
    async remove() {
      await cluster.remove()
      await rm(folder, { recursive: true })
    },
  }
  return site
}

/** Gives the node the images of Berth, the cluster a Git server at https://git.git.svc, and `team-a` its credentials. */
export async function serveGit(site: Site): Promise<void> {
  const { kube, importImages } = site.cluster()
  await importImages(join(site.folder, 'made', 'images.tar'))
  await site.applyFile('git-server.yaml')
  await apply(kube, [
    object('ConfigMap', { name: 'program', namespace: 'git' }, { data: { 'git-server.ts': await textOf('git-server.ts') } }),
    object('Namespace', { name: 'team-a' }),
  ])
  await site.secret('git', 'tls', site.tls)
  await site.secret('team-a', 'web-git', { username: 'team', password: 'secret', 'ca.crt': site.tls['ca.crt'] })
  await site.untilIs('condition=Ready', '-n', 'git', 'pod/git')
}

const textOf = (name: string): Promise<string> => readFile(join(import.meta.dirname, name), 'utf8')

const object = (kind: string, metadata: AnyObject['metadata'], more: object = {}): AnyObject => ({
  apiVersion: 'v1',
  kind,
  metadata,
  ...more,
})
