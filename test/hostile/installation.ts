import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ok } from 'uvu/assert'
import { memoryOf } from '../../hack/bench/program.ts'
import { endServer, statusOf } from '../../src/adapters/control-plane/index.ts'
import { connect, type Kube, kubeFromSecret } from '../../src/adapters/kube/index.ts'
import {
  CoreEvents,
  DeploymentTargetClaims,
  DeploymentTargets,
  type GitOpsDeployment,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeployments,
  kubeconfigIn,
  Namespaces,
  type Ref,
  Secrets,
} from '../../src/api/index.ts'
import { type LocalPart, logOf, partsOf, startPart } from '../../src/cli/local/parts.ts'
import { operatorFlags } from '../../src/cli/local/start-programs.ts'
import { Failure, seconds } from '../../src/std/index.ts'
import { type Berth, berth, exportedIn, MAIN, startBerth } from '../cli/berth.ts'
import { createAgent, createProject } from '../kas/running-kas.ts'
import { bindUser, grant, untilMay } from '../support/builders/credentials.ts'
import { managedEnvironment, managedSecret } from '../support/builders/environments.ts'
import { kubectl } from '../support/builders/snapshots.ts'
import { type GitHost, gitHost, type TestRepository } from '../support/git-host.ts'
import { HEAP_OF_LIMIT } from '../support/shipped-limit.ts'
import { claim } from '../support/targets.ts'
import { eventually, expectObject } from '../support/verbs.ts'

/** What a tenant has brought from Git. */
interface Deliveries {
  /** A repository of the namespace with these files, and its project. An object is written as JSON, which is YAML too. */
  repository(namespace: string, name: string, files: Record<string, string | object>): Promise<TestRepository>
  /** What lies at its source is brought to the namespace. */
  follow(namespace: string, name: string, spec: Omit<GitOpsDeployment['spec'], 'type'>): Promise<void>
  /** Waits until the status of a deployment says so. */
  told(namespace: string, name: string, words: RegExp): Promise<void>
}

/** What a claim gives: who holds it, where, and the target that it is bound to. */
export interface Space {
  kube: Kube
  namespace: string
  target: Ref
}

/** A local installation as people bring it up, with tenants in it who mean each other no good. */
export interface Installation extends Deliveries {
  /** As cluster-admin. */
  kube: Kube
  /** Waits for an Event of this reason in the namespace, and gives its message. */
  heard(namespace: string, reason: string): Promise<string>
  host: GitHost
  /** `berth` with this installation's surroundings; throws unless it ends with 0. */
  berth(...words: string[]): Promise<string>
  /** Somebody with the rights that were given to a user of this name. */
  as(user: string): Kube
  /** Somebody who has this ClusterRole in this namespace and nothing else, once the API server has heard of it. */
  person(name: string, namespace: string, role: 'edit' | 'admin'): Promise<Kube>
  /** What the kubeconfig of a program of it can do, for whoever takes the program over. */
  holding(program: 'operator' | 'kas'): Kube
  /** What the holder of a claim's kubeconfig can do: with `edit`, anybody gets one. `className`: a class other than the default. */
  space(as: Kube, namespace: string, claim: string, className?: string): Promise<Space>
  /** Where a program of it says it listens, and the authority of its certificates. */
  doorOf(program: string, door: string): { address: string; ca: Buffer }
  /** The most memory that a program of it has had so far, MiB. */
  peakOf(program: string): number
  /** All that a program of it has logged since it was started. */
  logOf(program: string): string
  /** The operator is ended, and started by its shipped account with these flags beside those that `berth up` gives it. */
  restartOperator(...flags: string[]): Promise<void>
  /** A running agent with all rights in the cluster, as `berth agent manifest --cluster-admin` gives them. `kas`: another one than that of the installation. */
  agent(
    namespace: string,
    name: string,
    configuration: { path: string; namespace?: string; kas?: string },
  ): Promise<{ token: string }>
  /** One more kas, by the shipped account, with these flags; plain text. It is found by `doorOf`. */
  kas(name: string, flags: Record<string, string>): Promise<void>
  stop(): Promise<void>
}

/** `namespaces`: the tenants; what one of them brings from Git is applied by his account `default`, which has `edit` there. `settings`: variables of the programs. */
export async function bringUp(namespaces: readonly string[], settings: Record<string, string> = {}): Promise<Installation> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'berth-hostile-')))
  const host = await gitHost()
  const { code, stdout, stderr } = await startBerth(['up', '--dir', dir, '--detach'], {
    env: { NODE_OPTIONS: HEAP_OF_LIMIT, ...settings },
  }).ended
  const stop = async () => {
    await berth(['down', '--dir', dir])
    await host.close()
    rmSync(dir, { recursive: true, force: true })
  }
  if (code !== 0) {
    await stop()
    throw new Failure('unavailable', stderr)
  }
  const env = exportedIn(stdout)
  const kube = connect({ kubeconfig: join(dir, 'kubeconfig') })
  for (const name of namespaces) {
    await kube.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    await grant(kube, name, 'default', 'edit')
  }
  const somebody = (user: string) => kube.as({ user, groups: ['system:authenticated'] })
  const agents: Berth[] = []
  const opened: Kube[] = []
  return {
    kube,
    host,
    as: somebody,
    async berth(...words) {
      const ended = await berth([...words, '--kubeconfig', join(dir, 'kubeconfig')])
      if (ended.code !== 0) throw new Failure('invalid', `berth ${words.join(' ')}: ${ended.stderr}`)
      return ended.stdout
    },
    async person(name, namespace, role) {
      await bindUser(kube, namespace, name, role)
      const { group, plural: resource } = DeploymentTargetClaims
      await untilMay(kube, namespace, name, { verb: 'create', group, resource })
      return somebody(name)
    },
    async space(as, namespace, name, deploymentTargetClassName = 'isolation-level-namespace') {
      await as.create(DeploymentTargetClaims, claim(namespace, name, { deploymentTargetClassName }))
      const space = await spaceOf(kube, as, { name, namespace })
      opened.push(space.kube)
      return space
    },
    holding(program) {
      const held = connect({ kubeconfig: join(dir, `${program}.kubeconfig`) })
      opened.push(held)
      return held
    },
    ...deliveries(kube, host),
    heard: (namespace, reason) =>
      eventually(async () => (await kube.list(CoreEvents, { namespace })).find((event) => event.reason === reason)?.message),
    doorOf: (program, door) => ({
      address: partOf(dir, program).facts[door] ?? '',
      ca: readFileSync(statusOf(dir)?.authority ?? ''),
    }),
    logOf: (program) => readFileSync(logOf(dir, program), 'utf8'),
    restartOperator: (...flags) => restartOperator(dir, flags),
    peakOf: (program) => memoryOf(partOf(dir, program).pid).peak,
    async agent(namespace, name, { path, namespace: home, kas }) {
      const token = await createAgent(kube, namespace, name, {
        configurationProject: path,
        ...(home ? { configurationProjectNamespace: home } : {}),
      })
      const kasAddress = kas ? { BERTH_KAS_ADDRESS: `grpc://${kas}` } : {}
      agents.push(await startAgent({ namespace, name }, { ...env, ...settings, ...kasAddress, AGENTK_TOKEN: token }))
      return { token }
    },
    kas: (name, flags) => startKas(dir, name, flags),
    async stop() {
      for (const { process } of agents) process.kill('SIGTERM')
      for (const { ended } of agents) await ended
      for (const client of opened) await client.close()
      await kube.close()
      await stop()
    },
  }
}

async function startAgent({ namespace = '', name }: Ref, env: Record<string, string>): Promise<Berth> {
  const words = ['agent', 'run', '--namespace', namespace, '--pod-name', `${name}-1`, '--operations', '127.0.0.1:0']
  return startBerth([...words, '--kubectl', await kubectl()], { env })
}

/** With the kubeconfig of a claim, once it has one. */
async function spaceOf(kube: Kube, as: Kube, ref: Ref): Promise<Space> {
  const { spec } = await expectObject(kube, DeploymentTargetClaims, ref, ({ status }) => status?.phase === 'Bound')
  const target = { ...ref, name: spec.targetName ?? '' }
  const { kubernetesCredentials } = (await kube.get(DeploymentTargets, target))?.spec ?? {}
  const { clusterCredentialsSecret = '', defaultNamespace = '', apiURL: server } = kubernetesCredentials ?? {}
  const secret = await as.get(Secrets, { ...ref, name: clusterCredentialsSecret })
  const kubeconfig = secret && kubeconfigIn(secret)
  ok(kubeconfig)
  return { kube: kubeFromSecret(kubeconfig, { server, reach: undefined }), namespace: defaultNamespace, target }
}

async function startKas(dir: string, name: string, flags: Record<string, string>): Promise<void> {
  const ports = ['listen', 'operations', 'webhooks', 'kubernetes-api', 'git-credentials']
  const given = { kubeconfig: join(dir, 'kas.kubeconfig'), 'data-dir': join(dir, name), ...flags }
  const words = [...Object.entries(given), ...ports.map((port) => [port, '127.0.0.1:0'])]
  const command = [process.execPath, MAIN, 'kas', ...words.flatMap(([flag, value = '']) => [`--${flag}`, value])] as const
  const { signal } = new AbortController()
  await startPart({ dir, name, command, up: 'kas started', detached: true, env: { PATH: process.env.PATH }, signal })
}

async function restartOperator(dir: string, flags: readonly string[]): Promise<void> {
  const words = operatorFlags({
    kubeconfig: join(dir, 'operator.kubeconfig'),
    kubectl: await kubectl(),
    kas: partOf(dir, 'kas'),
    authority: statusOf(dir)?.authority,
    network: { hasNode: false, enter: [], ports: {} },
  })
  const env = { PATH: process.env.PATH, NODE_OPTIONS: HEAP_OF_LIMIT }
  const { signal } = new AbortController()
  await endServer(partOf(dir, 'operator').pid, seconds(5))
  const command = [process.execPath, MAIN, 'operator', ...words, ...flags] as const
  await startPart({ dir, name: 'operator', command, up: 'operator started', detached: true, env, signal })
}

function partOf(dir: string, program: string): LocalPart {
  const part = partsOf(dir).find(({ name }) => name === program)
  ok(part, `${program} does not run`)
  return part
}

/** The files of a commit, an object as JSON. */
export const filesOf = (files: Record<string, string | object>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([path, file]) => [path, typeof file === 'string' ? file : JSON.stringify(file)]))

/** What is brought: a folder on a branch, the whole of main without them. */
export const sourceOf = (repoURL: string, { path = '.', targetRevision = 'main' } = {}) => ({ repoURL, path, targetRevision })

/** A cluster that somebody brings: a managed environment, and the Secret of the same name with the kubeconfig. */
export async function bringCluster(
  as: Kube,
  { name, namespace }: Ref & { namespace: string },
  kubeconfig: string,
  spec: Parameters<typeof managedEnvironment>[2],
): Promise<void> {
  await as.create(Secrets, managedSecret(namespace, name, kubeconfig))
  const given = { credentialsSecret: name, ...spec }
  await as.create(GitOpsDeploymentManagedEnvironments, managedEnvironment(namespace, name, given))
}

const deliveries = (kube: Kube, host: GitHost): Deliveries => ({
  async repository(namespace, name, files) {
    const repository = await host.repository(`${namespace}-${name}`)
    await repository.commit(filesOf(files))
    await createProject(kube, namespace, name, { url: repository.url })
    return repository
  },
  async follow(namespace, name, spec) {
    await kube.create(GitOpsDeployments, {
      apiVersion: 'managed-gitops.redhat.com/v1alpha1',
      kind: 'GitOpsDeployment',
      metadata: { name, namespace },
      spec: { type: 'automated', ...spec },
    })
  },
  async told(namespace, name, words) {
    await expectObject(kube, GitOpsDeployments, { name, namespace }, ({ status }) => words.test(JSON.stringify(status)))
  },
})
