import { checkUri } from './component-rules.ts'
import { checkUnique, type DevfileParts } from './parts.ts'
import { problem } from './problem.ts'
import { at, entriesOf, itemsOf, textOf, type YamlTree } from './tree.ts'
import { withoutVariables } from './variables.ts'

/** Checks where sources come from and where they go. */
export function checkProjects(parts: DevfileParts): void {
  for (const list of ['projects', 'dependentProjects', 'starterProjects']) {
    const projects = itemsOf(at(parts.root, list)).map((tree) => ({ tree, name: textOf(at(tree, 'name')) }))
    checkUnique(parts, projects, ({ name }) => ({
      rule: 'unique-project',
      message: `two of ${list} are called "${name}"`,
      remedy: 'rename one of them',
    }))
    for (const { tree, name = '' } of projects) {
      checkGit(parts, at(tree, 'git'), `project "${name}"`, list === 'starterProjects')
      checkUri(parts, at(tree, 'zip', 'location'))
      checkClonePath(parts, at(tree, 'clonePath'))
    }
  }
  for (const { kind, name, body } of parts.components)
    if (kind === 'image') checkGit(parts, at(body, 'dockerfile', 'git'), `image "${name}"`, true)
}

/** `takesOne`: more than one remote makes no sense there. */
function checkGit(parts: DevfileParts, git: YamlTree | undefined, what: string, takesOne: boolean): void {
  if (!git) return
  const remotes = entriesOf(at(git, 'remotes'))
  const remote = at(git, 'checkoutFrom', 'remote')
  const chosen = textOf(remote)
  const names = [...remotes.keys()].join(', ')
  const place = { holder: git, field: 'remotes' }
  for (const { value } of remotes.values()) checkRemote(parts, value)
  if (remotes.size === 0)
    problem(parts, place, {
      rule: 'remote-missing',
      message: `${what} has no remote`,
      remedy: 'write remotes: { origin: https://… }',
    })
  else if (takesOne && remotes.size > 1)
    problem(parts, place, {
      rule: 'single-remote',
      message: `${what} has the remotes ${names}, and takes one`,
      remedy: 'leave one',
    })
  else if (remotes.size > 1 && chosen === undefined)
    problem(
      parts,
      { holder: git, field: 'checkoutFrom.remote', spot: at(git, 'remotes') },
      {
        rule: 'checkout-remote',
        message: `${what} has several remotes, and does not say which one is checked out`,
        remedy: `name one of ${names} in checkoutFrom.remote`,
      },
    )
  if (remote && chosen !== undefined && remotes.size > 0 && !remotes.has(chosen))
    problem(parts, remote, {
      rule: 'checkout-remote',
      message: `${what} has no remote "${chosen}"`,
      remedy: `name one of ${names}`,
    })
}

/** `git@host:path` is no URI and a remote all the same. A text that begins with a dash would be an option of git. */
function checkRemote(parts: DevfileParts, tree: YamlTree): void {
  const text = textOf(tree)
  if (text === undefined) return
  if (text === '' || /^-|\s/.test(withoutVariables(text)))
    problem(parts, tree, { rule: 'uri', message: `"${text}" is not the address of a repository` })
}

function checkClonePath(parts: DevfileParts, tree: YamlTree | undefined): void {
  const text = textOf(tree)
  if (!tree || text === undefined) return
  if (text.startsWith('/') || text.split('/').includes('..'))
    problem(parts, tree, {
      rule: 'clone-path',
      message: `"${text}" must be a relative path inside the folder of the projects`,
      remedy: 'leave the leading / and every .. out',
    })
}
