import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { berth, ROOT, startBerth } from './berth.ts'

const kubeconfigFor = (server: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'a', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'a', user: { token: 'sesame' } }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  })

describe('exit codes', (it) => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-test-'))
  const cluster = testCluster()
  it.after(async () => {
    rmSync(folder, { recursive: true })
    await cluster.close()
  })

  it('are 2 and a suggestion for a verb that does not exist', async () => {
    const { code, stderr } = await berth(['opertor'])
    assert.is(code, 2)
    assert.match(stderr, "unknown command 'opertor'")
    assert.match(stderr, 'Did you mean operator?')
  })

  it('are 2 for options that do not exist or say nothing', async () => {
    for (const line of [
      ['status', '--colour'],
      ['crds', '-o', 'xml'],
      ['git-server'],
      ['tour', '--timeout', 'soon'],
      ['up', '--node', '--kubeconfig', 'a'],
      ['completion', 'tcsh'],
      ['up', 'here'],
      ['up', '-o', 'json'],
      ['up', '--dir', ''],
      ['tour', '--dir', ''],
    ]) {
      const { code, stderr } = await berth(line)
      assert.is(code, 2, line.join(' '))
      assert.match(stderr, `berth ${line[0]} --help`)
    }
  })

  it('are 7 for variables that say neither true nor false, in every program', async () => {
    for (const program of ['operator', 'kas']) {
      const { code, stderr } = await startBerth([program], { env: { BERTH_REFUSE_LOCAL_TARGETS: 'no' } }).ended
      assert.is(code, 7, program)
      assert.match(stderr, 'BERTH_REFUSE_LOCAL_TARGETS is "no"')
    }
  })

  it('are those of the verb also where something that is open would keep the process', async () => {
    const open = '--import data:text/javascript,setInterval(()=>{},60_000)'
    for (const [verb, code] of [
      ['version', 0],
      ['opertor', 2],
    ] as const)
      assert.is((await startBerth([verb], { env: { NODE_OPTIONS: open } }).ended).code, code)
  })

  it('are 1 where what is printed cannot be written', () => {
    const main = join(ROOT, 'src', 'cli', 'main.ts')
    const { status, stderr } = spawnSync('sh', ['-c', '"$0" "$1" version > /dev/full', process.execPath, main], {
      encoding: 'utf8',
    })
    assert.is(status, 1)
    assert.match(stderr, /^berth: the output cannot be written: ENOSPC: [^\n]+\.\n$/)
  })

  it('are 2 when no verb is given, with the help', async () => {
    const { code, stdout, stderr } = await berth([])
    assert.is(code, 2)
    assert.match(stdout + stderr, 'Commands:')
  })

  it('are 3 for a kubeconfig or a folder that is not there, with a remedy in the same line', async () => {
    const file = await berth(['version', '--server', '--kubeconfig', join(folder, 'nothing')])
    assert.is(file.code, 3)
    assert.is(file.stderr.trim().split('\n').length, 1)
    assert.match(file.stderr, '--kubeconfig')
    const dir = await berth(['status', '--dir', join(folder, 'nothing')])
    assert.is(dir.code, 3)
    assert.match(dir.stderr, 'berth up')
  })

  it('are 5 for a cluster that does not answer; the causes show with --verbose only', async () => {
    const kubeconfig = join(folder, 'silent')
    writeFileSync(kubeconfig, kubeconfigFor('https://127.0.0.1:1'))
    const short = await berth(['version', '--server', '--kubeconfig', kubeconfig])
    assert.is(short.code, 5)
    assert.is(short.stderr.trim().split('\n').length, 1)
    assert.match(short.stderr, /Start the cluster .*, or name another one with --kubeconfig\.$/m)
    const long = await berth(['version', '--server', '--kubeconfig', kubeconfig, '--verbose'])
    assert.is(long.code, 5)
    assert.match(long.stderr, 'caused by')
  })

  it('are 4 for a cluster that refuses', async () => {
    const kubeconfig = join(folder, 'stranger')
    writeFileSync(kubeconfig, kubeconfigFor(cluster.kube.server))
    const { code, stderr } = await berth(['version', '--server', '--kubeconfig', kubeconfig])
    assert.is(code, 4, stderr)
    assert.match(stderr, 'Log in again: the credentials of the kubeconfig are not accepted.')
  })

  it('are the same for up and tour, before anything is made', async () => {
    const dir = join(folder, 'new')
    for (const [text, code, remedy] of [
      [kubeconfigFor('https://127.0.0.1:1'), 5, 'Start the cluster'],
      [kubeconfigFor(cluster.kube.server), 4, 'Log in again'],
      ['apiVersion: v1', 7, 'Set current-context'],
    ] as const) {
      const kubeconfig = join(folder, 'given')
      writeFileSync(kubeconfig, text)
      for (const verb of ['up', 'tour']) {
        const outcome = await berth([verb, '--kubeconfig', kubeconfig, ...(verb === 'up' ? ['--dir', dir] : [])])
        assert.is(outcome.code, code, outcome.stderr)
        assert.match(outcome.stderr, remedy)
        assert.not.match(outcome.stdout, /^ok/)
        if (verb === 'tour') assert.match(outcome.stdout, `$ kubectl --kubeconfig ${kubeconfig} get crds`)
      }
      assert.not.ok(existsSync(dir))
    }
  })

  it('are 7 for a kubeconfig that is no YAML, with the place and nothing of what it holds', async () => {
    const kubeconfig = join(folder, 'torn')
    for (const token of ['sesame:', '*sesame', '!sesame x']) {
      writeFileSync(kubeconfig, `apiVersion: v1\nusers: [{ name: a, user: { token: ${token} } }]\n`)
      const { code, stderr } = await berth(['version', '--server', '--kubeconfig', kubeconfig, '--verbose'])
      assert.is(code, 7)
      assert.match(stderr, /^berth: .+ line 2, column \d+ is no YAML\. Name a readable file/)
      assert.not.match(stderr, 'sesame')
    }
  })

  it('are 7 for a kubeconfig whose current context leads nowhere, with those that it has', async () => {
    const kubeconfig = join(folder, 'astray')
    writeFileSync(kubeconfig, kubeconfigFor('https://127.0.0.1:1').replace('"current-context":"a"', '"current-context":"gone"'))
    const { code, stderr } = await berth(['version', '--server', '--kubeconfig', kubeconfig])
    assert.is(code, 7)
    assert.match(stderr, `current-context "gone" leads to no cluster with a server. Set current-context to one that does: a.`)
  })

  it('are 7 for a setting that is not valid, named in the message', async () => {
    const { code, stderr } = await berth(['operator', '--operations', 'everywhere'])
    assert.is(code, 7)
    assert.match(stderr, '--operations')
  })
})
