import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, not, ok } from 'uvu/assert'
import { CoreEvents, GitProjects, Pods, WorkspaceClasses, Workspaces } from '../../../src/api/index.ts'
import { hours, timestamp } from '../../../src/std/index.ts'
import { everybody, INLINE, prepareNamespace, words } from '../../operator/workspace/fixture.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { berth } from '../berth.ts'

const VERBS = ['create', 'get', 'describe', 'logs', 'events', 'start', 'stop', 'restart', 'bump', 'delete']

describe('berth and workspaces', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  let folder = ''
  const { at, becomes, expect, deleteAll } = words(cluster, () => namespace)

  it.before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-workspace-'))
    await writeFile(join(folder, 'good.yaml'), INLINE)
    await writeFile(join(folder, 'bad.yaml'), INLINE.replace('example.com/tools:1', 'fate.invalid/image-pull-failure'))
    namespace = await cluster.namespace('cli-workspace')
    await prepareNamespace(cluster, namespace)
    operator = await startOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers: everybody })
  })
  it.after(async () => {
    await deleteAll()
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: namespace })
    await rm(folder, { recursive: true })
    await cluster.close()
  })

  const run = (...parameters: string[]) =>
    berth([...parameters, '-n', namespace, '--kubeconfig', cluster.kubeconfig], { cwd: folder })
  const create = (name: string, ...more: string[]) =>
    run('create', name, '--class', namespace, '--claim', 'shared', '--devfile', 'good.yaml', ...more)

  it('take one from nothing to nothing, and show each step with its time', async () => {
    const made = await create('web', '--env', 'GREETING=hello=you', '--watch')
    is(made.code, 0, made.stderr)
    // What came before may be over when it looks for the first time.
    match(made.stderr, /^ +\d[\d.]* s {2}Running$/m)
    // What it waits for in its first seconds comes by itself.
    not.match(made.stderr, '->')
    not.match(made.stderr, 'There is no')
    match(made.stderr, /^ +\d[\d.]* s {4}ClassResolved$/m)
    match(made.stdout, /Workspace \S+\/web is Running, after [\d.]+ s\./)
    equal((await kube.get(Workspaces, at('web')))?.spec.variables?.[0], {
      name: 'GREETING',
      value: 'hello=you',
      type: 'environment',
    })

    const listed = await run('get')
    match(listed.stdout, /^web +Running +/m)
    const [row] = JSON.parse((await run('get', 'web', '-o', 'json')).stdout)
    equal([row.name, row.state, row.willStopReason], ['web', 'Running', 'MaxActiveHours'])
    match((await run('describe', 'web')).stdout, /^Workspace \S+\/web: Running\n/)
    match((await run('describe', 'web', '-o', 'yaml')).stdout, /^kind: Workspace$/m)
    await eventually(async () => /Running +the workspace is running/.test((await run('events', 'web')).stdout))

    const [pod] = await kube.list(Pods, { namespace, labels: 'berth.dev/workspace=web' })
    const involvedObject = { kind: 'Pod', name: pod?.metadata.name ?? '', namespace, fieldPath: 'spec.containers{tools}' }
    await kube.create(CoreEvents, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'told', namespace },
      involvedObject,
      reason: 'Created',
      message: 'Container created',
      lastTimestamp: timestamp(Date.now()),
    })
    const told: { message: string }[] = JSON.parse((await run('events', 'web', '-o', 'json')).stdout)
    ok(
      told.some(({ message }) => message === 'tools: Container created'),
      JSON.stringify(told),
    )

    const logs = await run('logs', 'web')
    equal([logs.code, logs.stdout], [3, ''])
    match(
      logs.stderr,
      /^berth: the node of Pod \S+ has no address, as simulated nodes \(kwok\) have none, so there are no logs\. Nothing/,
    )

    match((await run('stop', 'web', '--watch')).stdout, /is Stopped, after/)
    match((await run('bump', 'web')).stderr, 'is stopped, so there is nothing to give time to')
    match((await run('start', 'web', '--watch', '--stay', '0')).stdout, /is Running, after/)
    const before = (await kube.get(Workspaces, at('web')))?.status?.startedAt
    match((await run('restart', 'web', '--watch', '--stay', '0')).stdout, /is Running, after/)
    ok((await kube.get(Workspaces, at('web')))?.status?.startedAt !== before)

    const refused = await run('delete', 'web')
    equal([refused.code, refused.stderr.includes('--yes')], [1, true])
    match((await run('delete', 'web', '--yes', '--watch')).stdout, /is gone, with everything that was in it/)
    is((await run('get', 'web')).code, 3)
  })

  it('say what failed, and exit with 1', async () => {
    const { code, stderr } = await create('broken', '--devfile', 'bad.yaml', '--watch')
    is(code, 1)
    match(stderr.replace(/\s+/g, ' '), /is not Running but Failed: in step Image of container tools: .* Correct the image/)
    match(stderr, `berth describe broken -n ${namespace}`)
    match((await run('get')).stdout, /^broken +Failed .*ImageNotFound/m)
    await eventually(async () => {
      const { stdout, stderr: none } = await run('events', 'broken')
      match(stdout, 'ImageNotFound')
      is(none, '')
      return true
    })
  })

  it('give time, and no more than the class allows', async () => {
    await create('long')
    const running = await expect('long', ({ status }) => status?.willStopAt !== undefined && status.actualState === 'Running')
    const { stdout } = await run('bump', 'long', '--by', '2h')
    match(stdout, /is not stopped before \S+ \(in 3[56] h[^)]*\)/)
    const kept = await expect('long', ({ status }) => status?.kept !== undefined)
    const most = Date.parse(kept.status?.kept?.until ?? '') - Date.parse(running.status?.startedAt ?? '')
    ok(most >= hours(36) && most < hours(37), `${most / hours(1)} h`)
    is((await run('bump', 'long', '--by', 'soon')).code, 7)
  })

  it('say why a port cannot be shared', async () => {
    await create('ported', '--watch', '--stay', '0')
    const share = (port: string) => run('share', 'ported', '--port', port, '--user', 'grace@example.com')
    const unknown = await share('nothing')
    equal([unknown.code, unknown.stderr.includes('has no port nothing.')], [3, true])
    await kube.patch(Workspaces, at('ported'), { spec: { ports: [{ name: 'app', port: 8080 }] } })
    await expect('ported', ({ status }) => status?.ports?.some(({ name }) => name === 'app'))
    const { code, stderr } = await share('app')
    is(code, 3)
    match(
      stderr,
      `port app of Workspace ${namespace}/ported has no address: the workspace was made when WorkspaceClass ${namespace} had`,
    )
    match(stderr, `no dnsZone. Have one set there, then take it over with \`berth restart ported -n ${namespace} --upgrade\`.`)
  })

  it('restart with the settings that the class has now, where that is asked for', async () => {
    await create('older', '--watch', '--stay', '0')
    await kube.patch(WorkspaceClasses, { name: namespace }, { spec: { maxActiveHoursBeforeStop: 5 } })
    await expect('older', ({ status }) => status?.conditions?.some(({ reason }) => reason === 'ClassChanged'))
    is((await run('restart', 'older', '--watch', '--stay', '0')).code, 0)
    is((await kube.get(Workspaces, at('older')))?.status?.class?.settings?.maxActiveHoursBeforeStop, 36)
    is((await run('restart', 'older', '--upgrade', '--watch', '--stay', '0')).code, 0)
    const upgraded = await becomes('older', 'Running')
    is(upgraded.status?.class?.settings?.maxActiveHoursBeforeStop, 5)
  })

  it('find a project by its path, and name what there is', async () => {
    await kube.create(GitProjects, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'GitProject',
      metadata: { name: 'web-project', namespace },
      spec: { path: `${namespace}/web`, url: 'https://git.example.com/web.git' },
    })
    is((await create('cloned', '--project', `${namespace}/web`, '--ref', 'main', '--stopped')).code, 0)
    equal((await kube.get(Workspaces, at('cloned')))?.spec.project, { gitProject: 'web-project', ref: 'main' })
    const { code, stderr } = await create('none', '--project', `${namespace}/wbe`)
    equal([code, stderr.includes(`There is ${namespace}/web.`)], [3, true])
    const later = await run(
      'create',
      'later',
      '--class',
      namespace,
      '--claim',
      'no-claim',
      '--project',
      'no-project',
      '--stopped',
    )
    is(later.code, 0)
    match(later.stderr, `There is no GitProject ${namespace}/no-project,`)
    match(later.stderr, `There is no DeploymentTargetClaim ${namespace}/no-claim,`)
  })

  it('say every mistake of a devfile before anything is made', async () => {
    await writeFile(join(folder, 'wrong.yaml'), 'schemaVersion: 2.3.0\ncomponents:\n  - { name: A, container: {} }\n')
    const { code, stderr } = await run('create', 'wrong', '--devfile', 'wrong.yaml')
    is(code, 7)
    match(stderr, /^wrong\.yaml, line 3, column 13: .*\nwrong\.yaml, line 3, column 27: .*\n.*2 mistakes, and nothing was made\./)
    is(await kube.get(Workspaces, at('wrong')), undefined)
  })

  it('say while they wait what for, and what to do', async () => {
    const made = await run('create', 'nowhere', '--class', 'no-such')
    is(made.code, 0)
    match(made.stderr, /^There is no WorkspaceClass no-such, and the workspace waits until there is\./)
    await expect('nowhere', ({ status }) => status?.failure?.reason === 'ClassNotFound')
    const { code, stderr } = await run('start', 'nowhere', '--watch', '--timeout', '7')
    is(code, 6)
    match(stderr, /^ +\d[\d.]* s {4}ClassNotFound: there is no WorkspaceClass no-such$/m)
    match(stderr, /^ +[56][\d.]* s {4}-> Create it, or make the workspace again with another/m)
    const end = stderr.slice(stderr.indexOf('berth: ')).replace(/\n/g, ' ')
    match(end, 'at the end: CreationRequested, ClassNotFound: there is no WorkspaceClass no-such')
    match(end, 'in spec.workspaceClassName. Or wait longer with --timeout.')
    is(end.includes('doctor'), false)
  })

  it('refuse what makes no sense, each with its exit code', async () => {
    is((await create('twice', '--stopped')).code, 0)
    const again = await create('twice')
    equal([again.code, again.stderr.includes(`berth start twice -n ${namespace}`)], [1, true])
    is((await run('create', 'nofile', '--devfile', 'nothing.yaml')).code, 3)
    is((await run('create', 'odd', '--ref', 'main')).code, 7)
    is((await run('create', 'odd', '--env', 'no-equals-sign')).code, 2)
    is((await run('create', 'Bad_Name')).code, 7)
    const unknown = await run('start', 'twise')
    equal([unknown.code, unknown.stderr.includes('twice')], [3, true])
    const late = await run('start', 'nowhere', '--watch', '--timeout', '0')
    is(late.code, 6, late.stderr)
    match((await run('logs', 'twice')).stderr, /has no target yet|has no pod/)
  })

  it('explain each verb with examples, in 80 columns', async () => {
    for (const verb of VERBS) {
      const { code, stdout } = await berth([verb, '--help'])
      is(code, 0)
      match(stdout, 'Examples:\n')
      for (const line of stdout.split('\n')) ok(line.length <= 80, line)
    }
  })
})
