import { join } from 'node:path'
import { type Node, NodeFlags, type SourceFile, SyntaxKind } from 'typescript/unstable/ast'
import {
  isArrowFunction,
  isAsExpression,
  isCallExpression,
  isCatchClause,
  isClassDeclaration,
  isConstructorDeclaration,
  isExportAssignment,
  isExportDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isImportDeclaration,
  isInterfaceDeclaration,
  isMethodDeclaration,
  isNamedImports,
  isNewExpression,
  isNonNullExpression,
  isPropertyAccessExpression,
  isPropertyDeclaration,
  isRegularExpressionLiteral,
  isStringLiteral,
  isThrowStatement,
  isTypeAliasDeclaration,
  isVariableStatement,
} from 'typescript/unstable/ast/is'
import { API } from 'typescript/unstable/sync'

/** What the rules want to know of a file, read by the compiler itself. */
export interface Source {
  /** Below the root, as in `std/clock.ts`. */
  file: string
  lines: number
  imports: Import[]
  /** Sentences about the file itself, such as "line 4: uses setTimeout"; which of them are wrong depends on the room. */
  uses: Use[]
  patterns: Pattern[]
  /** Statements of the top level that are no import and no export-from. */
  statements: number
  /** The comment that the file begins with. */
  opening: string
  /** All that it names: functions, variables, parameters, properties, imports and types, at any depth. */
  names: { name: string; line: number }[]
  /** Interfaces, classes and type aliases that it declares and exports. */
  exportedTypes: string[]
}

export interface Import {
  from: string
  typesOnly: boolean
  /** `import('…')`: loaded when it is wanted. */
  lazy: boolean
  line: number
}

/** A regular expression as it is written. */
export interface Pattern {
  source: string
  flags: string
  line: number
}

export type Habit =
  | 'any'
  | 'cast'
  | 'non-null assertion'
  | 'default export'
  | 'module-level state'
  | 'silent catch'
  | 'throw new Error'
  | 'timer'
  | 'console'
  | 'long function'
  | 'enum'
  | 'pattern of a variable'
  | `process.${string}`

export interface Use {
  habit: Habit
  line: number
}

/** All TypeScript files of the project whose tsconfig.json lies in `root`, that are in `folder` below it. */
export function readSources(root: string, folder: string): Source[] {
  const api = new API({ cwd: root })
  try {
    const [project] = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] }).getProjects()
    const home = `${join(root, folder)}/`
    const names = project?.program.getSourceFileNames().filter((name) => name.startsWith(home) && name.endsWith('.ts')) ?? []
    return names.flatMap((name) => {
      const file = project?.program.getSourceFile(name)
      return file ? [sourceFrom(name.slice(home.length), file)] : []
    })
  } finally {
    api.close()
  }
}

function sourceFrom(file: string, tree: SourceFile): Source {
  const { text } = tree
  const lineOf = (node: Node) => text.slice(0, node.getStart(tree)).split('\n').length
  const imports: Import[] = []
  const uses: Use[] = []
  const patterns: Pattern[] = []
  const names: Source['names'] = []
  const exportedTypes: string[] = []
  const visit = (node: Node, inFunction: boolean) => {
    const line = () => lineOf(node)
    const found = importOf(node)
    const name = nameDeclaredBy(node)
    if (name !== undefined) names.push({ name, line: line() })
    if (name !== undefined && isExportedType(node)) exportedTypes.push(name)
    if (found) imports.push({ ...found, line: line() })
    if (isRegularExpressionLiteral(node)) patterns.push({ ...patternIn(node.getText()), line: line() })
    for (const habit of habitsOf(node, text, inFunction)) uses.push({ habit, line: line() })
    const inside = inFunction || isFunction(node)
    node.forEachChild((child) => visit(child, inside))
  }
  tree.forEachChild((node) => visit(node, false))
  const statements = tree.statements.filter((node) => !isImportDeclaration(node) && !isExportDeclaration(node)).length
  const opening = /^\s*\/\*\*[\s\S]*?\*\//.exec(text)?.[0] ?? ''
  return { file, lines: text.split('\n').length - 1, imports, uses, patterns, statements, opening, names, exportedTypes }
}

/** A use of something that others named, such as `response.headers`, declares nothing. */
function nameDeclaredBy(node: Node): string | undefined {
  if (isPropertyAccessExpression(node) || !('name' in node)) return undefined
  const { name } = node
  return isNode(name) && isIdentifier(name) ? name.text : undefined
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'kind' in value

const isExportedType = (node: Node): boolean =>
  (isInterfaceDeclaration(node) || isTypeAliasDeclaration(node) || isClassDeclaration(node)) &&
  (node.modifiers?.some(({ kind }) => kind === SyntaxKind.ExportKeyword) ?? false)

/** Behind the last slash there are flags only. */
function patternIn(written: string): Omit<Pattern, 'line'> {
  const end = written.lastIndexOf('/')
  return { source: written.slice(1, end), flags: written.slice(end + 1) }
}

function importOf(node: Node): Omit<Import, 'line'> | undefined {
  if (isImportDeclaration(node) && isStringLiteral(node.moduleSpecifier)) {
    const clause = node.importClause
    const named = clause?.namedBindings
    const allTypes = named !== undefined && isNamedImports(named) && named.elements.every((element) => element.isTypeOnly)
    const typesOnly = clause?.phaseModifier === SyntaxKind.TypeKeyword || (allTypes && !clause?.name)
    return { from: node.moduleSpecifier.text, typesOnly, lazy: false }
  }
  if (isExportDeclaration(node) && node.moduleSpecifier && isStringLiteral(node.moduleSpecifier)) {
    return { from: node.moduleSpecifier.text, typesOnly: node.isTypeOnly, lazy: false }
  }
  if (isCallExpression(node) && node.expression.kind === SyntaxKind.ImportKeyword) {
    const [from] = node.arguments
    return from && isStringLiteral(from) ? { from: from.text, typesOnly: false, lazy: true } : undefined
  }
  return undefined
}

/** One question per habit; each looks at one node and its text only. */
function habitsOf(node: Node, text: string, inFunction: boolean): Habit[] {
  const habits: [Habit, boolean][] = [
    ['any', node.kind === SyntaxKind.AnyKeyword],
    ['cast', isAsExpression(node) && node.type.getText() !== 'const'],
    ['non-null assertion', isNonNullExpression(node)],
    ['default export', isExportAssignment(node) || node.kind === SyntaxKind.DefaultKeyword],
    ['enum', node.kind === SyntaxKind.EnumDeclaration],
    ['pattern of a variable', (isNewExpression(node) || isCallExpression(node)) && isNamed(node.expression, 'RegExp')],
    ['module-level state', !inFunction && isState(node)],
    ['silent catch', isCatchClause(node) && /^\{\s*\}$/.test(node.block.getText())],
    ['throw new Error', isThrowStatement(node) && /^throw new Error\b/.test(node.getText())],
    ['timer', isCallExpression(node) && /^set(Timeout|Interval)$/.test(node.expression.getText())],
    ['console', isPropertyAccessExpression(node) && isNamed(node.expression, 'console')],
    ['long function', isFunction(node) && text.slice(node.getStart(), node.end).split('\n').length > 80],
  ]
  return [...habits.filter(([, has]) => has).map(([habit]) => habit), ...processUse(node)]
}

const isNamed = (node: Node, name: string): boolean => isIdentifier(node) && node.text === name

const isFunction = (node: Node): boolean =>
  isFunctionDeclaration(node) ||
  isFunctionExpression(node) ||
  isArrowFunction(node) ||
  isMethodDeclaration(node) ||
  isConstructorDeclaration(node) ||
  isPropertyDeclaration(node) // it belongs to an object, not to the module

/** `let` at the top, or something made by `new` that is no table: two operators could not run in one test. */
function isState(node: Node): boolean {
  if (isVariableStatement(node)) return (node.declarationList.flags & NodeFlags.Const) === 0
  if (!isNewExpression(node)) return false
  return !/^new (Set|Map|URL|RegExp)\b.*\([^)]/s.test(node.getText())
}

function processUse(node: Node): Habit[] {
  if (isPropertyAccessExpression(node) && isNamed(node.expression, 'process')) return [`process.${node.name.getText()}`]
  if (!isImportDeclaration(node) || !isStringLiteral(node.moduleSpecifier) || node.moduleSpecifier.text !== 'node:process')
    return []
  const named = node.importClause?.namedBindings
  return named && isNamedImports(named) ? named.elements.map(({ name }): Habit => `process.${name.text}`) : ['process.everything']
}
