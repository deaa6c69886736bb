import type { Kube } from '../../../src/adapters/kube/index.ts'
import {
  ConfigMaps,
  type GitOpsDeployment,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeployments,
  type Kind,
  Secrets,
} from '../../../src/api/index.ts'
import { createProject } from '../../../test/kas/running-kas.ts'
import { managedEnvironment, managedSecret } from '../../../test/support/builders/environments.ts'
import { comparison, explosion, makeWidgets } from '../../../test/support/builders/hostile.ts'
import { endlessServer, plainServer, type StrangeServer, silentServer } from '../../../test/support/builders/strange-server.ts'
import { gitHost, type TestRepository } from '../../../test/support/git-host.ts'
import { kubeconfigFor } from '../../../test/support/targets.ts'
import { fileOf, numbered, settings } from '../gitops/manifests.ts'
import { syncOf } from '../gitops/syncs.ts'
import { inParallel } from '../stage.ts'

export const EVIL = 'evil'
export const FLAPPING = 10_000
const HANGING = 250
const ENDLESS = 11
const LARGE = 300
/** Repositories of a few kilobytes, each of which lists ten million folders in 20 MB. */
const CASCADES = 20
/** Repositories that are to be looked at each second. */
const EAGER = 60
const AT_ONCE = 8
/** Objects as large as the API takes them. */
const LARGEST = 20
const LARGEST_BYTES = 900_000

/** Everything that one tenant does to stop everybody, begun. */
export interface Attack {
  /** Objects changed by hand so far. */
  readonly flaps: number
  stop(): Promise<void>
}

/** What is brought from Git and then changed by hand for ever: very many objects, and very large ones. */
export async function prepare(user: Kube): Promise<{ begin(): Promise<Attack>; close(): Promise<void> }> {
  const host = await gitHost()
  const servers: StrangeServer[] = []
  const open = async (server: Promise<StrangeServer>) => {
    const opened = await server
    servers.push(opened)
    return opened
  }
  const tenant = user.as({ user: `system:serviceaccount:${EVIL}:default` })
  const follow = followIn(user, (name) => host.repository(name))
  const widgets = await makeWidgets(user)
  await follow('speaking', (name) =>
    Array.from({ length: LARGEST }, (_, n): [string, string] => [`${name}/${n}.yaml`, fileOf(widget(n))]),
  )
  const repository = await follow('flapping', (name) => {
    const small = Array.from({ length: FLAPPING }, (_, n) => settings(numbered('flap', n), 'right'))
    const large = Array.from({ length: LARGEST }, (_, n) => ({
      ...settings(numbered('huge', n), 'right'),
      data: { value: 'right', filler: 'x'.repeat(LARGEST_BYTES) },
    }))
    return [...small, ...large].map((object): [string, string] => [`${name}/${object.metadata.name}.yaml`, fileOf(object)])
  })
  return {
    async begin() {
      const silent = await open(silentServer())
      const endless = await open(endlessServer())
      const refusing = await open(
        plainServer((_, response) => response.writeHead(403, { 'content-type': 'text/plain' }).end('a'.repeat(1_000_000))),
      )
      const flap = startFlapping(tenant, widgets)
      await costlyWords(follow)
      for (let n = 0; n < EAGER; n++) await follow(numbered('eager', n), one)
      await strangeHosts(user, repository, { silent, endless, refusing })
      await largeSecrets(user)
      await (await follow('crowd', () => [['crowd/a.yaml', '']])).crowd(10_000_000)
      for (let n = 0; n < CASCADES; n++)
        await (await follow(numbered('cascade', n), (name) => [[`${name}/a.yaml`, '']])).cascade(10_000, 1000)
      return flap
    },
    async close() {
      for (const server of servers) await server.close()
      await host.close()
    },
  }
}

type Follow = (
  name: string,
  files: (name: string) => Iterable<[string, string]>,
  spec?: Partial<GitOpsDeployment['spec']>,
) => Promise<TestRepository>

/** A repository whose folder of this name is brought to the namespace. */
const followIn =
  (user: Kube, open: (name: string) => Promise<TestRepository>): Follow =>
  async (name, files, spec = {}) => {
    const repository = await open(name)
    await repository.fill(files(name))
    await createProject(user, EVIL, name, { url: repository.url })
    await user.create(GitOpsDeployments, syncOf({ repository }, { namespace: EVIL, name, path: name }, spec))
    return repository
  }

/** Objects whose health takes ten thousand steps each, in a namespace that has a hundred thousand a second. */
const RULED = 150
const KEYS = 20_000
const MANY_POINTERS = Array.from({ length: 32 }, (_, at) => `/data/${numbered('absent', at)}`)

const keysOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [numbered('key', at), 'x']))
const ruled = (name: string): [string, string][] =>
  Array.from({ length: RULED }, (_, at) => [
    `${name}/${at}.yaml`,
    fileOf({ ...settings(numbered('ruled', at), 'x'), data: keysOf(50) }),
  ])
const manyKeys = (name: string): [string, string][] => [
  [`${name}/app.yaml`, fileOf({ ...settings('many-keys', 'x'), data: keysOf(KEYS) })],
]

const one = (name: string): [string, string][] => [[`${name}/app.yaml`, fileOf(settings(name, 'x'))]]

async function costlyWords(follow: Follow): Promise<void> {
  await follow('rules', ruled, { healthRules: [{ group: '', kind: 'ConfigMap', healthy: comparison }] })
  await follow('ignored', manyKeys, { ignore: [{ target: { kind: 'ConfigMap' }, paths: MANY_POINTERS }] })
  await follow('rule', one, { healthRules: [{ group: '', kind: 'ConfigMap', healthy: explosion }] })
  await follow('reference', (name) => [[`${name}/kustomization.yaml`, `resources: ["${'@'.repeat(250_000)}"]`]])
  const endless = fileOf(settings('variables', '${a:-'.repeat(150_000)))
  await follow('variables', (name) => [[`${name}/app.yaml`, endless]], { variables: { values: { a: 'x' } } })
}

type Strange = Record<'silent' | 'endless' | 'refusing', StrangeServer>

async function strangeHosts(user: Kube, repository: TestRepository, { silent, endless, refusing }: Strange): Promise<void> {
  const url = silent.url.replace('https', 'http')
  await inParallel(HANGING, AT_ONCE, (n) => createProject(user, EVIL, numbered('hang', n), { url: `${url}/${n}.git` }))
  await createProject(user, EVIL, 'refusing', { url: `${refusing.url}/x.git` })
  const followed = (n: number) => ({ repoURL: repository.url, path: 'flapping', ...REVISIONS[n % REVISIONS.length] })
  await inParallel(HANGING, AT_ONCE, (n) => targetAt(user, followed(n), numbered('hang', n), silent.url))
  await inParallel(ENDLESS, AT_ONCE, (n) => targetAt(user, followed(n), numbered('endless', n), endless.url))
}

/** Names of one commit, so that it is not the same that is followed. */
const REVISIONS = [{}, { targetRevision: 'main' }, { targetRevision: 'refs/heads/main' }]

/** A target there, and a deployment to it of what flaps. */
async function targetAt(user: Kube, source: GitOpsDeployment['spec']['source'], name: string, apiURL: string): Promise<void> {
  await user.create(Secrets, managedSecret(EVIL, name, kubeconfigFor(apiURL)))
  const spec = { apiURL, credentialsSecret: name, allowInsecureSkipTLSVerify: true }
  await user.create(GitOpsDeploymentManagedEnvironments, managedEnvironment(EVIL, name, spec))
  const destination = { environment: name, namespace: EVIL }
  const repository = { url: source.repoURL ?? '' }
  const sync = syncOf({ repository }, { namespace: EVIL, name, path: source.path ?? '.' }, { source, destination })
  await user.create(GitOpsDeployments, sync)
}

const largeSecrets = (user: Kube): Promise<void> =>
  inParallel(LARGE, AT_ONCE, async (n) => {
    await user.create(Secrets, managedSecret(EVIL, numbered('large', n), 'x'.repeat(700_000)))
  })

const widget = (n: number) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: numbered('widget', n), namespace: EVIL },
})

/** As the tenant: the API server gives each its share. */
function startFlapping(tenant: Kube, widgets: Kind): Attack {
  let flaps = 0
  let ended = false
  const change = async (name: string) => {
    const data = { value: `wrong ${flaps}` }
    await tenant.patch(ConfigMaps, { name, namespace: EVIL }, { data }, { manager: 'flapping' })
    flaps++
  }
  const speak = async (n: number) => {
    const conditions = [{ type: 'Stalled', status: n % 2 ? 'True' : 'False', message: `${flaps} ${'m'.repeat(LARGEST_BYTES)}` }]
    await tenant.patch(widgets, widget(n).metadata, { status: { conditions } }, { subresource: 'status' })
    flaps++
  }
  const work = async (worker: number) => {
    for (let n = worker; !ended; n = (n + AT_ONCE) % FLAPPING) {
      await change(numbered('flap', n))
      if (n % 500 !== worker) continue
      await change(numbered('huge', n % LARGEST))
      await speak(Math.floor(n / 500) % LARGEST)
    }
  }
  const done = Promise.all(Array.from({ length: AT_ONCE }, (_, worker) => work(worker)))
  return {
    get flaps() {
      return flaps
    },
    async stop() {
      ended = true
      await done
    },
  }
}
