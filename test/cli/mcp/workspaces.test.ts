import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, not, ok } from 'uvu/assert'
import { WorkspaceClasses, Workspaces } from '../../../src/api/index.ts'
import { everybody, INLINE, prepareNamespace, words } from '../../operator/workspace/fixture.ts'
import { deployer } from '../../support/builders/credentials.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { eventually, expectGone } from '../../support/verbs.ts'
import { type McpClient, mcpClient } from './client.ts'

describe('workspaces by berth mcp', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let operator: RunningOperator
  let mcp: McpClient
  let namespace = ''
  let folder = ''
  const { at, becomes, create, deleteAll } = words(cluster, () => namespace)

  it.before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-mcp-'))
    namespace = await cluster.namespace('mcp')
    await prepareNamespace(cluster, namespace)
    operator = await startOperator({ kubeconfig, namespace, controllers: everybody })
    mcp = await mcpClient(kubeconfig, '-n', namespace)
  })
  it.after(async () => {
    await mcp.close()
    await deleteAll()
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: namespace })
    await rm(folder, { recursive: true })
    await cluster.close()
  })

  const wish = (name: string) => ({
    ...{ name, class: namespace, claim: 'shared', devfile: INLINE },
    variables: { TOKEN: 'very-secret-value' },
  })

  it('are created by a dry run first, and then really', async () => {
    const dry = await mcp.call('create_workspace', wish('web'))
    is(dry.isError, false, dry.text)
    equal([dry.data.dryRun, dry.data.done, dry.data.missing], [true, 'Nothing was created.', []])
    equal(dry.data.workspace.spec.variables, [{ name: 'TOKEN', value: '***' }])
    // By the server's policies, which say whose it is.
    ok(dry.data.workspace.spec.owner, dry.text)
    is(await kube.get(Workspaces, at('web')), undefined)

    const real = await mcp.call('create_workspace', { ...wish('web'), dry_run: false })
    is(real.isError, false, real.text)
    is((await kube.get(Workspaces, at('web')))?.spec.variables?.[0]?.value, 'very-secret-value')
    const steps: string[] = []
    // The library's client forgets a call with its result, and a notice that came in one piece with that is an error to it.
    mcp.client.onerror = ({ message }) => steps.push(message)
    const waited = await mcp.call(
      'wait_for_workspace',
      { name: 'web', state: 'Running' },
      { onprogress: ({ message }) => steps.push(message ?? '') },
    )
    is(waited.isError, false, waited.text)
    match(waited.text, `Workspace ${namespace}/web is Running, after `)
    await eventually(() => steps.some((step) => step.includes('Running')))

    const again = await mcp.call('create_workspace', wish('web'))
    equal([again.isError, again.text.includes(`there is a Workspace ${namespace}/web already. Start it`)], [true, true])
    const got = await mcp.call('get_workspace', { name: 'web' })
    equal([got.data.state, got.data.target.namespace], ['Running', namespace])
    ok(got.data.conditions.some(({ type, status }: { type: string; status: string }) => type === 'Ready' && status === 'True'))
    for (const { text } of [dry, real, waited, again, got]) not.match(text, 'very-secret-value')
  })

  it('are refused with the mistakes of a devfile, and say what they would wait for', async () => {
    const wrong = await mcp.call('create_workspace', { ...wish('bad'), devfile: 'schemaVersion: 9.9.9\n' })
    is(wrong.isError, true)
    match(wrong.text, /schemaVersion.*the devfile has \d mistake/)
    // The server says the name again, which is the value, too.
    const told = await mcp.call('create_workspace', { ...wish('bad'), variables: { 'no such name': 'no such name' } })
    equal([told.isError, told.text.includes('Invalid value: "***"')], [true, true], told.text)
    not.match(told.text, 'no such name')
    const alone = await mcp.call('create_workspace', { name: 'alone', class: 'nowhere', project: 'none' })
    is(alone.data.missing.length, 2, alone.text)
    match(alone.data.missing[0], 'There is no WorkspaceClass nowhere')
  })

  it('are listed page by page', async () => {
    for (const name of ['one', 'two']) await create(name, { desiredState: 'Stopped' })
    const names: string[] = []
    let next: string | undefined
    do {
      const { data, text, isError } = await mcp.call('list_workspaces', { limit: 1, ...(next && { continue: next }) })
      is(isError, false, text)
      is(data.workspaces.length, 1)
      names.push(data.workspaces[0].name)
      next = data.continue
    } while (next !== undefined)
    equal(names.toSorted(), ['one', 'two', 'web'])
    const odd = await mcp.call('list_workspaces', { continue: 'nonsense' })
    equal([odd.isError, /continue/.test(odd.text)], [true, true], odd.text)
    equal((await mcp.call('list_workspaces', { owner: 'nobody-of-this-name' })).data.workspaces, [])
  })

  it('start and stop, and a wait fails when its time is over or somebody wants it otherwise', async () => {
    const started = await mcp.call('start_workspace', { name: 'one' })
    is(started.isError, false, started.text)
    await becomes('one', 'Running')
    const late = await mcp.call('wait_for_workspace', { name: 'one', state: 'Terminated', timeout_seconds: 1 })
    equal([late.isError, late.text.includes(`Workspace ${namespace}/one: not Terminated within 1 s`)], [true, true], late.text)
    await mcp.call('stop_workspace', { name: 'one' })
    const other = await mcp.call('wait_for_workspace', { name: 'one', state: 'Running' })
    equal([other.isError, other.text.replaceAll('\n', ' ').includes('somebody else wants it Stopped')], [true, true], other.text)
    await becomes('one', 'Stopped')
  })

  it('are deleted by a dry run first, and then really', async () => {
    await create('old', { desiredState: 'Stopped' })
    const dry = await mcp.call('delete_workspace', { name: 'old' })
    match(dry.text, 'would be deleted with its files')
    const { uid } = (await kube.get(Workspaces, at('old')))?.metadata ?? {}
    match(dry.text, `that needs dry_run: false and uid: ${uid}.`)
    const bare = await mcp.call('delete_workspace', { name: 'old', dry_run: false })
    equal([bare.isError, bare.text.includes('uid is missing.')], [true, true], bare.text)
    const other = await mcp.call('delete_workspace', { name: 'old', dry_run: false, uid: 'of-another-one' })
    equal([other.isError, other.text.includes('is not the one whose uid was given')], [true, true], other.text)
    is((await kube.get(Workspaces, at('old')))?.metadata.deletionTimestamp, undefined)
    const real = await mcp.call('delete_workspace', { name: 'old', dry_run: false, uid })
    is(real.isError, false, real.text)
    await expectGone(kube, Workspaces, at('old'))
    match(
      (await mcp.call('wait_for_workspace', { name: 'old', state: 'Terminated' })).text,
      `There is no Workspace ${namespace}/old.`,
    )
    const none = await mcp.call('delete_workspace', { name: 'old' })
    equal(
      [none.isError, none.text.includes(`there is no Workspace old in namespace ${namespace}. In that namespace there is`)],
      [true, true],
    )
  })

  it('say where nothing runs that a command could run in', async () => {
    for (const [name, given] of [
      ['exec_in_workspace', { command: ['true'] }],
      ['list_files', {}],
      ['read_workspace_logs', {}],
    ] as const) {
      const { isError, text } = await mcp.call(name, { name: 'web', ...given })
      equal([isError, /no preferred addresses|simulated nodes/.test(text)], [true, true], text)
    }
    const stopped = await mcp.call('read_file', { name: 'one', path: 'a' })
    equal([stopped.isError, stopped.text.includes('is stopped, or about to be. Start it')], [true, true], stopped.text)
  })

  it('refuse somebody without rights in the words of the API server', async () => {
    const file = join(folder, 'nobody')
    await writeFile(file, (await deployer(kube, namespace)).kubeconfig)
    const nobody = await mcpClient(file, '-n', namespace)
    try {
      const who = `User "system:serviceaccount:${namespace}:deployer" cannot`
      const cases: [string, Record<string, unknown>, string][] = [
        ['list_workspaces', {}, `${who} list resource "workspaces"`],
        ['get_workspace', { name: 'web' }, `${who} get resource "workspaces"`],
        ['create_workspace', { ...wish('mine'), dry_run: true }, `${who} create resource "workspaces"`],
        ['delete_workspace', { name: 'web', dry_run: false, uid: 'any' }, `${who} get resource "workspaces"`],
        ['exec_in_workspace', { name: 'web', command: ['true'] }, `${who} get resource "workspaces"`],
        ['list_deployments', {}, `${who} list resource "gitopsdeployments"`],
        ['list_agents', {}, `${who} list resource "agents"`],
      ]
      for (const [name, given, said] of cases) {
        const { isError, text } = await nobody.call(name, given)
        equal([isError, text.includes(said)], [true, true], `${name}: ${text}`)
      }
      ok(await kube.get(Workspaces, at('web')))
    } finally {
      await nobody.close()
    }
  })
})
