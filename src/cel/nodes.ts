import { FUNCTIONS } from './functions.ts'
import { type CelError, DEEPEST, type Expr, type Parsed } from './parse.ts'

type Kind<Case extends Expr['exprKind']['case']> = Extract<Expr['exprKind'], { case: Case }>['value']

interface Place extends Pick<Parsed, 'errorAt'> {
  names: ReadonlySet<string>
  depth: number
}

/**
 * Checks what can be known before any value is (names, functions, the number of their arguments) and makes each loop pay for
 * itself. The answer is of how many nodes the expression consists, without those in its loops. Throws a CelError.
 */
export function meteredNodes(expr: Expr, place: Place): number {
  const wrong = (words: string): CelError => place.errorAt(expr, words)
  if (place.depth > DEEPEST) throw wrong(`is nested more than ${DEEPEST} deep`)
  const within = (parts: readonly (Expr | undefined)[], names = place.names): number =>
    parts.reduce((sum, part) => sum + (part ? meteredNodes(part, { ...place, names, depth: place.depth + 1 }) : 0), 0)
  const { case: is, value } = expr.exprKind
  switch (is) {
    case 'constExpr':
      if (isOverflow(value)) throw wrong('is no number of 64 bits')
      return 1
    case 'identExpr':
      if (!place.names.has(value.name)) throw wrong(`there is no ${value.name}; known are ${written(place.names).join(', ')}`)
      return 1
    case 'selectExpr':
      return 1 + within([value.operand])
    case 'listExpr':
      return 1 + within(value.elements)
    case 'structExpr':
      if (value.messageName !== '') throw wrong(`there are no messages, such as ${value.messageName}`)
      return (
        1 + within(value.entries.flatMap(({ keyKind, value: of }) => [keyKind.case === 'mapKey' ? keyKind.value : undefined, of]))
      )
    case 'callExpr': {
      const words = wrongWith(value)
      if (words !== undefined) throw wrong(words)
      return 1 + within([value.target, ...value.args])
    }
    case 'comprehensionExpr': {
      const outside = within([value.iterRange])
      const inside = new Set([...place.names, value.iterVar, value.accuVar])
      meterLoop(value, within([value.accuInit, value.loopCondition, value.loopStep, value.result], inside))
      return 1 + outside
    }
    default:
      return 1
  }
}

/** Without those that only the parser knows. */
const written = (names: Iterable<string>): string[] => [...names].filter((name) => !name.startsWith('@'))

const isOverflow = ({ constantKind: { case: is, value } }: Kind<'constExpr'>): boolean =>
  is === 'int64Value' && BigInt.asIntN(64, value) !== value

const MACROS = ['all', 'exists', 'exists_one', 'existsOne', 'filter', 'map']

function wrongWith({ function: name, target, args }: Kind<'callExpr'>): string | undefined {
  // Operators are calls as well, of functions such as _+_ and @in.
  if (!/^\w+$/.test(name)) return undefined
  if (name === 'has') return 'has() takes one field, such as has(object.status)'
  if (MACROS.includes(name)) return `${name}() takes a variable and an expression, such as list.${name}(item, item > 1)`
  const known = FUNCTIONS.filter((one) => one.name === name && (one.target !== undefined) === (target !== undefined))
  const counts = [...new Set(known.map(({ arguments: { length } }) => length))]
  if (counts.length === 0) return `there is no function ${name}()`
  return counts.includes(args.length) ? undefined : `${name}() takes ${counts.join(' or ')} arguments, not ${args.length}`
}

/**
 * It pays for its list when it begins, then before each turn for the `nodes` of which a turn consists.
 * Each turn of `result + [item]` would make a longer copy of the list; it becomes one list that grows.
 */
function meterLoop(loop: Kind<'comprehensionExpr'>, nodes: number): void {
  const { iterRange, loopCondition, loopStep, accuInit } = loop
  if (iterRange) loop.iterRange = callOf('@range', iterRange)
  if (loopCondition) loop.loopCondition = callOf('_&&_', callOf('@spend', numberOf(2 + nodes / 8)), loopCondition)
  if (!loopStep || accuInit?.exprKind.case !== 'listExpr') return
  loop.accuInit = callOf('@list')
  append(loopStep)
}

/** The step is an addition, or a choice between one and none. */
function append({ exprKind: { case: is, value } }: Expr): void {
  if (is !== 'callExpr') return
  const [first, second] = value.args
  if (!first || !second) return
  if (value.function === '_?_:_') append(second)
  const [item, more] = value.function === '_+_' && second.exprKind.case === 'listExpr' ? second.exprKind.value.elements : []
  if (!item || more) return
  value.function = '@append'
  value.args = [first, item]
}

const callOf = (name: string, ...args: Expr[]): Expr => ({
  $typeName: 'cel.expr.Expr',
  id: 0n,
  exprKind: { case: 'callExpr', value: { $typeName: 'cel.expr.Expr.Call', function: name, args } },
})

const numberOf = (value: number): Expr => ({
  $typeName: 'cel.expr.Expr',
  id: 0n,
  exprKind: { case: 'constExpr', value: { $typeName: 'cel.expr.Constant', constantKind: { case: 'doubleValue', value } } },
})
