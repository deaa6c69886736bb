import * as assert from 'uvu/assert'
import type { WorkspaceClassSpec } from '../../../../src/api/index.ts'
import { type Devfile, parseDevfile } from '../../../../src/devfile/index.ts'
import { overMaxima } from '../../../../src/engines/devfiles/index.ts'
import { quotaOf } from '../../../../src/operator/workspace/desired/maxima.ts'
import { ownResourcesOf } from '../../../../src/operator/workspace/desired/own-resources.ts'
import { describe } from '../../../support/suite.ts'

async function devfile(...containers: string[]): Promise<Devfile> {
  const components = containers.map((each, i) => `  - { name: c${i}, container: { image: a, ${each} } }`)
  const read = await parseDevfile(`schemaVersion: 2.2.0\ncomponents:\n${components.join('\n')}\n`)
  if ('devfile' in read) return read.devfile
  throw assert.unreachable(JSON.stringify(read.problems))
}

const FOUR = 'cpuRequest: 100m, cpuLimit: 500m, memoryRequest: 128Mi, memoryLimit: 256Mi'
const BESIDE = 'dedicatedPod: true, cpuRequest: 50m, cpuLimit: 500m, memoryRequest: 64Mi, memoryLimit: 256Mi'
const MOST = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } }

describe("workspace: what Berth's own containers have", (it) => {
  const of = (settings: WorkspaceClassSpec, given: Devfile, wishes?: object) =>
    ownResourcesOf({ settings, devfile: given }, wishes)

  it('is what the class says for all, where it limits nothing', async () => {
    const settings = { defaultResourcesPerWorkspaceContainer: { requests: { cpu: '10m' } } }
    assert.equal(of(settings, await devfile(FOUR)), { requests: { cpu: '10m' }, limits: {} })
  })

  it('is every amount that the class limits: as little as the pod asks for anyway, and what other pods leave', async () => {
    assert.equal(of({ maxResourcesPerWorkspace: MOST }, await devfile(FOUR, FOUR, BESIDE)), {
      requests: { cpu: '200m', memory: String(256 * 2 ** 20) },
      limits: { cpu: '1500m', memory: String(1792 * 2 ** 20) },
    })
  })

  it('is in another pod no more than there is', async () => {
    const given = await devfile(FOUR, BESIDE)
    const own = ownResourcesOf(
      { settings: { maxResourcesPerWorkspace: MOST }, devfile: given },
      undefined,
      given.containers.slice(1),
    )
    assert.equal(own.requests, { cpu: '50m', memory: String(64 * 2 ** 20) })
    assert.equal(own.limits, { cpu: '1500m', memory: String(1792 * 2 ** 20) })
  })

  it('asks for little where only limits are limited, for without a request it would be as much', async () => {
    const settings = { maxResourcesPerWorkspace: { limits: MOST.limits } }
    assert.equal(of(settings, await devfile('cpuLimit: 500m, memoryLimit: 256Mi')), {
      requests: { cpu: '50m', memory: String(64 * 2 ** 20) },
      limits: { cpu: '2000m', memory: String(2 * 2 ** 30) },
    })
  })

  it('is never more than is allowed, nor asks for more than it may take', async () => {
    const wishes = { requests: { cpu: '3', memory: '512Mi' }, limits: { cpu: '4', memory: '512Mi' } }
    assert.equal(of({ maxResourcesPerWorkspace: MOST }, await devfile(FOUR), wishes), {
      requests: { cpu: '1000m', memory: '512Mi' },
      limits: { cpu: '2000m', memory: '512Mi' },
    })
  })

  it('is as it was for a pod that was made before', async () => {
    const settings = { maxResourcesPerWorkspace: MOST }
    assert.equal(ownResourcesOf({ settings, devfile: await devfile(FOUR), form: 0 }), { requests: {}, limits: {} })
  })

  it('is not at the expense of people where it runs beside them', async () => {
    const given = await devfile('cpuRequest: 1, cpuLimit: 2, memoryRequest: 1Gi, memoryLimit: 2Gi')
    const settings = { maxResourcesPerWorkspace: MOST }
    assert.equal(overMaxima(given, settings), [])
    const workspace = { apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace', metadata: { name: 'web', uid: '1' }, spec: {} }
    const plan = { workspace, settings, devfile: given, namespace: 'space', variables: {} }
    const hard = (tunnel?: { kas: string; image: string }) => quotaOf({ ...plan, tunnel })[0]?.spec?.hard
    assert.equal(hard(), { 'requests.cpu': '1', 'requests.memory': '1Gi', 'limits.cpu': '2', 'limits.memory': '2Gi' })
    assert.equal(hard({ kas: 'grpcs://kas', image: 'berth' }), {
      'requests.cpu': '1010m',
      'requests.memory': String(1088 * 2 ** 20),
      'limits.cpu': '2500m',
      'limits.memory': String(2304 * 2 ** 20),
    })
  })
})
