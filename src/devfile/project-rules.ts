import { checkUri } from './component-rules.ts'
import { checkUnique, type Parts, problem, spotOf } from './parts.ts'
import { at, entriesOf, itemsOf, textOf, type YamlTree } from './tree.ts'

/** Where sources come from and where they go. */
export function checkProjects(parts: Parts): void {
  for (const list of ['projects', 'dependentProjects', 'starterProjects']) {
    const projects = itemsOf(at(parts.root, list))
    checkUnique(
      parts,
      projects.map((tree, i) => ({
        name: textOf(at(tree, 'name')),
        spot: spotOf(at(tree, 'name'), tree),
        path: `${list}[${i}].name`,
      })),
      (name) => ({ rule: 'unique-project', message: `two of ${list} are called "${name}"`, remedy: 'rename one of them' }),
    )
    projects.forEach((tree, i) => {
      const path = `${list}[${i}]`
      const what = `project "${textOf(at(tree, 'name')) ?? ''}"`
      const git = at(tree, 'git')
      if (git) checkGit(parts, { tree: git, path: `${path}.git`, what, isSingle: list === 'starterProjects' })
      checkUri(parts, at(tree, 'zip', 'location'), `${path}.zip.location`)
      checkClonePath(parts, at(tree, 'clonePath'), `${path}.clonePath`)
    })
  }
  for (const { kind, name, body, path } of parts.components) {
    const git = kind === 'image' ? at(body, 'dockerfile', 'git') : undefined
    if (git) checkGit(parts, { tree: git, path: `${path}.image.dockerfile.git`, what: `image "${name}"`, isSingle: true })
  }
}

interface Git {
  tree: YamlTree
  path: string
  what: string
  /** Only one remote makes sense. */
  isSingle: boolean
}

function checkGit(parts: Parts, { tree, path, what, isSingle }: Git): void {
  const remotes = entriesOf(at(tree, 'remotes'))
  const remote = at(tree, 'checkoutFrom', 'remote')
  const chosen = textOf(remote)
  const names = [...remotes.keys()].join(', ')
  for (const [name, { value }] of remotes) checkRemote(parts, value, `${path}.remotes.${name}`)
  if (remotes.size === 0)
    problem(parts, spotOf(at(tree, 'remotes'), tree), `${path}.remotes`, {
      rule: 'remote-missing',
      message: `${what} has no remote`,
      remedy: 'write remotes: { origin: https://… }',
    })
  else if (isSingle && remotes.size > 1)
    problem(parts, spotOf(at(tree, 'remotes'), tree), `${path}.remotes`, {
      rule: 'single-remote',
      message: `${what} has the remotes ${names}, and takes one`,
      remedy: 'leave one',
    })
  else if (remotes.size > 1 && chosen === undefined)
    problem(parts, spotOf(at(tree, 'remotes'), tree), `${path}.checkoutFrom.remote`, {
      rule: 'checkout-remote',
      message: `${what} has several remotes, and does not say which one is checked out`,
      remedy: `name one of ${names} in checkoutFrom.remote`,
    })
  if (remote && chosen !== undefined && remotes.size > 0 && !remotes.has(chosen))
    problem(parts, remote, `${path}.checkoutFrom.remote`, {
      rule: 'checkout-remote',
      message: `${what} has no remote "${chosen}"`,
      remedy: `name one of ${names}`,
    })
}

/** `git@host:path` is no URI and a remote all the same. What begins with a dash would be an option of git. */
function checkRemote(parts: Parts, tree: YamlTree, path: string): void {
  const text = textOf(tree)
  if (text === undefined) return
  if (text === '' || /^-|\s/.test(text.replace(/\{\{[^{}]*\}\}/g, '')))
    problem(parts, tree, path, { rule: 'uri', message: `"${text}" is not the address of a repository` })
}

function checkClonePath(parts: Parts, tree: YamlTree | undefined, path: string): void {
  const text = textOf(tree)
  if (!tree || text === undefined) return
  if (text.startsWith('/') || text.split('/').includes('..'))
    problem(parts, tree, path, {
      rule: 'clone-path',
      message: `"${text}" must be a relative path inside the folder of the projects`,
      remedy: 'leave the leading / and every .. out',
    })
}
