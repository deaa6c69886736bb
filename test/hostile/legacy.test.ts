import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { equal, is, match } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import {
  annotations,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  type Kind,
  type KubeObject,
  SANDBOX_PROVISIONER,
  SpaceRequests,
  SpaceTiers,
  Workspaces,
} from '../../src/api/index.ts'
import { allowUse } from '../support/builders/credentials.ts'
import { kubectl } from '../support/builders/snapshots.ts'
import { refusalOf } from '../support/refusal.ts'
import { requestedBy, spaceRequest, spaceTier } from '../support/spaces.ts'
import { describe } from '../support/suite.ts'
import { claim, targetClass } from '../support/targets.ts'
import { apply, documents, eventually, expectObject } from '../support/verbs.ts'
import { workspace } from '../support/workspaces.ts'
import { bringUp, type Installation } from './installation.ts'

const run = promisify(execFile)
const policies = (name: string) => join(import.meta.dirname, '../../deploy', name)

/** A cluster whose API server fills nothing in: mallory says in her own words who she is. */
describe('hostile: the policies for older API servers', (it) => {
  let berth: Installation
  let mallory: Kube
  it.before(async () => {
    berth = await bringUp(['evil'])
    const { stdout } = await run(await kubectl(), ['kustomize', policies('policies-legacy')])
    const { stdout: ours } = await run(await kubectl(), ['kustomize', policies('policies')])
    for (const { apiVersion, kind, metadata } of documents(ours)) {
      const served = kind.startsWith('Mutating') ? await berth.kube.resolve(apiVersion, kind) : undefined
      if (served) await berth.kube.delete(served, { name: metadata.name })
    }
    await apply(berth.kube, stdout)
    mallory = await berth.person('mallory', 'evil', 'edit')
    const parameters = { tierName: 'platform-ops' }
    await berth.kube.create(SpaceTiers, spaceTier('platform-ops', { clusterRole: 'admin' }))
    await berth.kube.create(DeploymentTargetClasses, targetClass('ops', { provisioner: SANDBOX_PROVISIONER, parameters }))
    const dryRun = { dryRun: true }
    const request = requestedBy('root', spaceRequest('evil', 'probe', { tierName: 'appstudio-env' }))
    // Each of the two has another of the same name before it, which the API server keeps to until it has heard of the new one.
    await eventually(async () => {
      const unnamed = await mallory.create(DeploymentTargetClaims, ops('probe'), dryRun)
      is(unnamed.metadata.annotations?.[annotations.requester], undefined)
      match(await refusalOf(mallory.create(SpaceRequests, request, dryRun)), 'berth.dev/requester')
      const theirs = mallory.create(Workspaces, workspace('evil', 'probe', { owner: 'ada' }), dryRun)
      match(await refusalOf(theirs), 'spec.owner must be your own user name')
      return true
    })
  })
  it.after(() => berth.stop())

  const ops = (name: string) => claim('evil', name, { deploymentTargetClassName: 'ops' })
  const told = (name: string, words: string) =>
    expectObject(berth.kube, DeploymentTargetClaims, { name, namespace: 'evil' }, ({ status }) =>
      JSON.stringify(status).includes(words),
    )

  it('let nobody own a workspace for somebody else, or ask in the name of another', async () => {
    match(
      await refusalOf(mallory.create(Workspaces, workspace('evil', 'theirs', { owner: 'ada' }))),
      'spec.owner must be your own user name',
    )
    for (const [kind, object] of [
      [SpaceRequests, spaceRequest('evil', 'theirs', { tierName: 'appstudio-env' })],
      [DeploymentTargetClaims, ops('theirs')],
      [Workspaces, workspace('evil', 'theirs', { owner: 'mallory' })],
    ] as [Kind, KubeObject][])
      for (const requester of ['ada', 'mallory\nsystem:masters', '\nsystem:masters'])
        match(await refusalOf(mallory.create(kind, requestedBy(requester, object))), 'can name nobody but you; write "mallory"')
  })

  it('let whoever names nobody, or himself, have what he may use', async () => {
    await mallory.create(DeploymentTargetClaims, ops('unnamed'))
    await told('unnamed', 'nobody knows who asked for this')
    await mallory.create(DeploymentTargetClaims, requestedBy('mallory', ops('named')))
    await told('named', 'mallory may not use SpaceTier')
    for (const requester of ['ada', null]) {
      const forged = { metadata: { annotations: { [annotations.requester]: requester } } }
      const changed = mallory.patch(DeploymentTargetClaims, { name: 'named', namespace: 'evil' }, forged)
      match(await refusalOf(changed), 'the annotation berth.dev/requester cannot be changed')
    }
    await allowUse(berth.kube, 'evil', 'mallory', { group: 'berth.dev', resource: 'spacetiers', name: 'platform-ops' })
    await told('named', '"phase":"Bound"')
    const made = await mallory.create(Workspaces, workspace('evil', 'web', { owner: 'mallory' }))
    is(made.metadata.annotations?.[annotations.requester], undefined)
    const owned = await told('workspace-web', '"phase":"Bound"')
    equal(owned.metadata.annotations?.[annotations.requester], 'mallory')
  })

  it('have one who names another class say again who he is', async () => {
    const rename = (requester: string) =>
      mallory.patch(
        DeploymentTargetClaims,
        { name: 'unnamed', namespace: 'evil' },
        { metadata: { annotations: { [annotations.requester]: requester } }, spec: { deploymentTargetClassName: 'another' } },
      )
    match(await refusalOf(rename('ada')), 'can name nobody but you')
    is((await rename('mallory')).metadata.annotations?.[annotations.requester], 'mallory')
  })
})
