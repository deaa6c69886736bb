import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { equal, ok } from 'uvu/assert'
import { parse } from 'yaml'
import { staleTypeFiles } from '../../hack/verify-crd-types.ts'
import * as api from '../../src/api/index.ts'
import { describe } from '../support/suite.ts'

const isKind = (value: unknown): value is api.Kind =>
  typeof value === 'object' && value !== null && 'plural' in value && 'kind' in value

interface Crd {
  spec: { group: string; scope: string; names: { kind: string; plural: string }; versions: { name: string }[] }
}

const folder = join(import.meta.dirname, '../../crds')
const crds = readdirSync(folder)
  .filter((name) => name !== 'kustomization.yaml')
  .map((name): Crd => parse(readFileSync(join(folder, name), 'utf8')))

describe('the kinds of src/api', (it) => {
  const kinds = Object.values(api).filter(isKind)

  for (const {
    spec: { group, names, scope, versions },
  } of crds)
    it(`know ${names.kind} as its CRD has it`, () => {
      const known = kinds.find(({ kind, group: of }) => kind === names.kind && of === group)
      equal(known && { ...known }, {
        group,
        version: versions[0]?.name,
        kind: names.kind,
        plural: names.plural,
        namespaced: scope === 'Namespaced',
      })
    })
  it('are all listed', () => {
    const listed = api.OWN_KINDS.map(({ kind, group }) => `${kind}.${group}`)
    equal(listed.toSorted(), crds.map(({ spec: { names, group } }) => `${names.kind}.${group}`).toSorted())
  })
  it('are known once each', () => {
    const paths = kinds.map(({ group, plural }) => `${group}/${plural}`)
    equal(paths.length, new Set(paths).size)
  })
  it('have the types that the CRDs say', async () => {
    equal(await staleTypeFiles(), [])
  })
})

describe('claimRefOf', (it) => {
  const target = (claimRef?: string | { name: string; uid?: string }): api.DeploymentTarget => ({
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'DeploymentTarget',
    metadata: { name: 'prod-dt', namespace: 'team-a' },
    spec: {
      deploymentTargetClassName: '',
      kubernetesCredentials: { defaultNamespace: '', apiURL: '', clusterCredentialsSecret: '' },
      ...(claimRef !== undefined && { claimRef }),
    },
  })
  const table: [Parameters<typeof target>[0], ReturnType<typeof api.claimRefOf>, string][] = [
    [undefined, undefined, 'nothing is written'],
    ['', undefined, 'a Go client writes an empty name for none'],
    [{ name: '' }, undefined, 'an empty name is none, however it is written'],
    ['prod-dtc', { name: 'prod-dtc' }, 'the seeds shipped a string'],
    [{ name: 'prod-dtc' }, { name: 'prod-dtc' }, 'the seed document prints an object'],
    [{ name: 'prod-dtc', uid: 'u1' }, { name: 'prod-dtc', uid: 'u1' }, 'Berth writes the uid'],
  ]
  for (const [written, read, why] of table)
    it(`reads ${JSON.stringify(written) ?? 'nothing'}: ${why}`, () => equal(api.claimRefOf(target(written)), read))
})

describe('labels, annotations and finalizers', (it) => {
  it('have keys that the API server takes', () => {
    const keys = [...Object.values(api.labels), ...Object.values(api.annotations), ...Object.values(api.finalizers)]
    for (const key of keys) ok(/^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(key), key)
  })
})
