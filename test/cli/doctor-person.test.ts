import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parse, stringify } from 'yaml'
import { DeploymentTargetClaims } from '../../src/api/index.ts'
import { minutes, timestamp } from '../../src/std/index.ts'
import { developer } from '../support/builders/credentials.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { claim } from '../support/targets.ts'
import { berth, findingIn, findingsIn } from './berth.ts'

describe('doctor for a person who may edit one namespace', (it) => {
  const cluster = testCluster()
  const folder = mkdtempSync(join(tmpdir(), 'berth-doctor-'))
  it.after(async () => {
    rmSync(folder, { recursive: true })
    await cluster.close()
  })

  /** For `edit` in a new namespace, which is that of the context. */
  const person = async () => {
    const namespace = await cluster.namespace('doctor')
    const kubeconfig = parse((await developer(cluster.kube, namespace, 'person')).kubeconfig)
    kubeconfig.contexts[0].context.namespace = namespace
    const file = join(folder, namespace)
    writeFileSync(file, stringify(kubeconfig))
    return { namespace, doctor: () => berth(['doctor', '--kubeconfig', file, '-o', 'json']) }
  }

  it('says once what they may not look at, and fails because of none of it', async () => {
    const { namespace, doctor } = await person()
    const { code, stdout } = await doctor()
    assert.is(code, 0, stdout)
    const [unseen, ...more] = findingsIn(stdout).filter(({ message }) => message.startsWith('you may not read'))
    assert.match(unseen?.message ?? '', /crds, policies, inventory, deployments, operator, kas/)
    assert.match(unseen?.remedy ?? '', 'ask an administrator')
    assert.equal(more, [])
    assert.ok(findingsIn(stdout).some(({ message }) => message === `you may use Berth in ${namespace}`))
    assert.is(findingIn(stdout, 'objects').message, `none in ${namespace} waits for long`)
  })

  it('tells what waits in their namespace, and nothing of others', async () => {
    const [mine, theirs] = [await person(), await person()]
    const ready = { type: 'Ready', status: 'False' as const, reason: 'NoTarget', message: 'no target of class x' }
    for (const { namespace } of [mine, theirs]) {
      await cluster.kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: 'x' }))
      const condition = { ...ready, lastTransitionTime: timestamp(Date.now() - minutes(5)) }
      await cluster.kube.patch(
        DeploymentTargetClaims,
        { name: 'dev', namespace },
        { status: { conditions: [condition] } },
        { subresource: 'status' },
      )
    }
    const { message } = findingIn((await mine.doctor()).stdout, 'objects')
    assert.is(message, `DeploymentTargetClaim ${mine.namespace}/dev is not ready (NoTarget): no target of class x`)
  })
})
