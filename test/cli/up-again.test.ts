import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { connect, type Kube } from '../../src/adapters/kube/index.ts'
import { ConfigMaps, Deployments, DeploymentTargetClaims, DeploymentTargets, Leases, Workspaces } from '../../src/api/index.ts'
import { kubectl } from '../support/builders/snapshots.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { berth, exportedIn, findingIn, findingsIn, startBerth } from './berth.ts'
import { processesIn } from './leftovers.ts'

interface Status {
  components: { name: string; address: string }[]
  kinds: { kind: string; objects: number; ready?: number }[]
  errors: { object: string; reason: string }[]
}

describe('up in a folder where something stands', (it) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'berth-again-')))
  const dir = join(root, 'one')
  const kubeconfig = join(dir, 'kubeconfig')
  const team = 'team-a'
  it.after(async () => {
    await berth(['down', '--dir', dir])
    rmSync(root, { recursive: true, force: true })
  })

  const env = { BERTH_WORKSPACE_IMAGE: 'registry.example.com/small:1' }
  const run = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await startBerth(words, { env }).ended
    assert.is(code, 0, `${words.join(' ')}: ${stdout}\n${stderr}`)
    return stdout
  }
  const up = () => run('up', '--dir', dir, '--detach')
  const statusOf = async (): Promise<Status> => JSON.parse((await berth(['status', '--dir', dir, '-o', 'json'])).stdout)
  const within = async <T>(work: (kube: Kube) => Promise<T>): Promise<T> => {
    const kube = connect({ kubeconfig })
    try {
      return await work(kube)
    } finally {
      await kube.close()
    }
  }
  const git = (...words: string[]) =>
    promisify(execFile)('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: join(dir, 'work', 'shop') })
  const allReady = () =>
    eventually(async () => {
      const { kinds, errors } = await statusOf()
      assert.equal(errors, [])
      for (const { kind, objects, ready } of kinds) assert.is(ready ?? objects, objects, kind)
      return true
    })

  const pidOf = (program: string): number => {
    const parts: { name: string; pid: number }[] = JSON.parse(readFileSync(join(dir, 'parts.json'), 'utf8'))
    return parts.find(({ name }) => name === program)?.pid ?? 0
  }
  const doctor = async (...flags: string[]) => berth(['doctor', '--kubeconfig', kubeconfig, ...flags])

  it('has all its addresses again, and everything in it is well by itself', async () => {
    await run('tour', '--exit', '--no-node', '--dir', dir)
    const first = exportedIn(await up())
    const before = await statusOf()
    assert.ok(Object.keys(first).length >= 4)
    await run('down', '--dir', dir)
    assert.equal(processesIn(dir), [])
    const printed = await up()
    assert.equal(exportedIn(printed), first)
    const addresses = ({ components }: Status) => components.map(({ name, address }) => `${name} ${address}`)
    assert.equal(addresses(await statusOf()), addresses(before))

    // A commit that comes in now goes the whole way: Git server, kas, operator, and the target of the claim.
    const text = readFileSync(join(dir, 'work', 'shop', 'base', 'kustomization.yaml'), 'utf8')
    writeFileSync(join(dir, 'work', 'shop', 'base', 'kustomization.yaml'), `${text}\n# again\n`)
    await git('commit', '--quiet', '--all', '--message', 'again')
    await git('push', '--quiet', `${/git: (\S+)\/<name>/.exec(printed)?.[1]}/shop.git`, 'main')
    await run('sync', 'shop', '--namespace', team, '--wait', '--kubeconfig', kubeconfig)
    await allReady()
    await within(async (kube) => {
      const claim = await kube.get(DeploymentTargetClaims, { name: 'development', namespace: team })
      const target = await kube.get(DeploymentTargets, { name: claim?.spec.targetName ?? '', namespace: team })
      assert.is(target?.spec.kubernetesCredentials.apiURL, kube.server)
      const namespace = target?.spec.kubernetesCredentials.defaultNamespace
      assert.ok(await kube.get(ConfigMaps, { name: 'shop-settings', namespace }))
    })
    const { stdout } = await berth(['doctor', '--kubeconfig', kubeconfig, '-o', 'json'])
    assert.equal(
      findingsIn(stdout).filter(({ mark, check }) => mark === 'fail' || check === 'objects'),
      [{ check: 'objects', mark: 'ok', message: 'none waits for long' }],
    )
  })

  it('says where webhooks go, that pods are simulated, and that it is up only when its operator leads', async () => {
    const printed = await up()
    assert.match(printed, /^ {2}webhooks: POST http:\/\/127\.0\.0\.1:\d+\/webhooks\/<namespace>\/<project>$/m)
    assert.match(printed, 'simulated by kwok, and nothing runs in them')
    const [, address] = /POST (\S+)\/webhooks/.exec(printed) ?? []
    assert.is((await fetch(`${address}/webhooks`, { method: 'POST' })).status, 404)
  })

  it('takes other ports where somebody was quicker to take one of a new folder', async () => {
    const other = join(root, 'two')
    const portOfKas = (): number => JSON.parse(readFileSync(join(other, 'ports.json'), 'utf8')).kas
    const starting = startBerth(['up', '--dir', other, '--detach'], { env }).ended
    // Before kas listens there, it waits for the API server.
    const port = await eventually(() => existsSync(join(other, 'ports.json')) && portOfKas())
    const thief = createServer().listen(port, '127.0.0.1')
    try {
      await once(thief, 'listening')
      const { code, stderr } = await starting
      assert.is(code, 0, stderr)
      assert.is.not(portOfKas(), port)
    } finally {
      thief.close()
      await berth(['down', '--dir', other])
    }
  })

  it('has workspaces cloned by the image that BERTH_WORKSPACE_IMAGE names', async () => {
    const spec = {
      project: { gitProject: 'shop' },
      target: { claimName: 'development' },
      devfile: { inline: 'schemaVersion: 2.2.0\ncomponents: [{ name: a, container: { image: "example.com/a:1" } }]' },
    }
    const metadata = { name: 'cloned', namespace: team }
    await within(async (kube) => {
      await kube.create(Workspaces, { apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace', metadata, spec } as never)
      await eventually(async () => {
        const pods = (await kube.list(Deployments)).flatMap((deployment) => deployment.spec?.template.spec ?? [])
        const images = pods.flatMap(({ initContainers = [] }) => initContainers.map(({ image }) => image))
        return images.includes(env.BERTH_WORKSPACE_IMAGE)
      })
      await kube.delete(Workspaces, metadata)
    })
  })

  it('lets no second Berth come into its cluster, by whatever kubeconfig, and says how to go on', async () => {
    const copy = join(root, 'copy.yaml')
    writeFileSync(copy, readFileSync(kubeconfig))
    const renders = { BERTH_KUBECTL: await kubectl() }
    const install = (file: string) =>
      berth(['install', '--image', 'registry.example.com/berth:1', '--apply', '--kubeconfig', file], { env: renders })
    const near = await install(kubeconfig)
    assert.is(near.code, 7, near.stderr)
    assert.match(near.stderr, '`berth up` runs Berth for the cluster at https://127.0.0.1:')
    assert.match(near.stderr, 'This cluster is of `berth up` itself, and needs no installation')
    const far = await install(copy)
    assert.is(far.code, 7, far.stderr)
    assert.match(far.stderr, 'an operator runs beside the cluster at https://127.0.0.1:')
    assert.match(far.stderr, 'berth-up has the Lease of the operator, and renewed it')
    const second = await berth(['up', '--dir', join(root, 'two'), '--detach', '--kubeconfig', copy])
    assert.is(second.code, 7, second.stderr)
    assert.match(second.stderr, 'already: berth-up has the Lease of the operator')
    assert.match(second.stderr, 'End it where it was started (`berth down`), or name another cluster.')
    await within(async (kube) => assert.equal(await kube.list(Deployments, { namespace: 'berth-system' }), []))
  })

  it('is told apart from an installation in the same cluster, which the doctor finds', async () => {
    const labels = { app: 'operator', 'app.kubernetes.io/part-of': 'berth' }
    const containers = [{ name: 'operator', image: 'registry.example.com/berth:1' }]
    const template = { metadata: { labels }, spec: { schedulerName: 'nobody', containers } }
    const metadata = { name: 'operator', namespace: 'berth-system', labels }
    const spec = { replicas: 1, selector: { matchLabels: { app: 'operator' } }, template }
    await within((kube) => kube.create(Deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec } as never))
    const { message, remedy } = findingIn((await doctor('-o', 'json')).stdout, 'operator')
    assert.match(
      message,
      `Berth runs twice for this cluster: in ${dir} by \`berth up\`, and as Deployment berth-system/operator;`,
    )
    assert.match(remedy ?? '', `\`berth down --dir ${dir}\` or \`berth uninstall\``)
    const copy = join(root, 'copy.yaml')
    const alone = findingIn((await berth(['doctor', '--kubeconfig', copy, '-o', 'json'])).stdout, 'operator')
    assert.match(alone.message, 'there is no such pod in berth-system')
    const second = await berth(['up', '--dir', join(root, 'two'), '--detach', '--kubeconfig', copy])
    assert.is(second.code, 7, second.stderr)
    assert.match(second.stderr, 'Deployment berth-system/operator is there')
    await within((kube) => kube.delete(Deployments, metadata))
  })

  it('has no dead operator lead, before it is started again and after it', async () => {
    process.kill(pidOf('operator'), 'SIGKILL')
    await eventually(() => !processesIn(dir).includes(pidOf('operator')))
    const dead = await doctor('-o', 'json')
    assert.is(dead.code, 8)
    const said = findingIn(dead.stdout, 'operator')
    assert.is(said.message, `operator, which \`berth up\` started in ${dir}, has ended`)
    assert.not.match(dead.stdout, 'leads')
    const started = Date.now()
    await up()
    await within(async (kube) => {
      const lease = await kube.get(Leases, { name: 'berth-operator', namespace: 'berth-system' })
      assert.is(lease?.spec?.holderIdentity, 'berth-up')
      assert.ok(Date.parse(lease?.spec?.renewTime ?? '') >= started, 'it is up when the new operator leads')
    })
    const alive = findingIn((await doctor('-o', 'json')).stdout, 'operator')
    assert.match(alive.message, /^berth-up leads, and renewed its Lease \d+ s ago$/)
  })

  it('lets the doctor name what may be a cause before what follows from it, and count what it does not show', async () => {
    process.kill(pidOf('operator'), 'SIGKILL')
    await eventually(() => !processesIn(dir).includes(pidOf('operator')))
    await within(async (kube) => {
      const typeMeta = { apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace' }
      const failure = { reason: 'StartTimeout', message: 'its target does not answer', remedy: 'Mend the target.' }
      for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k']) {
        const metadata = { name, namespace: team }
        const spec = { target: { claimName: 'development' }, devfile: { inline: 'schemaVersion: 2.2.0' } }
        await kube.create(Workspaces, { ...typeMeta, metadata, spec })
        await kube.patch(Workspaces, metadata, { status: { actualState: 'Failed', failure } }, { subresource: 'status' })
      }
      const [target] = await kube.list(DeploymentTargets, { namespace: team })
      assert.ok(target)
      await kube.patch(DeploymentTargets, target.metadata, { status: { phase: 'Failed' } }, { subresource: 'status' })
    })
    const { stdout } = await doctor()
    const [target, workspace] = ['DeploymentTarget team-a/', 'Workspace team-a/a (StartTimeout)'].map((text) =>
      stdout.indexOf(text),
    )
    assert.ok(target !== undefined && workspace !== undefined && target > 0 && target < workspace, stdout)
    assert.match(stdout.replace(/\s+/g, ' '), '8 more of kind Workspace (StartTimeout): team-a/d, team-a/e, team-a/f, team-a/g')
    const all = findingsIn((await doctor('-o', 'json')).stdout, 'objects')
    assert.is(all.filter(({ message }) => message.includes('its target does not answer')).length, 11)
    const { errors } = await statusOf()
    assert.ok(
      errors.findIndex(({ object }) => object.startsWith('DeploymentTarget ')) <
        errors.findIndex(({ object }) => object.startsWith('Workspace ')),
    )
  })
})
