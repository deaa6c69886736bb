import type { GitSource, Project, ProjectSource, StarterProject } from './devfile.ts'
import { attributesOf, mapOf } from './fields.ts'
import { at, textOf, type YamlTree } from './tree.ts'

export function buildProject(tree: YamlTree): Project {
  const name = textOf(at(tree, 'name')) ?? ''
  return {
    name,
    clonePath: textOf(at(tree, 'clonePath')) ?? name,
    source: sourceOf(tree),
    attributes: attributesOf(tree),
  }
}

export const buildStarter = (tree: YamlTree): StarterProject => ({
  name: textOf(at(tree, 'name')) ?? '',
  description: textOf(at(tree, 'description')),
  subDir: textOf(at(tree, 'subDir')),
  source: sourceOf(tree),
  attributes: attributesOf(tree),
})

function sourceOf(tree: YamlTree): ProjectSource {
  const git = at(tree, 'git')
  return git ? { git: gitOf(git) } : { zip: textOf(at(tree, 'zip', 'location')) ?? '' }
}

export function gitOf(tree: YamlTree): GitSource {
  const remotes = mapOf(at(tree, 'remotes'))
  return {
    remotes,
    remote: textOf(at(tree, 'checkoutFrom', 'remote')) ?? Object.keys(remotes)[0] ?? '',
    revision: textOf(at(tree, 'checkoutFrom', 'revision')),
  }
}
