import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import * as assert from 'uvu/assert'
import { parse, stringify } from 'yaml'
import { Agents, Workspaces } from '../../src/api/index.ts'
import { verbs } from '../../src/cli/verbs.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { berth, shellOf, startBerth } from './berth.ts'

interface Context {
  name: string
  context: { namespace?: string }
}

describe('the namespace of a verb', (it) => {
  const cluster = testCluster()
  const folder = mkdtempSync(join(tmpdir(), 'berth-namespace-'))
  const file = join(folder, 'kubeconfig')
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('cli-namespace')
    const { contexts, ...config }: { contexts: Context[] } = parse(readFileSync(cluster.kubeconfig, 'utf8'))
    const [first] = contexts
    const named = (name: string, change: object) => ({ name, context: { ...first?.context, namespace: undefined, ...change } })
    const both = [named('with', { namespace }), named('without', {})]
    writeFileSync(file, stringify({ ...config, contexts: both, 'current-context': 'with' }))
  })
  it.after(async () => {
    rmSync(folder, { recursive: true })
    await cluster.close()
  })

  const run = (...parameters: string[]) => berth([...parameters, '--kubeconfig', file])

  it('is the one of the context where none is named', async () => {
    assert.match((await run('get')).stderr, `There is no workspace in namespace ${namespace}.`)
    const made = await run('create', 'web', '--stopped')
    assert.match(made.stdout, `Workspace ${namespace}/web is made. See how it does with \`berth get web -n ${namespace}\`.`)
    assert.ok(await cluster.kube.get(Workspaces, { name: 'web', namespace }))
    assert.match((await run('get')).stdout, /^web /m)
    assert.match((await run('poke', 'shop')).stderr, `there is no GitProject shop in namespace ${namespace}`)
    assert.match((await run('tree', 'shop')).stderr, `there is no GitOpsDeployment shop in namespace ${namespace}`)
    assert.is((await run('agent', 'create', 'dev', '--project', 'team/config')).code, 0)
    assert.ok(await cluster.kube.get(Agents, { name: 'dev', namespace }))
    assert.match((await run('agent', 'list')).stdout, /dev/)
  })

  it('is so for each verb that has a namespace', async () => {
    const commands = verbs.map(async ({ name, load }) => {
      const command = new Command(name)
      const { verb } = await load()
      verb.define(command, shellOf({}), () => async () => undefined, verbs)
      return [command, ...command.commands, ...command.commands.flatMap(({ commands: parts }) => parts)]
    })
    const all = (await Promise.all(commands)).flat()
    const options = all.flatMap((command) => command.options.filter(({ short }) => short === '-n'))
    assert.ok(options.length > 30)
    assert.equal(
      new Set(options.map(({ defaultValueDescription }) => defaultValueDescription)),
      new Set(['the one of the context']),
    )
  })

  it('is that of KUBECONFIG, too, for what is listed and what is made', async () => {
    const env = { KUBECONFIG: file }
    const made = await startBerth(['create', 'project', 'shop', '--url', 'https://git.example.com/shop.git'], { env }).ended
    assert.match(made.stdout, `GitProject ${namespace}/shop is made.`)
    const listed = await startBerth(['get', 'projects'], { env }).ended
    assert.match(listed.stdout, new RegExp(`^shop +${namespace}/shop `, 'm'))
    assert.match((await run('get', 'claims')).stderr, `There is no claim in namespace ${namespace}.`)
  })

  it('is the one that is named, whatever the context says', async () => {
    assert.match((await run('get', 'web', '-n', 'default')).stderr, 'there is no Workspace web in namespace default')
  })

  it('is default where the context has none', async () => {
    assert.match((await run('get', 'web', '--context', 'without')).stderr, 'there is no Workspace web in namespace default')
  })
})
