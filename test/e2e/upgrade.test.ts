import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import * as assert from 'uvu/assert'
import { freePort } from '../../src/adapters/control-plane/index.ts'
import { minutes, pause, systemClock } from '../../src/std/index.ts'
import { kubectl as findKubectl } from '../support/builders/snapshots.ts'
import { lacksNode } from '../support/node.ts'
import { describe } from '../support/suite.ts'
import { apply, eventually } from '../support/verbs.ts'
import { AGENT_CONFIGURATION, application } from './pods/application.ts'
import { type FirstBerth, lacksFirst, makeFirst } from './pods/first.ts'
import { lineBetween } from './pods/line.ts'
import { PATIENT, type Site, serveGit, startSite, uidWithRestarts } from './pods/site.ts'

const NAMESPACE = 'berth-system'
const SYNCS = 50
const WORKSPACES = 20
/** These are started again by the newer version. */
const STARTED = ['space-0', 'space-1']

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

const deployment = (n: number) => `
apiVersion: managed-gitops.redhat.com/v1alpha1
kind: GitOpsDeployment
metadata: { name: app-${n}, namespace: team-a }
spec:
  type: automated
  source: { repoURL: 'https://git.git.svc/web.git', path: apps/${n}, targetRevision: main }
  destination: { environment: managed-environment-production }
`

/** Every second one runs what Berth has for it, the others what their devfile says. */
const workspace = (n: number) => `
apiVersion: berth.dev/v1alpha1
kind: Workspace
metadata: { name: space-${n}, namespace: team-a }
spec:
  devfile:
    inline: |
      schemaVersion: 2.2.0
      components:
        - name: tools
          attributes: { overrideCommand: ${n % 2 === 1} }
          container: { image: 'localhost/busybox:1', ${n % 2 === 1 ? '' : 'command: [sleep, infinity], '}cpuRequest: 10m, memoryRequest: 8Mi, memoryLimit: 32Mi }
`

const ANOTHER_CLAIM = `
apiVersion: appstudio.redhat.com/v1alpha1
kind: DeploymentTargetClaim
metadata: { name: another, namespace: team-a }
spec: { deploymentTargetClassName: isolation-level-namespace }
`

const folders = Object.fromEntries(
  numbers(SYNCS).map((n) => [
    `apps/${n}/said.yaml`,
    `{ apiVersion: v1, kind: ConfigMap, metadata: { name: said-${n} }, data: { number: '${n}' } }`,
  ]),
)

/** A session in a pod, which says again what it is told. */
function startSession(kubectl: string, words: string[]) {
  const child = spawn(kubectl, [...words, '--', 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
  // Whoever writes to a session that was cut is told by what it answers.
  child.stdin.on('error', () => undefined)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const ended = once(child, 'exit')
  return {
    async answers(line: string) {
      child.stdin.write(`${line}\n`)
      assert.is((await lines.next()).value, line)
    },
    async end() {
      child.stdin.end()
      await ended
    },
  }
}

describe(
  'another version in the place of the one that runs',
  (it) => {
    let site: Site
    let first: FirstBerth
    let line: { stop(): Promise<void> } | undefined
    let people: string

    const push = (word: string) => site.push('web', application(word))
    const arrives = (word: string) =>
      eventually(async () => (await site.items('configmaps', '-A')).some(({ data }) => data?.word === word), PATIENT)

    /** Also those whose path has not changed. */
    const untilAllHaveSeenIt = async () => {
      const commit = (await site.inside('git', 'git', 'git -C /repositories/web.git rev-parse main')).trim()
      const revisions = async () =>
        (await site.items('gitopsdeployments', '-n', 'team-a')).map(({ status }) => status.sync.revision)
      await eventually(async () => (await revisions()).every((revision) => revision === commit), PATIENT)
    }

    const podsOfWorkspaces = async (others: readonly string[]) =>
      (await site.items('pods', '-A', '-l', 'berth.dev/workspace')).filter(
        ({ metadata }) => !others.includes(metadata.labels['berth.dev/workspace']),
      )

    /** What people have, and what was applied for them: nobody is to start it again, or to write it again. */
    const standing = async (restarted: readonly string[] = []) => {
      const ofWorkspaces = await podsOfWorkspaces(restarted)
      const pods = [...ofWorkspaces, ...(await site.items('pods', '-A', '-l', 'app=web'))]
      const applied = (await site.items('configmaps', '-A')).filter(({ metadata }) => /^said-/.test(metadata.name))
      const counts = { pods: pods.length, applied: applied.length }
      const lines = [
        ...pods.map(uidWithRestarts),
        ...applied.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`),
      ]
      return { counts, lines: lines.toSorted() }
    }

    it.before(async () => {
      site = await startSite({ namespace: NAMESPACE })
      first = await makeFirst(site)
      await first.install()
      await serveGit(site)
      await first.berth('onboard', 'team-a')
      await site.push('web', { ...application('first'), ...folders })
      await site.push('config', { '.berth/agents/dev/config.yaml': AGENT_CONFIGURATION })
      await site.applyFile('team.yaml')
      const made = [...numbers(SYNCS).map(deployment), ...numbers(WORKSPACES).map(workspace)]
      await apply(site.cluster().kube, made.join('---'))
    })
    it.after(async () => {
      await line?.stop()
      await site?.remove()
    })

    const ca = () => join(site.folder, 'ca.crt')
    const startAgent = async (berth: Site['berth'], image: string, ...rights: string[]) => {
      const words = ['--kas-ca-file', ca(), '--image', image, ...rights]
      await apply(site.cluster().kube, (await berth('agent', 'manifest', 'dev', '-n', 'team-a', ...words)).stdout)
    }

    it('begins with the first, its workspaces, its deployments, and a session through an agent', async () => {
      await site.untilIs('jsonpath={.status.actualState}=Running', '-n', 'team-a', 'workspaces', '--all')
      await arrives('first')
      await eventually(async () => (await standing()).counts.applied === SYNCS, PATIENT)
      await first.berth('agent', 'create', 'dev', '--project', 'team-a/config', '-n', 'team-a')
      await writeFile(ca(), site.tls['ca.crt'])
      await startAgent(first.berth, first.image)
      const port = await freePort()
      line = await lineBetween(
        { enter: [], address: `127.0.0.1:${port}` },
        await site.serviceAt('kas', 8154),
        join(site.folder, 'people.sock'),
      )
      const server = ['--server', `https://127.0.0.1:${port}`, '--certificate-authority', ca()]
      const { stdout } = await first.berth('agent', 'kubeconfig', 'dev', '-n', 'team-a', ...server)
      people = join(site.folder, 'dev.yaml')
      await writeFile(people, stdout)
      await eventually(() => site.kubectl('--kubeconfig', people, 'get', 'namespaces', '-o', 'name'), PATIENT)
    })

    const imagesOfPrograms = async () => {
      const pods = await site.items('pods', '-n', NAMESPACE, '-l', 'app.kubernetes.io/name in (berth-kas, berth-operator)')
      const images = pods.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ spec }) => spec.containers[0].image)
      return [...new Set(images)]
    }

    /** Takes one version to another, while each push has all deployments look at it. */
    const keeps = async (word: string, image: string, change: () => Promise<void>, restarted: readonly string[] = []) => {
      const before = await standing(restarted)
      assert.equal(before.counts, { pods: WORKSPACES - restarted.length + 2, applied: SYNCS })
      await Promise.all([change(), push(`${word}-meanwhile`)])
      await push(word)
      assert.equal(await imagesOfPrograms(), [image])
      await arrives(word)
      await untilAllHaveSeenIt()
      assert.equal(await standing(restarted), before)
      await eventually(() => site.kubectl('--kubeconfig', people, 'get', 'namespaces', '-o', 'name'), PATIENT)
    }

    it('is upgraded: no pod of anybody starts again, and nothing that was applied changes', async () => {
      await keeps('upgraded', `localhost/berth:${site.tag}`, () => site.install())
    })

    it('works with what the first has left', async () => {
      await site.berth('doctor')
      for (const name of STARTED) await site.berth('stop', name, '-n', 'team-a')
      const named = STARTED.map((name) => `workspace/${name}`)
      await site.untilIs('jsonpath={.status.actualState}=Stopped', '-n', 'team-a', ...named)
      for (const name of STARTED) await site.berth('start', name, '-n', 'team-a')
      await site.untilIs('jsonpath={.status.actualState}=Running', '-n', 'team-a', ...named)
      await apply(site.cluster().kube, ANOTHER_CLAIM)
      await site.untilIs('jsonpath={.status.phase}=Bound', '-n', 'team-a', 'deploymenttargetclaim/another')
    })

    it('goes back to the first, as quietly, and no session is cut by the kas that ends', async () => {
      const image = `localhost/berth:${site.tag}`
      await startAgent(site.berth, image, '--cluster-admin')
      const agents = async () =>
        (await site.items('pods', '-A')).filter(({ metadata }) => /^berth-agent-dev-/.test(metadata.name))
      await eventually(async () => {
        const images = (await agents()).map(({ spec }) => spec.containers[0].image)
        return images.length === 2 && images.every((each) => each === image)
      }, PATIENT)
      await eventually(() => site.kubectl('--kubeconfig', people, 'get', 'namespaces', '-o', 'name'), PATIENT)
      const { name, namespace } = (await podsOfWorkspaces(STARTED))[0].metadata
      const session = startSession(await findKubectl(), ['--kubeconfig', people, 'exec', '-i', '-n', namespace, name])
      await session.answers('before')
      // Their pods have a form that the first does not know.
      await keeps('back', first.image, () => first.install(), STARTED)
      // Longer than both sides of a connection wait until they look whether it is alive.
      await pause(systemClock, minutes(1.5))
      await session.answers('after that')
      await session.end()
    })
  },
  (await lacksNode()) ?? (await lacksFirst()),
)
