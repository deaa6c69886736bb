import type { DescField } from '@bufbuild/protobuf'
import type { YamlTree } from '../std/index.ts'
import { type MistakeList, type MistakePlace, shown } from './mistakes.ts'
import type { Where } from './read-message.ts'

/** A rule for values beyond their type, by message and field. */
type Rule = (tree: YamlTree, path: string, findings: MistakeList) => void

/** A text of at least one character, and so each item of a list. */
const filled: Rule = (tree, path, findings) => {
  for (const [item, at] of itemsOf(tree, path)) {
    if (textOf(item) === '') findings.add(item, `${at} is empty; write something or leave it out`)
  }
}

const oneOf =
  (...words: string[]): Rule =>
  (tree, path, findings) => {
    const text = textOf(tree)
    if (text === undefined || text === '' || words.includes(text)) return
    findings.add(tree, `${path} is ${shown(text)}; write one of ${words.join(', ')}`)
  }

/** A key that must be there where its mapping is. */
const needs =
  (...keys: string[]): Rule =>
  (tree, path, findings) => {
    for (const [item, at] of itemsOf(tree, path)) {
      if (item.kind !== 'map') continue
      const isThere = keys.some((key) => isSaid(item.entries.get(key)?.value))
      if (isThere) continue
      findings.add(item, keys.length > 1 ? `${at} needs one of ${keys.join(', ')}` : `${at}.${keys[0]} is missing`)
    }
  }

/** Alternatives that protobuf does not know to be some. */
const onlyOne =
  (...keys: string[]): Rule =>
  (tree, path, findings) => {
    for (const [item, at] of itemsOf(tree, path)) {
      const said = item.kind === 'map' ? keys.filter((key) => isSaid(item.entries.get(key)?.value)) : []
      if (said.length > 1) findings.add(item, `${at} has ${said.join(' and ')}; only one of them may be there`)
    }
  }

const positive: Rule = (tree, path, findings) => {
  if (!/[1-9]/.test(textOf(tree) ?? '1') || textOf(tree)?.startsWith('-')) findings.add(tree, `${path} must be more than 0s`)
}

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

const namespace: Rule = (tree, path, findings) => {
  for (const [item, at] of itemsOf(tree, path)) {
    const text = textOf(item)
    if (text !== undefined && text !== '' && !LABEL.test(text))
      findings.add(item, `${at} is ${shown(text)}, which no namespace can be called`)
  }
}

/** A folder with a kustomization or a chart, below the root of the repository. */
const folder: Rule = (tree, path, findings) => {
  const text = textOf(tree)
  if (text?.split('/').includes('..'))
    findings.add(tree, `${path} is ${shown(text)}; write a folder below the root of the repository`)
}

const atMost =
  (most: number): Rule =>
  (tree, path, findings) => {
    if (tree.kind === 'list' && tree.items.length > most)
      findings.add(tree, `${path} has ${tree.items.length} entries; at most ${most} are allowed`)
  }

/** More would not fit into the status of the Agent, nor be of use to one agent. */
const MOST_PROJECTS = 256
/** As many as GitLab allows. */
const MOST_ACCESS = 500

const RULES: Readonly<Record<string, readonly Rule[]>> = {
  'GitopsCF.manifest_projects': [atMost(MOST_PROJECTS)],
  'GitopsCF.allowed_kinds': [needs('kind')],
  'GitopsCF.namespaces': [filled, namespace],
  'AllowedKindCF.kind': [filled],
  'ManifestProjectCF.id': [filled],
  'ManifestProjectCF.default_namespace': [namespace],
  'ManifestProjectCF.paths': [needs('glob', 'kustomize', 'chart'), onlyOne('glob', 'kustomize', 'chart')],
  'ManifestProjectCF.dry_run_strategy': [oneOf('none', 'client', 'server')],
  'ManifestProjectCF.prune_propagation_policy': [oneOf('orphan', 'background', 'foreground')],
  'ManifestProjectCF.inventory_policy': [oneOf('must_match', 'adopt_if_no_inventory', 'adopt_all')],
  'ManifestProjectCF.deletion': [oneOf('orphan', 'delete')],
  'ManifestProjectCF.ref': [needs('tag', 'branch', 'commit')],
  'PathCF.glob': [filled],
  'PathCF.kustomize': [filled, folder],
  'PathCF.chart': [needs('path')],
  'ChartCF.path': [filled, folder],
  'ChartCF.release_name': [filled],
  'ChartCF.value_files': [filled],
  'GitRefCF.tag': [filled],
  'GitRefCF.branch': [filled],
  'GitRefCF.commit': [filled],
  'CiAccessCF.projects': [needs('id'), atMost(MOST_ACCESS)],
  'CiAccessCF.groups': [needs('id'), atMost(MOST_ACCESS)],
  'CiAccessProjectCF.id': [filled],
  'CiAccessProjectCF.environments': [filled],
  'CiAccessProjectCF.access_as': [needs('agent', 'impersonate', 'ci_job')],
  'CiAccessGroupCF.id': [filled],
  'CiAccessGroupCF.environments': [filled],
  'CiAccessGroupCF.access_as': [needs('agent', 'impersonate', 'ci_job')],
  'CiAccessAsCF.impersonate': [needs('username')],
  'CiAccessAsImpersonateCF.username': [filled],
  'CiAccessAsImpersonateCF.groups': [filled],
  'CiAccessAsImpersonateCF.extra': [needs('key'), needs('val')],
  'ExtraKeyValCF.key': [filled],
  'ExtraKeyValCF.val': [
    filled,
    (tree, path, findings) => {
      if (tree.kind === 'list' && tree.items.length === 0) findings.add(tree, `${path} is empty; write at least one value`)
    },
  ],
  'ConfigurationFile.user_access': [needs('access_as')],
  'UserAccessCF.access_as': [needs('agent', 'user')],
  'UserAccessCF.projects': [needs('id'), atMost(MOST_ACCESS)],
  'UserAccessCF.groups': [needs('id'), atMost(MOST_ACCESS)],
  'UserAccessProjectCF.id': [filled],
  'UserAccessGroupCF.id': [filled],
  'ConfigurationFile.container_scanning': [needs('cadence')],
  'ContainerScanningCF.cadence': [filled],
  'RemoteDevelopmentCF.partial_sync_interval': [positive],
  'RemoteDevelopmentCF.full_sync_interval': [positive],
}

export const checkValue = (findings: MistakeList, tree: YamlTree, { field, path }: Where): void => {
  for (const rule of RULES[nameOf(field)] ?? []) rule(tree, path, findings)
}

const nameOf = (field: DescField): string => `${field.parent.name}.${field.name}`

/** Rules between fields: a project stands in the list once, and its namespace is among those that are allowed. */
export function checkGitops(findings: MistakeList, file: YamlTree | undefined, projectPath: string): void {
  const gitops = valueAt(file, 'gitops')
  const namespaces = itemsOf(valueAt(gitops, 'namespaces'), '').map(([item]) => textOf(item))
  const seen = new Map<string, MistakePlace>()
  for (const [project, path] of itemsOf(valueAt(gitops, 'manifest_projects'), 'gitops.manifest_projects')) {
    const id = valueAt(project, 'id')
    const name = textOf(id) ?? projectPath
    const first = seen.get(name)
    if (first)
      findings.add(id ?? project, `${path}.id is ${shown(name)}, as in line ${first.line} already; a project may be listed once`)
    else seen.set(name, id ?? project)
    const home = valueAt(project, 'default_namespace')
    const text = textOf(home)
    if (home && text && namespaces.length > 0 && !namespaces.includes(text))
      findings.add(home, `${path}.default_namespace is ${shown(text)}, which is not among gitops.namespaces`)
  }
}

/** The value of a key; `undefined` where it is absent or null. */
function valueAt(tree: YamlTree | undefined, key: string): YamlTree | undefined {
  const value = tree?.kind === 'map' ? tree.entries.get(key)?.value : undefined
  return isSaid(value) ? value : undefined
}

const isSaid = (tree: YamlTree | undefined): boolean => tree !== undefined && !(tree.kind === 'scalar' && tree.value === null)

/** The items of a list with their paths; anything else is its own only item. */
const itemsOf = (tree: YamlTree | undefined, path: string): [YamlTree, string][] => {
  if (!tree) return []
  return tree.kind === 'list' ? tree.items.map((item, i) => [item, `${path}[${i}]`]) : [[tree, path]]
}

const textOf = (tree: YamlTree | undefined): string | undefined =>
  tree?.kind === 'scalar' && typeof tree.value === 'string' ? tree.value : undefined
