import { isRecord } from '../../../std/index.ts'
import { unescaped } from '../../apply/index.ts'

/**
 * A path tree has the places of one object that paths lead to. The paths come from users, up to a thousand for each object, so they
 * are walked together: all of them cost one copy of the object, and not one each.
 */
type PathTree = Map<string, PathTree | typeof END>

/** A path ends here. Paths that lead further do not count, for what is below goes with it. */
const END = 'end'

/** Paths that lead nowhere in this object are left out of its tree. */
export function pathTree(object: unknown, paths: readonly string[]): PathTree {
  const root: PathTree = new Map()
  for (const path of paths) {
    const way = wayIn(object, path)
    if (way) add(root, way)
  }
  return root
}

/** The path is read only as far as the object has places for it: most paths are for other objects. */
function wayIn(object: unknown, path: string): string[] | undefined {
  const way: string[] = []
  let at = object
  for (let slash = path.indexOf('/'); slash >= 0; ) {
    const next = path.indexOf('/', slash + 1)
    const part = placeOf(at, unescaped(next < 0 ? path.slice(slash + 1) : path.slice(slash + 1, next)))
    if (part === undefined) return undefined
    way.push(part)
    at = inside(at, part)
    slash = next
  }
  return way
}

function add(root: PathTree, way: string[]): void {
  const last = way.pop()
  let tree = root
  for (const part of way) {
    const known = tree.get(part)
    if (known === END) return
    const below: PathTree = known ?? new Map()
    if (!known) tree.set(part, below)
    tree = below
  }
  if (last !== undefined) tree.set(last, END)
}

/** A place in a list has one writing, so that `01` is `1`. It is `undefined` where the object has no such place. */
function placeOf(object: unknown, part: string): string | undefined {
  if (Array.isArray(object)) return Number(part) in object ? String(Number(part)) : undefined
  return isRecord(object) && Object.hasOwn(object, part) ? part : undefined
}

/** It gives what is in a field or an element, one step down. */
export function inside(object: unknown, part: string): unknown {
  if (Array.isArray(object)) return object[Number(part)]
  return isRecord(object) && Object.hasOwn(object, part) ? object[part] : undefined
}

/** Replacing finds other values for some places, by something that is carried along on the way down to them. */
interface Replacing<Carried> {
  down(carried: Carried, part: string): Carried
  instead(value: unknown, carried: Carried): unknown
}

/** It makes a copy with other values at the ends of the tree, and with nothing where the other value is `undefined`. */
export function replaced<T, Carried>(object: T, tree: PathTree, carried: Carried, by: Replacing<Carried>): T
export function replaced<Carried>(object: unknown, tree: PathTree, carried: Carried, by: Replacing<Carried>): unknown {
  if (Array.isArray(object)) return replacedInList(object, tree, carried, by)
  if (!isRecord(object)) return object
  const copy = { ...object }
  for (const [part, below] of tree) {
    const value = valueFor(object[part], below, by.down(carried, part), by)
    if (value === undefined) delete copy[part]
    else copy[part] = value
  }
  return copy
}

/** Elements go when all are replaced: each path means the place that the element had before. */
function replacedInList<Carried>(list: readonly unknown[], tree: PathTree, carried: Carried, by: Replacing<Carried>): unknown[] {
  const copy = [...list]
  for (const [part, below] of tree) copy[Number(part)] = valueFor(list[Number(part)], below, by.down(carried, part), by)
  return copy.filter((element) => element !== undefined)
}

const valueFor = <Carried>(value: unknown, below: PathTree | typeof END, carried: Carried, by: Replacing<Carried>): unknown =>
  below === END ? by.instead(value, carried) : replaced(value, below, carried, by)
