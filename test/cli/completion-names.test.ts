import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { equal, is, ok } from 'uvu/assert'
import { DeploymentTargetClaims, Workspaces } from '../../src/api/index.ts'
import { minutes } from '../../src/std/index.ts'
import { portOf } from '../support/addresses.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { claim, kubeconfigFor } from '../support/targets.ts'
import { eventually } from '../support/verbs.ts'
import { berth, MAIN } from './berth.ts'

describe('completion of names', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''
  let folder = ''
  it.before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-completion-'))
    namespace = await cluster.namespace('cli-completion')
    await kube.create(DeploymentTargetClaims, claim(namespace, 'shared'))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'shop'))
    for (const name of ['web', 'app'])
      await kube.create(Workspaces, {
        ...{ apiVersion: 'berth.dev/v1alpha1', kind: Workspaces.kind, metadata: { name, namespace }, spec: {} },
      })
  })
  it.after(async () => {
    await rm(folder, { recursive: true })
    await cluster.close()
  })

  const where = () => ['-n', namespace, '--kubeconfig', cluster.kubeconfig]
  const lines = (text: string): string[] => text.split('\n').filter(Boolean).toSorted()
  const after = async (...typed: string[]) => lines((await berth(['completion', 'words', '--', ...typed])).stdout)

  it('knows the objects of the kind that a verb is about', async () => {
    equal(await after('stop', ...where(), ''), ['app', 'web'])
    equal(await after('stop', ...where(), 'w'), ['web'])
    equal(await after('describe', ...where(), 'workspace/'), ['workspace/app', 'workspace/web'])
    equal(await after('tree', ...where(), ''), [])
    equal(await after('stop', ...where(), 'web', ''), [])
  })

  it('knows kinds, and their objects behind them', async () => {
    ok((await after('get', ...where(), '')).includes('environments'))
    equal(await after('get', ...where(), 'ap'), ['app'])
    equal(await after('get', ...where(), 'claims', 'sha'), ['shared'])
    equal(await after('get', ...where(), 'claim', 'shared', 'sho'), ['shop'])
    equal(await after('get', ...where(), 'dtc/sh'), [])
    equal(await after('get', ...where(), 'dtc/shared', 'dtc/sh'), ['dtc/shared', 'dtc/shop'])
  })

  it('knows the values of options', async () => {
    ok((await after('stop', '--kubeconfig', cluster.kubeconfig, '-n', namespace.slice(0, -1))).includes(namespace))
    equal(await after('create', 'web', ...where(), '--claim', 'shar'), ['shared'])
    equal(await after('create', 'environment', 'dev', ...where(), '--claim', 'sho'), ['shop'])
    equal(await after('create', 'claim', ...where(), ''), [])
  })

  it('is quiet where nothing is known', async () => {
    const nowhere = ['--kubeconfig', join(folder, 'nothing')]
    for (const typed of [[], ['stop'], ['nonsense', ''], ['stop', ...nowhere, ''], ['stop', '--nonsense', ''], ['status', '']]) {
      const { code, stdout, stderr } = await berth(['completion', 'words', '--', ...typed])
      equal([code, stdout, stderr], [0, '', ''], typed.join(' '))
    }
  })

  it('does not wait for a server that says nothing', async () => {
    const silent = createServer()
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const file = join(folder, 'silent')
    await writeFile(file, kubeconfigFor(`https://127.0.0.1:${portOf(silent)}`))
    const began = performance.now()
    equal(await after('stop', '-n', namespace, '--kubeconfig', file, ''), [])
    ok(performance.now() - began < minutes(1))
    silent.close()
  })

  it('comes to whoever types in bash', async () => {
    await writeFile(join(folder, 'berth'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, { mode: 0o755 })
    const { stdout: script } = await berth(['completion', 'bash'])
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` }
    const complete = async (...typed: string[]) => {
      const given = ['berth', ...typed].map((word) => `'${word}'`).join(' ')
      const asked = `${script}\nCOMP_WORDS=(${given}); COMP_CWORD=${typed.length}; _berth; printf '%s\\n' "\${COMPREPLY[@]}"`
      return lines((await promisify(execFile)('bash', ['-c', asked], { env })).stdout)
    }
    // A busy machine may answer too late for somebody who types.
    await eventually(async () => {
      equal(await complete('stop', ...where(), ''), ['app', 'web'])
      equal(await complete('get', ...where(), 'claims', 'sho'), ['shop'])
      return true
    })
    equal(await complete('get', '-o', 'w'), ['wide'])
    equal(await complete('stop', '--names'), ['--namespace'])
    is((await complete('create', 'cl'))[0], 'claim')
  })
})
