import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, throws } from 'uvu/assert'
import { WorkspaceClasses, Workspaces } from '../../../src/api/index.ts'
import { clusterIn, everybody, prepareNamespace, words } from '../../operator/workspace/fixture.ts'
import { kubectl } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { berth, startBerth } from '../berth.ts'

/** Stands where kubectl is named, and shows what it was called with and the kubeconfig. */
const SHOWING = '#!/bin/sh\nprintf \'[%s]\' "$@"\necho\ncat "$2"\nexit 7\n'

describe('the ways into a workspace', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let operator: RunningOperator
  let namespace = ''
  let folder = ''
  const { at, becomes, expect, create, set, deleteAll } = words(cluster, () => namespace)

  it.before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-inside-'))
    await writeFile(join(folder, 'shows'), SHOWING)
    await chmod(join(folder, 'shows'), 0o755)
    namespace = await cluster.namespace('cli-inside')
    await prepareNamespace(cluster, namespace, { dnsZone: 'workspaces.example.com' })
    operator = await startOperator({ kubeconfig, namespace, controllers: everybody })
    await create('web', { ports: [{ name: 'app', port: 3000 }] })
    await create('rests', { desiredState: 'Stopped' })
    await becomes('web', 'Running')
    await becomes('rests', 'Stopped')
  })
  it.after(async () => {
    await deleteAll()
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: namespace })
    await rm(folder, { recursive: true })
    await cluster.close()
  })

  const run = (given: string[], env: Record<string, string> = {}) =>
    berth([...given.slice(0, 2), '-n', namespace, '--kubeconfig', kubeconfig, ...given.slice(2)], {
      env: { BERTH_KUBECTL: join(folder, 'shows'), ...env },
    })

  it('run a command in the container of the devfile, and end as it does', async () => {
    const { code, stdout } = await run(['exec', 'web', '-i', '--', 'make', '-k', 'a b'])
    is(code, 7)
    match(stdout, new RegExp(`^\\[--kubeconfig\\]\\[\\S+\\]\\[-n\\]\\[${namespace}\\]\\[exec\\]\\[workspace-web-\\S+?\\]`))
    match(stdout, '[-c][tools][-i][--][make][-k][a b]\n')
  })

  it('take from the credentials of the target its server, its authority and its token, and leave nothing of them behind', async () => {
    const { stdout } = await run(['exec', 'web', '-t', '--', 'true'])
    const [, ...lines] = stdout.split('\n')
    const { clusters, users } = JSON.parse(lines.join('\n'))
    const own = clusterIn(kubeconfig)
    equal(clusters[0].cluster, { server: own.server, 'certificate-authority-data': own['certificate-authority-data'] })
    equal(Object.keys(users[0].user), ['token'])
    const [, file = ''] = /^\[--kubeconfig\]\[(\S+?)\]/.exec(stdout) ?? []
    match(file, 'berth-kubeconfig-')
    is(existsSync(file), false)
  })

  it('say what kubectl says, and why nobody gets in where nothing runs', async () => {
    const { code, stderr } = await run(['exec', 'web', '--', 'true'], { BERTH_KUBECTL: await kubectl() })
    is(code, 1)
    match(stderr, /^error.*no preferred addresses found.*\nPod workspace-web-\S+ is on a simulated node \(kwok\)/i)
  })

  it('open a shell in the folder of the project', async () => {
    const { stdout } = await run(['ssh', 'web'])
    match(stdout, '[-c][tools][-i][-t][--][sh][-c][cd "${PROJECT_SOURCE:-.}"')
  })

  it('forward ports by number and by name', async () => {
    const { stdout } = await run(['forward', 'web', 'app', '8080:app', ':5432', '--address', '127.0.0.1'])
    match(stdout, '[--address][127.0.0.1][3000:3000][8080:3000][:5432]\n')
    const unknown = await run(['forward', 'web', 'nothing'])
    equal([unknown.code, unknown.stderr.includes('Name one of app, or a number.')], [3, true])
    is((await run(['forward', 'web', '1:2:3'])).code, 2)
  })

  it('give the terminal away, and end with what has it', async () => {
    const start = (program: string, ...given: string[]) =>
      startBerth([...given, '-n', namespace, '--kubeconfig', kubeconfig], { env: { BERTH_KUBECTL: join(folder, program) } })
    const { code, stdout } = await start('shows', 'ssh', 'web').ended
    is(code, 7)
    match(stdout, '[exec][workspace-web-')

    await writeFile(join(folder, 'waits'), '#!/bin/sh\necho "$$ forwards"\nexec sleep 3600\n', { mode: 0o755 })
    const forwarding = start('waits', 'forward', 'web', 'app')
    const [, pid] = await eventually(() => /(\d+) forwards/.exec(forwarding.printed().stdout))
    forwarding.process.kill('SIGINT')
    is((await forwarding.ended).code, 0)
    throws(() => process.kill(Number(pid), 0), /ESRCH/)
  })

  it('open the address of a port in the browser, and print it', async () => {
    await expect('web', ({ status }) => status?.ports?.some(({ url }) => url !== undefined))
    await writeFile(join(folder, 'browser'), '#!/bin/sh\necho "opened $1"\n', { mode: 0o755 })
    const { code, stdout } = await run(['open', 'web', '--port', 'app'], { BROWSER: join(folder, 'browser') })
    is(code, 0)
    match(stdout, /^(https:\/\/\S+\.workspaces\.example\.com\S*)\nopened \1\n$/)
    is((await run(['open', 'web', '--port', 'app', '--print'])).stdout, stdout.split('opened')[0])
    match((await run(['open', 'web', '--port', 'nothing'])).stderr, 'has no address for a port nothing. Name one of its ports')
  })

  it('say how to start one that is stopped', async () => {
    for (const given of [
      ['exec', 'rests', '--', 'true'],
      ['ssh', 'rests'],
      ['forward', 'rests', '3000'],
      ['open', 'rests'],
    ]) {
      const { code, stderr } = await run(given)
      is(code, 1, given[0])
      match(
        stderr,
        `Workspace ${namespace}/rests is stopped, or about to be. Start it with \`berth start rests -n ${namespace} --watch\`.`,
      )
    }
  })

  it('start it where that is asked for', async () => {
    await set('rests', { ports: [{ name: 'app', port: 3000 }] })
    const { code, stdout, stderr } = await run(['open', 'rests', '--start', '--print', '--port', 'app'])
    is(code, 0, stderr)
    match(stderr, `Workspace ${namespace}/rests is Running, after`)
    match(stdout, /^https:\/\/\S+\n$/)
    is((await kube.get(Workspaces, at('rests')))?.spec.desiredState, 'Running')
  })

  it('say what is missing on a machine without kubectl', async () => {
    const { code, stderr } = await run(['ssh', 'web'], { BERTH_KUBECTL: '', PATH: folder })
    is(code, 3)
    match(stderr, 'there is no program "kubectl" in PATH. Install it, or name its file in BERTH_KUBECTL.')
  })

  it('name the containers that there are', async () => {
    const { code, stderr } = await run(['exec', 'web', '-c', 'database', '--', 'true'])
    is(code, 3)
    match(stderr, `there is no container database in Workspace ${namespace}/web. There is tools`)
  })
})
