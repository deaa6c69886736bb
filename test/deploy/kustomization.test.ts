import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { equal, match, ok } from 'uvu/assert'
import { parse } from 'yaml'
import type { ClusterRole, ClusterRoleBinding } from '../../src/api/index.ts'
import { describe } from '../support/suite.ts'
import { documents } from '../support/verbs.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
/** What it takes from elsewhere: objects, or for a component what it changes in them. */
const resourcesOf = (folder: string): string[] => {
  const { resources = [], patches = [] }: { resources?: string[]; patches?: { path: string }[] } = parse(
    read(join(folder, 'kustomization.yaml')),
  )
  return [...resources, ...patches.map(({ path }) => path)]
}
const yamlIn = (folder: string): string[] =>
  readdirSync(join(root, folder)).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')

/** Every folder below deploy/ that has a kustomization. */
const bases = readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('kustomization.yaml'))
  .map((name) => relative(root, join(root, 'deploy', name, '..')))

/** The files that a kustomization leads to, through all folders that it names. */
const filesOf = (folder: string): string[] =>
  resourcesOf(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(join(root, path)).isDirectory() ? filesOf(path) : [path]
  })

const isRole = (object: object): object is ClusterRole => 'kind' in object && object.kind === 'ClusterRole'
const isBinding = (object: object): object is ClusterRoleBinding => 'kind' in object && object.kind === 'ClusterRoleBinding'

describe('the kustomizations', (it) => {
  for (const folder of ['crds', ...bases])
    it(`${folder}: names every file beside it`, () => {
      equal(
        yamlIn(folder).filter((name) => !resourcesOf(folder).includes(name)),
        [],
      )
    })

  it('install kinds, policies and roles from the root, and no programs', () => {
    const objects = filesOf('.').flatMap((path) => documents(read(path)))
    ok(objects.some(({ kind }) => kind === 'MutatingAdmissionPolicy'))
    equal(objects.filter(({ kind }) => kind === 'CustomResourceDefinition').length, yamlIn('crds').length)
    equal(
      objects.filter(({ kind }) => kind === 'Deployment'),
      [],
    )
  })
  it('run programs that let tenants lead them nowhere into their own networks', () => {
    for (const program of ['operator', 'kas', 'proxy']) {
      const [deployment] = documents(read(`deploy/${program}/program/deployment.yaml`))
      match(JSON.stringify(deployment), /\{"name":"BERTH_REFUSE_LOCAL_TARGETS","value":"true"\}/, program)
    }
  })
  it('need no kind that they only now install', () => {
    for (const folder of ['.', 'deploy'])
      equal(
        filesOf(folder)
          .flatMap((path) => documents(read(path)))
          .filter(({ apiVersion }) => /berth\.dev|redhat\.com|openshift\.com/.test(apiVersion)),
        [],
      )
  })
  it('bind every role of the operator to its service account, and nothing else to it', () => {
    const roles = yamlIn('deploy/operator/roles').flatMap((name) =>
      documents(read(`deploy/operator/roles/${name}`)).filter(isRole),
    )
    const bindings = documents(read('deploy/operator/role-bindings.yaml')).filter(isBinding)
    equal(bindings.map(({ roleRef }) => roleRef.name).sort(), roles.map(({ metadata }) => metadata.name).sort())
    for (const { subjects } of bindings)
      equal(
        subjects?.map(({ namespace, name }) => `${namespace}/${name}`),
        ['berth-system/berth-operator'],
      )
  })
  it('give no program everything', () => {
    const roles = filesOf('.').flatMap((path) => documents(read(path)).filter(isRole))
    for (const { metadata, rules = [] } of roles)
      for (const rule of rules)
        for (const list of [rule.verbs, rule.resources ?? [], rule.apiGroups ?? []])
          ok(!list.includes('*'), `${metadata.name} asks for *`)
  })
})
