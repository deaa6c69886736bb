/**
 * Figures of the house, told and not judged: how much there is of it, and through how many files a reader walks.
 * `npm run figures` prints them. CI does so before the tests, so that any two commits can be compared.
 */
import { dirname, join } from 'node:path'
import type { Node, SourceFile } from 'typescript/unstable/ast'
import {
  isArrowFunction,
  isClassDeclaration,
  isExportDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isImportDeclaration,
  isInterfaceDeclaration,
  isMethodDeclaration,
  isNamedExports,
  isNamedImports,
  isStringLiteral,
  isTypeAliasDeclaration,
  isVariableStatement,
} from 'typescript/unstable/ast/is'
import { withTrees } from './trees.ts'

/** Where a reader begins who wants to know how a claim is bound, a namespace made, and an object of a commit applied. */
const WALKS = {
  'from a claim': 'operator/deployment-target-claim/binding/reconcile.ts#reconcileClaim',
  'from a request for a space': 'operator/space-request/reconcile.ts#reconcileRequest',
  'from a commit': 'operator/gitops-deployment/reconcile.ts#reconcileDeployment',
  'from a workspace': 'operator/workspace/reconcile.ts#reconcileWorkspace',
}

interface File {
  lines: number
  /** Of each function and constant at the top of the file: the names that it mentions. */
  declarations: Map<string, Set<string>>
  /** Names that come from another file, and that the file hands on: what they are called there. */
  names: Map<string, string>
  imports: Set<string>
  types: string[]
  longest: { lines: number; name: string }
}

/** All files of src but generated ones, by their path below it. */
const readFiles = (): Map<string, File> =>
  withTrees((trees) => new Map(trees.map(({ file, tree }) => [file, fileFrom(file, tree)])))

function fileFrom(path: string, tree: SourceFile): File {
  const file: File = {
    lines: tree.text.split('\n').length - 1,
    declarations: new Map(),
    names: new Map(),
    imports: new Set(),
    types: [],
    longest: { lines: 0, name: '' },
  }
  for (const statement of tree.statements) {
    noteImport(statement, path, file)
    if (isInterfaceDeclaration(statement) || isTypeAliasDeclaration(statement)) file.types.push(statement.name.text)
    else for (const name of namesDeclaredBy(statement)) file.declarations.set(name, mentionsIn(statement))
  }
  const measure = (node: Node) => {
    const lines = tree.text.slice(node.getStart(tree), node.end).split('\n').length
    if (isFunction(node) && lines > file.longest.lines) file.longest = { lines, name: path }
    node.forEachChild(measure)
  }
  tree.forEachChild(measure)
  return file
}

const isFunction = (node: Node): boolean =>
  isFunctionDeclaration(node) || isFunctionExpression(node) || isArrowFunction(node) || isMethodDeclaration(node)

function noteImport(statement: Node, path: string, file: File): void {
  const isImport = isImportDeclaration(statement)
  if (!isImport && !isExportDeclaration(statement)) return
  const from = statement.moduleSpecifier
  if (!from || !isStringLiteral(from) || !from.text.startsWith('.')) return
  const there = join(dirname(path), from.text)
  file.imports.add(there)
  const bindings = isImport ? statement.importClause?.namedBindings : statement.exportClause
  if (!bindings || !(isNamedImports(bindings) || isNamedExports(bindings))) return
  for (const { name, propertyName } of bindings.elements) file.names.set(name.text, `${there}#${(propertyName ?? name).text}`)
}

function namesDeclaredBy(statement: Node): string[] {
  if ((isFunctionDeclaration(statement) || isClassDeclaration(statement)) && statement.name) return [statement.name.text]
  if (!isVariableStatement(statement)) return []
  return statement.declarationList.declarations.flatMap(({ name }) => (isIdentifier(name) ? [name.text] : []))
}

function mentionsIn(statement: Node): Set<string> {
  const names = new Set<string>()
  const visit = (node: Node) => {
    if (isIdentifier(node)) names.add(node.text)
    node.forEachChild(visit)
  }
  visit(statement)
  return names
}

/** Where a name is declared, through the doors that hand it on. */
function declared(files: Map<string, File>, at: string, name: string): string | undefined {
  const file = files.get(at)
  if (file?.declarations.has(name)) return `${at}#${name}`
  const [there, other] = file?.names.get(name)?.split('#') ?? []
  return there !== undefined && other !== undefined ? declared(files, there, other) : undefined
}

/** All declarations that one leads to by name. Where a value was given to it as an argument, nobody knows by its text what it is. */
function reachedFrom(files: Map<string, File>, start: string): Set<string> {
  const found = new Set<string>()
  const visit = (from: string) => {
    found.add(from)
    const [at = '', name = ''] = from.split('#')
    for (const mentioned of files.get(at)?.declarations.get(name) ?? []) {
      const there = declared(files, at, mentioned)
      if (there !== undefined && isOnFloor(there) && !found.has(there)) visit(there)
    }
  }
  visit(start)
  return found
}

/** What everybody uses is no part of a way. */
const isOnFloor = (declaration: string): boolean => !/^(std|api|adapters)\//.test(declaration)

/** Folders of which each can be reached from each of the others by imports; a folder and what lies in it are two. */
function circlesOfFolders(files: Map<string, File>): string[][] {
  const next = new Map<string, Set<string>>()
  for (const [path, { imports }] of files)
    for (const to of imports)
      if (dirname(to) !== dirname(path)) next.set(dirname(path), (next.get(dirname(path)) ?? new Set()).add(dirname(to)))
  const reached = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of next.get(from) ?? []) if (!seen.has(to)) reached(to, seen.add(to))
    return seen
  }
  const reach = new Map([...next.keys()].map((folder) => [folder, reached(folder)]))
  const circles = new Map<string, string[]>()
  for (const [folder, there] of reach)
    if (there.has(folder)) {
      const circle = [...there].filter((other) => reach.get(other)?.has(folder)).sort()
      circles.set(circle[0] ?? '', circle)
    }
  return [...circles.values()]
}

function report(files: Map<string, File>): [string, string | number][] {
  const all = [...files.values()]
  const counts = new Map<string, number>()
  for (const name of all.flatMap(({ types }) => types)) counts.set(name, (counts.get(name) ?? 0) + 1)
  const [longest] = all.map((file) => file.longest).sort((a, b) => b.lines - a.lines)
  return [
    ['lines of src without generated ones', all.reduce((sum, { lines }) => sum + lines, 0)],
    ['files', all.length],
    ['files under 25 lines', all.filter(({ lines }) => lines < 25).length],
    ['type names', counts.size],
    ['type names that several files declare', [...counts.values()].filter((count) => count > 1).length],
    ['lines of the longest function', `${longest?.lines} in ${longest?.name}`],
    ...circlesOfFolders(files).map((circle): [string, string] => [
      'folders in a cycle',
      `${circle.length}: ${circle.join(', ')}`,
    ]),
    ...Object.entries(WALKS).map(([from, start]): [string, string] => {
      const found = reachedFrom(files, start)
      const entered = new Set([...found].map((each) => each.slice(0, each.indexOf('#'))))
      return [`files that the walk ${from} enters`, `${entered.size}, with ${found.size} declarations`]
    }),
  ]
}

for (const [what, figure] of report(readFiles())) console.log(`${what.padEnd(50)}${figure}`)
