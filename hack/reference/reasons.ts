/**
 * Finds every reason that src gives to a condition, an Event or a Failure, with the sentences that stand beside it.
 * A reason is written in four ways: as a property `reason`, as an argument for a parameter of that name, as a key of a table
 * of causes, and as a member of a type whose name ends in `Reason`. Those that are put together at run time stand in meanings.ts.
 */
import type { Node, PropertyAccessExpression, SourceFile, VariableStatement } from 'typescript/unstable/ast'
import {
  isArrowFunction,
  isAsExpression,
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isImportDeclaration,
  isLiteralTypeNode,
  isNamedImports,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isObjectLiteralExpression,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isReturnStatement,
  isSatisfiesExpression,
  isShorthandPropertyAssignment,
  isSourceFile,
  isStringLiteral,
  isTemplateExpression,
  isTypeAliasDeclaration,
  isUnionTypeNode,
  isVariableDeclaration,
  isVariableStatement,
} from 'typescript/unstable/ast/is'
import { withTrees } from '../trees.ts'

export interface Reason {
  word: string
  /** Below src. */
  file: string
  /** What is said with it, and what its reader can do; with `…` for each part that differs. */
  message: string
  remedy: string
  /** Whether an Event has it of itself, beside those that tell of conditions. */
  isEvent: boolean
}

/** What files declare, by name. */
interface Names {
  /** Constants in capitals, whose names mean the same everywhere. */
  constants: Map<string, Node>
  /** At which argument each function takes a reason, and what its other parameters are called. */
  takers: Map<string, { at: number; parameters: string[] }>
  functions: Map<string, Node>
  calls: Map<string, Call[]>
}

interface Call {
  tree: Node
  arguments: readonly Node[]
}

/** All reasons, in the order of their files. */
export const readReasons = (): Reason[] =>
  withTrees((trees) => {
    const everywhere = namesOf(trees.map(({ tree }) => tree))
    return trees.flatMap(({ file, tree }) => reasonsIn(file, tree, everywhere))
  })

function namesOf(trees: readonly Node[]): Names {
  const names: Names = { constants: new Map(), takers: new Map(), functions: new Map(), calls: new Map() }
  const visit = (node: Node, tree: Node) => {
    if (isVariableDeclaration(node) && isIdentifier(node.name) && node.initializer) {
      if (CONSTANT.test(node.name.text)) names.constants.set(node.name.text, node.initializer)
      noteFunction(node.name.text, node.initializer, names)
    }
    if (isFunctionDeclaration(node) && node.name) noteFunction(node.name.text, node, names)
    if (isCallExpression(node) && isIdentifier(node.expression)) {
      const { text } = node.expression
      names.calls.set(text, [...(names.calls.get(text) ?? []), { tree, arguments: node.arguments }])
    }
    node.forEachChild((child) => visit(child, tree))
  }
  for (const tree of trees) visit(tree, tree)
  return names
}

function noteFunction(name: string, node: Node, { takers, functions }: Names): void {
  if (!isFunction(node)) return
  functions.set(name, node)
  const parameters = node.parameters.map((each) => (isIdentifier(each.name) ? each.name.text : ''))
  const at = parameters.indexOf('reason')
  if (at >= 0) takers.set(name, { at, parameters })
}

const isFunction = (node: Node) => isFunctionDeclaration(node) || isFunctionExpression(node) || isArrowFunction(node)

const CONSTANT = /^[A-Z][A-Z_]+$/
const WORD = /^[A-Z][A-Za-z]*[a-z][A-Za-z]*$/

function reasonsIn(file: string, tree: SourceFile, everywhere: Names): Reason[] {
  const scope = scopeOf(tree, everywhere)
  const found: Reason[] = []
  const note: Note = (words, message, remedy, isEvent = false) => {
    for (const said of sentencesOf(tree, everywhere, message, remedy))
      for (const word of words.filter((each) => WORD.test(each)))
        found.push({ word, file, message: textOf(said.message, scope), remedy: textOf(said.remedy, scope), isEvent })
  }
  const visit = (node: Node) => {
    if (isObjectLiteralExpression(node)) noteObject(node, scope, note)
    if (isCallExpression(node) && isIdentifier(node.expression)) {
      const taker = scope.takers.get(node.expression.text)
      const argument = (name: string) => node.arguments[taker?.parameters.indexOf(name) ?? -1]
      const named = (name: string) => node.arguments.map((each) => valueIn(each, name)).find(Boolean) ?? argument(name)
      if (taker)
        note(wordsOf(node.arguments[taker.at], scope), named('message') ?? argument('text') ?? argument('why'), named('remedy'))
    }
    if (isTypeAliasDeclaration(node) && /Reason$/.test(node.name.text)) note(membersOf(node.type))
    node.forEachChild(visit)
  }
  visit(tree)
  return found
}

/** What the names in a file mean: what it declares itself comes first, and of other files there is only what it imports. */
function scopeOf(tree: SourceFile, everywhere: Names): Names {
  const here = namesOf([tree])
  const imported = importsOf(tree)
  const ofImports = <T>(map: Map<string, T>) =>
    imported.flatMap((name): [string, T][] => {
      const value = map.get(name)
      return value === undefined ? [] : [[name, value]]
    })
  return {
    constants: new Map([...ofImports(everywhere.constants), ...here.constants]),
    takers: new Map([...ofImports(everywhere.takers), ...here.takers]),
    functions: new Map([...ofImports(everywhere.functions), ...here.functions]),
    calls: here.calls,
  }
}

const importsOf = (tree: SourceFile): string[] =>
  tree.statements.flatMap((statement) => {
    const bindings = isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined
    return bindings && isNamedImports(bindings) ? bindings.elements.map(({ name }) => name.text) : []
  })

type Note = (words: string[], message?: Node, remedy?: Node, isEvent?: boolean) => void

interface Sentences {
  message: Node | undefined
  remedy: Node | undefined
}

/** A function that is given the sentence says what its callers say: those of its file, and those that import it. */
function sentencesOf(tree: SourceFile, { calls }: Names, message: Node | undefined, remedy: Node | undefined): Sentences[] {
  const around = message && isIdentifier(message) ? functionWith(message) : undefined
  if (!around) return [{ message, remedy }]
  const own = calls
    .get(around.name)
    ?.filter((call) => call.tree === tree || (isSourceFile(call.tree) && importsOf(call.tree).includes(around.name)))
  const said = (own ?? []).map((call): Sentences => {
    const given = (node: Node | undefined) =>
      node && isIdentifier(node) ? call.arguments[around.parameters.indexOf(node.text)] : node
    return { message: given(message), remedy: given(remedy) }
  })
  return said.length > 0 ? said : [{ message, remedy }]
}

/** The function that has a name among its parameters, if it has a name itself. */
function functionWith(name: Node & { text: string }): { name: string; parameters: string[] } | undefined {
  for (let node: Node | undefined = name.parent; node; node = node.parent) {
    if (!isFunction(node)) continue
    const parameters = node.parameters.map((each) => (isIdentifier(each.name) ? each.name.text : ''))
    if (!parameters.includes(name.text)) continue
    const named = isFunctionDeclaration(node) ? node.name : isVariableDeclaration(node.parent) ? node.parent.name : undefined
    return named && isIdentifier(named) ? { name: named.text, parameters } : undefined
  }
  return undefined
}

/** `{ reason: 'X', message: '…' }`, as a condition, an Event and the details of a Failure have it; or a table of causes. */
function noteObject(node: Node, scope: Names, note: Note): void {
  const reason = valueIn(node, 'reason')
  if (reason) {
    const type = valueIn(node, 'type')
    const isEvent = type !== undefined && wordsOf(type, scope).some((word) => word === 'Warning' || word === 'Normal')
    const message = ['message', 'tells', 'said', 'why'].map((name) => valueIn(node, name)).find(Boolean) ?? messageOfFailure(node)
    for (const [word, sentence] of pairsOf(reason, message, scope))
      note(wordsOf(word, scope), sentence, valueIn(node, 'remedy') ?? valueIn(node, 'advice'), isEvent)
  }
  for (const [key, value] of entriesOf(node))
    if (WORD.test(key) && valueIn(value, 'what') && valueIn(value, 'remedy'))
      note([key], valueIn(value, 'what'), valueIn(value, 'remedy'))
}

/** Where one condition decides about the word and the sentence, each word has its own. */
function pairsOf(word: Node, sentence: Node | undefined, scope: Names): [Node, Node | undefined][] {
  const said = sentence && isIdentifier(sentence) ? meaningOf(sentence, scope) : sentence
  if (!isConditionalExpression(word) || !said || !isConditionalExpression(said)) return [[word, sentence]]
  if (word.condition.getText() !== said.condition.getText()) return [[word, sentence]]
  return [
    [word.whenTrue, said.whenTrue],
    [word.whenFalse, said.whenFalse],
  ]
}

function entriesOf(node: Node): [string, Node][] {
  if (!isObjectLiteralExpression(node)) return []
  return node.properties.flatMap((each): [string, Node][] => {
    if (isPropertyAssignment(each) && isIdentifier(each.name)) return [[each.name.text, each.initializer]]
    return isShorthandPropertyAssignment(each) && isIdentifier(each.name) ? [[each.name.text, each.name]] : []
  })
}

const valueIn = (node: Node, name: string): Node | undefined => entriesOf(node).find(([key]) => key === name)?.[1]

/** `new Failure(code, message, details)`: the details are what has the reason. */
function messageOfFailure(details: Node): Node | undefined {
  const { parent } = details
  return parent && isNewExpression(parent) ? parent.arguments?.[1] : undefined
}

function membersOf(type: Node): string[] {
  if (isUnionTypeNode(type)) return type.types.flatMap(membersOf)
  return isLiteralTypeNode(type) && isStringLiteral(type.literal) ? [type.literal.text] : []
}

/** All words that an expression may come to; of what only the run decides, none. */
function wordsOf(node: Node | undefined, scope: Names, depth = 0): string[] {
  if (!node || depth > 4) return []
  const further = (each: Node | undefined) => wordsOf(each, scope, depth + 1)
  if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) return [node.text]
  if (isConditionalExpression(node)) return [...further(node.whenTrue), ...further(node.whenFalse)]
  if (isBinaryExpression(node)) return [...further(node.left), ...further(node.right)]
  if (isParenthesizedExpression(node) || isAsExpression(node) || isSatisfiesExpression(node)) return further(node.expression)
  if (isIdentifier(node)) return further(meaningOf(node, scope))
  // A member of a constant that holds several: `VARIABLE_REASONS.missing`.
  if (isPropertyAccessExpression(node)) return further(memberOf(node, scope))
  if (isCallExpression(node) && isIdentifier(node.expression))
    return returnedBy(scope.functions.get(node.expression.text), further)
  return []
}

function memberOf({ expression, name }: PropertyAccessExpression, { constants }: Names): Node | undefined {
  const whole = isIdentifier(expression) ? constants.get(expression.text) : undefined
  return whole && valueIn(isAsExpression(whole) ? whole.expression : whole, name.text)
}

function returnedBy(node: Node | undefined, further: (each: Node | undefined) => string[]): string[] {
  if (!node) return []
  if (isArrowFunction(node) && !node.body.forEachChild((child) => isReturnStatement(child) || undefined))
    return further(node.body)
  const words: string[] = []
  const visit = (each: Node) => {
    if (isReturnStatement(each)) words.push(...further(each.expression))
    else if (!isFunction(each)) each.forEachChild(visit)
  }
  node.forEachChild(visit)
  return words
}

/** What the nearest declaration around a name says that it is. */
function meaningOf(name: Node & { text: string }, { constants }: Names): Node | undefined {
  for (let around: Node | undefined = name.parent; around; around = around.parent) {
    const found = around.forEachChild((child) => (isVariableStatement(child) ? initializerIn(child, name.text) : undefined))
    if (found) return found
  }
  return constants.get(name.text)
}

const initializerIn = (statement: VariableStatement, name: string): Node | undefined =>
  statement.declarationList.declarations.find((each) => isIdentifier(each.name) && each.name.text === name)?.initializer

/** A sentence of the source as a reader sees it, with `…` for what is filled in. */
function textOf(node: Node | undefined, scope: Names, depth = 0): string {
  if (!node || depth > 3) return ''
  const further = (each: Node) => textOf(each, scope, depth + 1)
  if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) return node.text
  if (isTemplateExpression(node))
    return (
      node.head.text + node.templateSpans.map(({ expression, literal }) => (further(expression) || '…') + literal.text).join('')
    )
  if (isConditionalExpression(node)) return [further(node.whenTrue), further(node.whenFalse)].filter(Boolean).join(' / ')
  if (isParenthesizedExpression(node)) return further(node.expression)
  const meaning = isIdentifier(node) ? meaningOf(node, scope) : undefined
  return meaning ? further(meaning) : ''
}
