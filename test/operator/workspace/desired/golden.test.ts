import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { parse, stringify } from 'yaml'
import type { Workspace, WorkspaceClassSpec } from '../../../../src/api/index.ts'
import { parseDevfile } from '../../../../src/devfile/index.ts'
import { withResources } from '../../../../src/engines/devfiles/index.ts'
import { afterStopJob, desiredObjects, type WorkspacePlan } from '../../../../src/operator/workspace/desired/index.ts'
import { describe } from '../../../support/suite.ts'

const FOLDER = new URL('./golden/', import.meta.url)
/** `GOLDEN=write` writes what is made now; then look at the diff. */
const isWriting = process.env.GOLDEN === 'write'

/** A case is a devfile, after what it is to be seen with. */
interface Case {
  why: string
  workspace?: Partial<Workspace['spec']> & { name?: string }
  class?: WorkspaceClassSpec
  plan?: Partial<WorkspacePlan>
}

const cases = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.case.yaml'))
  .map((file) => file.replace('.case.yaml', ''))

async function planOf(name: string): Promise<WorkspacePlan & { why: string }> {
  const [head = '', devfile = ''] = readFileSync(new URL(`${name}.case.yaml`, FOLDER), 'utf8').split('\n---\n')
  const { why, workspace: { name: called = 'web', ...spec } = {}, class: settings = {}, plan }: Case = parse(head)
  const read = await parseDevfile(devfile)
  if (!('devfile' in read)) throw assert.unreachable(`${name}: ${JSON.stringify(read.problems)}`)
  const metadata = { name: called, namespace: 'team-a', uid: '6f1f0e6e-0000-4000-8000-000000000001' }
  const workspace = { apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace', metadata, spec }
  return { why, workspace, settings, devfile: withResources(read.devfile), namespace: 'space', variables: {}, ...plan }
}

const plans = await Promise.all(cases.map(async (name) => ({ name, ...(await planOf(name)) })))

const objectsOf = (plan: WorkspacePlan) => {
  const { pieces, manifests, deployment } = desiredObjects(plan)
  const job = afterStopJob(plan, '2030-01-01T00:00:00Z')
  return [...pieces.map(({ object }) => object), ...manifests, deployment, ...(job ? [job] : [])]
}

describe('workspace: golden objects', (it) => {
  for (const { name, why, ...plan } of plans) {
    it(`${name}: ${why}`, () => {
      const file = new URL(`${name}.objects.yaml`, FOLDER)
      const text = objectsOf(plan)
        .map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
        .join('---\n')
      if (isWriting || !existsSync(file)) writeFileSync(file, text)
      assert.is(text, readFileSync(file, 'utf8'), why)
      assert.is(JSON.stringify(objectsOf(structuredClone(plan))), JSON.stringify(objectsOf(plan)), 'twice the same bytes')
    })
  }

  it('have no two containers, ports, variables or mounts of one key, which server-side apply refuses', () => {
    for (const { name, ...plan } of plans) {
      const spec = desiredObjects(plan).deployment.spec?.template.spec
      const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
      checkUnique(
        all.map((each) => each.name),
        name,
      )
      checkUnique(
        (spec?.volumes ?? []).map((each) => each.name),
        name,
      )
      for (const container of all) {
        checkUnique(
          (container.env ?? []).map((each) => each.name),
          name,
        )
        checkUnique(
          (container.volumeMounts ?? []).map(({ mountPath }) => mountPath),
          name,
        )
        checkUnique(
          (container.ports ?? []).map((each) => `${each.protocol} ${each.containerPort}`),
          name,
        )
        assert.ok(container.name.length <= 63, container.name)
      }
      for (const { metadata } of objectsOf(plan)) assert.ok(metadata.name.length <= 253)
      for (const volume of spec?.volumes ?? []) assert.ok(volume.name.length <= 63, volume.name)
    }
  })
})

const checkUnique = (keys: string[], where: string) => assert.equal(keys, [...new Set(keys)], where)
