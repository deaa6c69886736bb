import { createHmac } from 'node:crypto'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { acquireTools } from '../../../src/adapters/control-plane/index.ts'
import { type Caches, createCaches, type Kube } from '../../../src/adapters/kube/index.ts'
import { GitProjects, Namespaces, Secrets } from '../../../src/api/index.ts'
import { createLog, systemClock } from '../../../src/std/index.ts'
import { gitHost, type TestRepository } from '../../../test/support/git-host.ts'
import { type OperatorProgram, type Program, type Running, startOperator, startProgram } from '../program.ts'
import { type Stage, setStage } from '../stage.ts'

/** A control plane, a Git server with one repository, kas as a process, and the operator as another one when it is asked for. */
export interface Setup extends Stage {
  repository: TestRepository
  /** The first commit, and only then kas hears of the repository: it would believe for an interval that it is empty. */
  publish(files: Iterable<[path: string, content: string]>): Promise<string>
  kas: Program
  /** In the order of their start. */
  operators: readonly Program[]
  /** The kubectl that the operator renders with, which counts its runs; and the plain one. */
  kubectl: { counted: string; plain: string; runs(): Promise<number> }
  /** What the bench watches, as the administrator. */
  caches: Caches
  startOperator(): Promise<OperatorProgram>
  /** Tells kas of a push to main, or to another ref, as a Git server does; gives the status of the answer. */
  webhook(ref?: string): Promise<number>
}

const HOME = 'bench'
const SECRET = 'bench-webhook-secret'

/** Long enough that only webhooks wake kas. */
const POLL_INTERVAL = '1h'

/** Everything in it ends with `close`, and by itself when the bench dies. */
export async function openSetup(running: Running = {}): Promise<Setup> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-bench-setup-'))
  const stage = await setStage()
  const git = await gitHost()
  const { user, kubeconfig } = stage
  const caches = createCaches({ kube: user, clock: systemClock, log: createLog('error', process.stderr) })
  const programs: Program[] = []
  const operators: Program[] = []
  const close = async () => {
    for (const program of programs.reverse()) await program.stop()
    await caches.stop()
    await git.close()
    await stage.close()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const repository = await git.repository('bench')
    const options = [
      '--listen',
      ANYWHERE,
      '--webhooks',
      ANYWHERE,
      '--git-credentials',
      ANYWHERE,
      '--kubernetes-api',
      ANYWHERE,
      '--data-dir',
      join(folder, 'kas'),
    ]
    const kas = await startProgram({ ...running, name: 'kas', kubeconfig, options })
    programs.push(kas)
    const kubectl = await countedKubectl(folder)
    return {
      ...stage,
      repository,
      async publish(files) {
        const commit = await repository.fill(files)
        await knowRepository(user, repository.url)
        return commit
      },
      kas,
      operators,
      kubectl,
      caches,
      async startOperator() {
        const given = ['--kas', kas.facts.listen ?? '', '--kubectl', kubectl.counted]
        const operator = await startOperator(kubeconfig, given, running)
        operators.push(operator)
        programs.push(operator)
        return operator
      },
      webhook: (ref) => callWebhook(kas.facts.webhooks ?? '', ref),
      close,
    }
  } catch (thrown) {
    await close()
    throw thrown
  }
}

const ANYWHERE = '127.0.0.1:0'

/** Granted to all, so that a thousand namespaces need one grant. */
export async function knowRepository(user: Kube, url: string): Promise<void> {
  await user.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOME } })
  await user.create(Secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'webhook', namespace: HOME },
    stringData: { secret: SECRET },
  })
  await user.create(GitProjects, {
    apiVersion: 'berth.dev/v1alpha1',
    kind: 'GitProject',
    metadata: { name: 'repository', namespace: HOME },
    spec: {
      url,
      path: 'bench/repository',
      grants: { serviceAccounts: [{ name: '*', namespace: '*' }] },
      webhookSecretRef: { name: 'webhook' },
      pollInterval: POLL_INTERVAL,
    },
  })
}

export async function callWebhook(address: string, ref = 'refs/heads/main'): Promise<number> {
  const body = JSON.stringify({ ref })
  const signature = createHmac('sha256', SECRET).update(body).digest('hex')
  const answer = await fetch(`http://${address}/webhooks/${HOME}/repository`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-berth-signature': `sha256=${signature}` },
  })
  await answer.text()
  return answer.status
}

async function countedKubectl(folder: string): Promise<Setup['kubectl']> {
  const { paths } = await acquireTools({ env: process.env })
  const plain = paths.kubectl ?? 'kubectl'
  const counted = join(folder, 'kubectl')
  const tally = join(folder, 'runs')
  await writeFile(tally, '')
  await writeFile(counted, `#!/bin/sh\necho run >> ${tally}\nexec ${plain} "$@"\n`)
  await chmod(counted, 0o700)
  return { counted, plain, runs: async () => (await readFile(tally, 'utf8')).split('\n').length - 1 }
}
