import {
  type CelFunc,
  type CelInput,
  type CelList,
  CelScalar,
  type CelValue,
  celEnv,
  celFunc,
  celList,
  celMethod,
  isCelError,
  isCelList,
  isCelMap,
  listType,
} from '@bufbuild/cel'
import { strings } from '@bufbuild/cel/ext'
import type { Spend } from './values.ts'

const { BOOL, DOUBLE, DYN } = CelScalar
const LIST = listType(DYN)

/** Of the string extension. */
const OFFERED = ['lowerAscii', 'split', 'trim', 'upperAscii']

/** The package's is a list of lists: as deep as it is long when a macro makes it, and slow to go through. */
const CONCAT = celFunc('_+_', [LIST, LIST], LIST, (left, right) => celList([...left, ...right]))

/** Operators too. `matches` could run long: linear in the text, but thousandfold by a repetition, and nothing can be paid before. */
export const FUNCTIONS: readonly CelFunc[] = [
  ...celEnv({ funcs: [...strings.filter(({ name }) => OFFERED.includes(name)), CONCAT] }).funcs,
].filter(({ name }) => name !== 'matches')

/** All functions, each paying before it is called, and those that nodes.ts puts into an expression. */
export function meteredFunctions(spend: Spend): CelFunc[] {
  const growing = new WeakMap<CelList, CelInput[]>()
  return [
    ...FUNCTIONS.map((known) => metered(known, spend)),
    celFunc('@spend', [DOUBLE], BOOL, (steps) => {
      spend(steps)
      return true
    }),
    celFunc('@range', [DYN], DYN, (range) => {
      spend(1 + sizeOf(range) / 16)
      return range
    }),
    celFunc('@list', [], LIST, () => {
      const items: CelInput[] = []
      const list = celList(items)
      growing.set(list, items)
      return list
    }),
    celFunc('@append', [LIST, DYN], LIST, (list, item) => {
      growing.get(list)?.push(item)
      return list
    }),
  ]
}

function metered(known: CelFunc, spend: Spend): CelFunc {
  const { name, target, arguments: types, result } = known
  const call = (on: CelValue | undefined, args: CelValue[]): CelInput => {
    pay(name, on === undefined ? args : [on, ...args], spend)
    const value = known.call(0, on, args)
    if (isCelError(value)) throw value
    return value ?? null
  }
  if (!target) return celFunc(name, types, result, (...args) => call(undefined, args))
  return celMethod(name, target, types, result, function (...args) {
    return call(this, args)
  })
}

/** A step for the call, and one for every sixteen characters or elements, unless a function goes through more or less. */
function pay(name: string, values: readonly CelValue[], spend: Spend): void {
  const [first = null, second = null] = values
  const sizes = values.map(sizeOf)
  const [size = 0, other = 0] = sizes
  spend(1)
  if (name === '_==_' || name === '_!=_') payForSame(first, second, spend)
  else if (name === '@in' && isCelList(second)) for (const item of second) payForSame(first, item, spend)
  else spend(sizes.reduce((sum, one) => sum + one, 0) / 16)
  // The engine's search compares each character with each, at worst.
  if (name === 'contains' || name === 'split') spend((size * other) / 2048)
  if (name === 'int' || name === 'uint') spend(size)
  // In a time zone.
  if (name.startsWith('get') && values.length > 1) spend(100)
}

/** Values that are equal, or nearly so, are compared to the end. */
function payForSame(left: CelValue, right: CelValue, spend: Spend): void {
  spend(0.5)
  if (typeof left === 'string' && typeof right === 'string' && left.length === right.length) spend(left.length / 256)
  if (isCelList(left) && isCelList(right) && left.size === right.size) {
    const others = right.values()
    for (const item of left) payForSame(item, others.next().value ?? null, spend)
  }
  if (isCelMap(left) && isCelMap(right) && left.size === right.size)
    for (const [key, value] of left) payForSame(value, right.get(key) ?? null, spend)
}

function sizeOf(value: CelValue): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length
  return isCelList(value) ? value.size : 0
}
