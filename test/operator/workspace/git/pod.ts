import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Kube } from '../../../../src/adapters/kube/index.ts'
import {
  gitAudienceOf,
  Pods,
  ServiceAccounts,
  type TokenRequest,
  type Workspace,
  type WorkspaceSpec,
  Workspaces,
  workspaceObjectName,
} from '../../../../src/api/index.ts'
import { type GitPlan, gitFiles } from '../../../../src/operator/workspace/git/index.ts'
import { Failure } from '../../../../src/std/index.ts'
import { bindUser, untilDeveloper } from '../../../support/builders/credentials.ts'

/** A workspace as the operator leaves it when it runs in this very cluster: the object, its service account, a pod. */
export async function runningWorkspace(kube: Kube, namespace: string, name: string, spec: WorkspaceSpec): Promise<Workspace> {
  // Admission makes whoever creates it the owner.
  const made = await kube.as({ user: spec.owner ?? 'nobody' }).create(Workspaces, {
    apiVersion: 'berth.dev/v1alpha1',
    kind: 'Workspace',
    metadata: { name, namespace },
    spec,
  })
  await givePod(kube, made)
  const target = { claimName: 'shared', name: 'here', namespace, apiURL: kube.server }
  return kube.patch(Workspaces, { name, namespace }, { status: { target } }, { subresource: 'status' })
}

/** Its pod, and the service account of that. */
export async function givePod(kube: Kube, workspace: Workspace): Promise<void> {
  const { namespace = '' } = workspace.metadata
  const account = workspaceObjectName(workspace)
  await kube.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } })
  await kube.create(Pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: account, namespace },
    spec: { serviceAccountName: account, containers: [{ name: 'tools', image: 'example.com/tools:1' }] },
  })
}

/** A token as the kubelet would project it. */
export async function podToken(
  kube: Kube,
  { metadata }: Workspace,
  { audience = gitAudienceOf(metadata.uid ?? ''), bound = true, account = workspaceObjectName({ metadata }) } = {},
): Promise<string> {
  const { namespace = '' } = metadata
  const pod = await kube.get(Pods, { name: account, namespace })
  const { status } = await kube.post<TokenRequest>(`/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      audiences: [audience],
      expirationSeconds: 3600,
      ...(bound && { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: account, uid: pod?.metadata.uid } }),
    },
  })
  if (!status) throw new Failure('internal', 'the API server made no token')
  return status.token
}

/** The right to develop, given in the cluster's own way. */
export async function letDevelop(kube: Kube, namespace: string, user: string) {
  const binding = await bindUser(kube, namespace, user, 'edit')
  await untilDeveloper(kube, namespace, user)
  return binding
}

interface Ran {
  code: number
  out: string
  err: string
}

/** A process that runs on. */
export interface Started {
  code: Promise<number>
  /** Says whether it runs a program of this name. */
  hasStarted(name: string): boolean
  /** Has it end, as the kubelet does. */
  end(): Promise<number>
}

/** Those below a process, by the names of their programs. */
function programsBelow(pid: number | undefined): string[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
    return children.flatMap((child) => [readFileSync(`/proc/${child}/comm`, 'utf8').trim(), ...programsBelow(Number(child))])
  } catch {
    return [] // It has ended meanwhile.
  }
}

export interface PodFolder {
  /** Where the projects are. */
  projects: string
  /** Below the folder of the mounted files. */
  write(file: string, text: string): Promise<void>
  read(file: string): Promise<string>
  clone(): Promise<Ran>
  /** The same with the programs of a folder of the mounted files before others. */
  startCloning(programs: { first: string }): Started
  /** What a pod beside the main one runs first. */
  startWaiting(): Started
  /** What the cloner said last, as the kubelet reads it. */
  lastWords: string
  git(folder: string, ...words: string[]): Promise<Ran>
  /** What Git is told by its helper. */
  fill(attributes: string): Promise<Ran>
  remove(): Promise<void>
}

/** The files that a pod would have, and what its containers would run, as processes of this machine. */
export async function podFolder(plan: GitPlan, more: Record<string, string> = {}): Promise<PodFolder> {
  const root = await mkdtemp(join(tmpdir(), 'berth-pod-'))
  const [folder, projects, home] = [join(root, 'git'), join(root, 'projects'), join(root, 'home')]
  const lastWords = join(root, 'termination-log')
  const started: (() => void)[] = []
  const write = async (file: string, text: string) => {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
    await chmod(join(folder, file), 0o555)
  }
  await Promise.all([projects, home].map((path) => mkdir(path, { recursive: true })))
  await writeFile(lastWords, '')
  for (const [file, text] of Object.entries({
    ...gitFiles(plan, { folder, secret: join(root, 'secret'), projects: [projects] }),
    ...more,
  }))
    await write(file, text)
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    PROJECTS_ROOT: projects,
    GIT_CONFIG_SYSTEM: join(folder, 'gitconfig'),
    GIT_TERMINAL_PROMPT: '0',
    TERMINATION_LOG: lastWords,
    PASSWD_FILE: join(root, 'passwd'),
  }
  const run = (program: string, words: string[], cwd: string, input = ''): Promise<Ran> =>
    new Promise((resolve) => {
      const child = execFile(program, words, { cwd, env: environment, timeout: 60_000 }, (error, out, err) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, err }),
      )
      // It may have ended before it has read anything.
      child.stdin?.on('error', () => undefined)
      child.stdin?.end(input)
    })
  const start = (script: string, path = environment.PATH): Started => {
    const env = { ...environment, PATH: path }
    const child = spawn('/bin/sh', [join(folder, script)], { cwd: root, env, stdio: 'ignore', detached: true })
    const code = once(child, 'exit').then(([status]) => Number(status))
    const endGroup = () => {
      try {
        process.kill(-Number(child.pid), 'SIGKILL')
      } catch {
        // Nobody of it is left.
      }
    }
    started.push(endGroup)
    return {
      code,
      hasStarted: (name) => programsBelow(child.pid).includes(name),
      end() {
        child.kill('SIGTERM')
        return code
      },
    }
  }
  return {
    projects,
    write,
    read: (file) => readFile(join(folder, file), 'utf8'),
    lastWords,
    startCloning: ({ first }) => start('clone.sh', `${join(folder, first)}:${environment.PATH}`),
    startWaiting: () => start('await-clone.sh'),
    clone: () => run('sh', [join(folder, 'clone.sh')], root),
    git: (where, ...words) => run('git', words, join(projects, where)),
    fill: (attributes) => run('sh', [join(folder, 'credential.sh'), 'get'], projects, attributes),
    remove() {
      for (const end of started) end()
      return rm(root, { recursive: true, force: true })
    },
  }
}
