import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { connect, type Kube } from '../../src/adapters/kube/index.ts'
import { ConfigMaps, DeploymentTargetClaims, DeploymentTargets } from '../../src/api/index.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { berth, exportedIn, findingsIn, startBerth } from './berth.ts'
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

  const run = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await startBerth(words).ended
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
})
