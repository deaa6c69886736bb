import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { is, ok } from 'uvu/assert'
import { kubectl } from '../support/builders/snapshots.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { type Berth, berth, exportedIn, startBerth } from './berth.ts'

const PROJECT = {
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'GitProject',
  metadata: { name: 'config', namespace: 'default' },
  spec: { url: '', path: 'default/config', grants: { agents: [{ name: 'dev', namespace: 'default' }] } },
}

const CONFIGURATION = `
user_access:
  access_as: { agent: {} }
  projects: [{ id: default/config }]
`

/** What `berth up` prints is all that the verbs about agents need. */
describe('an agent of a local installation', (it) => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'berth-home-')))
  let env: Record<string, string> = {}
  let agent: Berth | undefined
  it.after(async () => {
    agent?.process.kill('SIGTERM')
    await agent?.ended
    await berth(['down', '--dir', dir])
    rmSync(dir, { recursive: true, force: true })
  })

  const run = async (program: string, words: string[], input?: string): Promise<string> => {
    const { status, stdout, stderr } = spawnSync(program, words, { env: { ...process.env, ...env }, input, encoding: 'utf8' })
    is(status, 0, stderr)
    return stdout
  }

  const verb = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await startBerth(['agent', ...words, '-n', 'default'], { env }).ended
    is(code, 0, stderr)
    return stdout
  }

  it('is told by berth up where kas is, and whom to believe', async () => {
    const { code, stdout, stderr } = await startBerth(['up', '--dir', dir, '--detach']).ended
    is(code, 0, stderr)
    env = exportedIn(stdout)
    is(Object.keys(env).sort().join(' '), 'BERTH_KAS_ADDRESS BERTH_KAS_CA BERTH_KUBERNETES_API_URL KUBECONFIG')
    const url = /git: (\S+)\/<name>\.git/.exec(stdout)?.[1]
    const object = { ...PROJECT, spec: { ...PROJECT.spec, url: `${url}/config.git` } }
    const git = (...words: string[]) => run('git', ['-c', 'user.name=me', '-c', 'user.email=me@example.com', ...words])
    const work = join(dir, 'work')
    mkdirSync(join(work, '.berth/agents/dev'), { recursive: true })
    writeFileSync(join(work, '.berth/agents/dev/config.yaml'), CONFIGURATION)
    await git('init', '--quiet', '--bare', '--initial-branch=main', join(dir, 'repositories', 'config.git'))
    await git('init', '--quiet', '--initial-branch=main', work)
    await git('-C', work, 'add', '.')
    await git('-C', work, 'commit', '--quiet', '--message', 'Let me in')
    await git('-C', work, 'push', '--quiet', `${url}/config.git`, 'main')
    await run(await kubectl(), ['apply', '-f', '-'], JSON.stringify(object))
  })

  it('connects, and lets its owner through', async () => {
    const { token } = JSON.parse(await verb('create', 'dev', '--project', 'default/config', '-o', 'json'))
    const words = ['agent', 'run', '--namespace', 'default', '--pod-name', 'dev-1', '--operations', '127.0.0.1:0']
    agent = startBerth([...words, '--kubectl', await kubectl()], { env: { ...env, AGENTK_TOKEN: token } })
    await eventually(async () => JSON.parse(await verb('list', '-o', 'json'))[0]?.pods === 1)
    const kubeconfig = join(dir, 'dev.yaml')
    const printed = await verb('kubeconfig', 'dev')
    writeFileSync(kubeconfig, printed)
    ok(printed.includes(env.BERTH_KUBERNETES_API_URL ?? 'nothing'))
    // What its configuration lets through is read from the repository in its own time.
    const look = ['--kubeconfig', kubeconfig, 'get', 'namespaces', '-o', 'name']
    await eventually(async () => (await run(await kubectl(), look)).includes('namespace/default'))
  })
})
