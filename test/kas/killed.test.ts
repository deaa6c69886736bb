import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { equal, is, ok } from 'uvu/assert'
import { createObjectStream } from '../../src/adapters/grpc/index.ts'
import { GitProjects, isTrue } from '../../src/api/index.ts'
import { Secret, systemClock } from '../../src/std/index.ts'
import { startBerth } from '../cli/berth.ts'
import { testCluster } from '../support/control-plane.ts'
import { gitHost } from '../support/git-host.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { createAgent, createProject } from './running-kas.ts'

/** A git that stops in the middle of a fetch, while `stuck` is there, with a lock held and half a pack written. */
const stuckGit = (stuck: string, pid: string, path: string): string => `#!/bin/sh
case " $* " in *" fetch "*)
  if [ -e '${stuck}' ]; then
    mkdir -p objects/pack && echo half > objects/pack/tmp_pack_abc && touch shallow.lock
    echo $$ > '${pid}'
    exec sleep 300
  fi;;
esac
PATH='${path}' exec git "$@"
`

describe('kas: killed while it fetches', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('starts again on the same folder, cleans up and serves', async () => {
    const namespace = await cluster.namespace('kas')
    const [host, folder] = [await gitHost(), await mkdtemp(join(tmpdir(), 'berth-killed-'))]
    const at = (name: string) => join(folder, name)
    const [bin, stuck, pid, data] = [at('bin'), at('stuck'), at('pid'), at('data')]
    await mkdir(bin)
    await writeFile(join(bin, 'git'), stuckGit(stuck, pid, host.environment.PATH), { mode: 0o755 })
    await writeFile(stuck, '')
    const env = { PATH: `${bin}${delimiter}${host.environment.PATH}` }
    const run = async () => {
      const anywhere = [
        '--listen',
        '127.0.0.1:0',
        '--operations',
        '127.0.0.1:0',
        '--webhooks',
        '127.0.0.1:0',
        '--git-credentials',
        '127.0.0.1:0',
        '--kubernetes-api',
        '127.0.0.1:0',
      ]
      const berth = startBerth(
        ['kas', '--kubeconfig', cluster.kubeconfig, '--namespace', namespace, '--data-dir', data, ...anywhere],
        { env },
      )
      const started = await eventually(() =>
        berth
          .printed()
          .stdout.split('\n')
          .find((line) => line.includes('kas started')),
      )
      const token = async () => new Secret(agent)
      return { berth, stream: createObjectStream({ address: JSON.parse(started).listen, token, clock: systemClock }) }
    }
    const commit = await (await host.repository('shop')).commit({ a: '1' })
    const agent = await createAgent(cluster.kube, namespace, 'home')
    await createProject(cluster.kube, namespace, 'shop', { url: `${host.url}/shop.git` })
    const wanted = { projectId: `${namespace}/shop`, ref: { kind: 'default' as const }, globs: ['**'] }

    const first = await run()
    await expectObject(cluster.kube, GitProjects, { name: 'shop', namespace }, ({ status }) =>
      isTrue(status?.conditions, 'Ready'),
    )
    const asked = first.stream.fetchObjects(wanted, AbortSignal.timeout(60_000)).catch(() => undefined)
    // The file is there a moment before what is written into it.
    const hung = await eventually(async () => Number(await readFile(pid, 'utf8').catch(() => '')) || undefined)
    first.berth.process.kill('SIGKILL')
    await first.berth.ended
    is(await asked, undefined)
    first.stream.close()
    await rm(stuck)

    const second = await run()
    const mirrors = join(data, 'mirrors')
    const left = (await readdir(mirrors, { recursive: true })).filter((file) => /\.lock$|tmp_/.test(file))
    equal(left, [])
    const batch = await eventually(() => second.stream.fetchObjects(wanted, AbortSignal.timeout(10_000)))
    equal([batch.commitId, batch.files.length], [commit, 1])
    second.stream.close()
    second.berth.process.kill('SIGTERM')
    is((await second.berth.ended).code, 0)
    // Nobody ends the git of a program that was killed; this one would sleep on.
    ok(hung > 1)
    process.kill(hung)
    await host.close()
    await rm(folder, { recursive: true })
  })
})
