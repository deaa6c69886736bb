import { equal, is, match, ok } from 'uvu/assert'
import { freePort } from '../../src/adapters/control-plane/ports.ts'
import { GitProjects, isTrue } from '../../src/api/index.ts'
import { parseConfig, start } from '../../src/kas/index.ts'
import { type Flags, isFailure } from '../../src/std/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { createAgent, createProject, runKas } from './running-kas.ts'

const never = new AbortController().signal

describe('kas: from start to stop', (it) => {
  const cluster = testCluster()
  let host: GitHost

  it.before(async () => {
    host = await gitHost()
  })
  it.after(async () => {
    await host.close()
    await cluster.close()
  })

  const prepare = async () => {
    const namespace = await cluster.namespace('kas')
    const repository = await host.repository(namespace)
    const commit = await repository.commit({ 'a.yaml': '1' })
    await createProject(cluster.kube, namespace, 'shop', { url: repository.url, pollInterval: '1h' })
    const token = await createAgent(cluster.kube, namespace, 'agent')
    const wanted = { projectId: `${namespace}/shop`, ref: { kind: 'default' as const }, globs: ['**'] }
    const ready = () =>
      expectObject(cluster.kube, GitProjects, { name: 'shop', namespace }, ({ status }) => isTrue(status?.conditions, 'Ready'))
    return { namespace, repository, commit, token, wanted, ready }
  }

  it('ends old streams cleanly, so that callers ask again', async () => {
    const { namespace, commit, token, wanted, ready } = await prepare()
    const kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace, flags: { streamAge: '1' } })
    await ready()
    is(await kas.stream(token).fetchObjects(wanted, never, commit), undefined)
    await kas.stop()
  })

  it('ends open streams when it stops, and a follower goes on with the next kas', async () => {
    const { namespace, repository, commit, token, wanted, ready } = await prepare()
    // No port of the kernel's choice: a follower that tries to reach it meanwhile may be given that very port.
    const listen = `127.0.0.1:${await freePort()}`
    const first = await runKas({ kubeconfig: cluster.kubeconfig, namespace, flags: { listen } })
    await ready()
    const commits: string[] = []
    const ending = new AbortController()
    const options = {
      onBatch: ({ commitId }: { commitId: string }) => void commits.push(commitId),
      backoff: { base: 10, max: 100 },
      signal: ending.signal,
    }
    const client = first.stream(token)
    const following = client.follow(wanted, options)
    await eventually(() => commits.length === 1)
    await first.shut()
    // It is polled once an hour: what is pushed after the follower has come again is not seen in time.
    const next = await repository.commit({ 'a.yaml': '2' })
    const second = await runKas({ kubeconfig: cluster.kubeconfig, namespace, flags: { listen } })
    await eventually(() => commits.length === 2)
    ending.abort()
    await following
    client.close()
    await second.stop()
    equal(commits, [commit, next])
  })

  it('does not look again at ready projects when it starts again', async () => {
    const { namespace, ready } = await prepare()
    const first = await runKas({ kubeconfig: cluster.kubeconfig, namespace })
    await ready()
    await first.stop()
    const shop = () => cluster.kube.get(GitProjects, { name: 'shop', namespace })
    const before = await shop()
    host.traffic()
    const second = await runKas({ kubeconfig: cluster.kubeconfig, namespace })
    // What it would look at on its own it has looked at by then.
    await createProject(cluster.kube, namespace, 'down', { url: 'http://127.0.0.1:1/x.git' })
    await expectObject(cluster.kube, GitProjects, { name: 'down', namespace }, ({ status }) => status?.conditions)
    await second.stop()
    is(host.traffic().requests, 0)
    is((await shop())?.metadata.resourceVersion, before?.metadata.resourceVersion)
  })

  it('leaves nothing open when it cannot start', async () => {
    const { namespace } = await prepare()
    const kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace })
    const config = parseConfig(
      { kubeconfig: cluster.kubeconfig, namespace, dataDir: '/dev/null/no', operations: '127.0.0.1:0' },
      process.env,
    )
    const failure = await start(config, never, { log: { write: () => undefined } }).catch((thrown: unknown) => thrown)
    ok(failure instanceof Error)
    await kas.stop()
  })

  const WRONG: [flag: Flags, says: string][] = [
    [{ listen: 'nowhere' }, '--listen'],
    [{ operator: 'berth' }, '--operator'],
    [{ protocols: 'ext' }, '--protocols'],
    [{ gitProcesses: '0' }, '--git-processes'],
    [{ logLevel: 'loud' }, '--log-level'],
    [{ tlsCert: 'only.crt' }, '--tls-key'],
  ]
  for (const [flags, says] of WRONG) {
    it(`names the setting that is wrong: ${says}`, () => {
      try {
        parseConfig(flags, {})
      } catch (thrown) {
        ok(isFailure(thrown, 'invalid') && thrown.remedy)
        return match(thrown.message, says)
      }
      ok(false, 'was accepted')
    })
  }
})
