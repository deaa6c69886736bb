import { causesOf } from '../../../adapters/kube/index.ts'
import type { AnyObject } from '../../../api/index.ts'
import { type Failure, isFailure, isRecord } from '../../../std/index.ts'
import { withValueAt } from '../../apply/index.ts'
import { type Case, type Outcome, outcomeAfter, patch, put, read, versionKnown } from './case.ts'
import { formerKeeper } from './keeper.ts'
import { takingOver } from './take-over.ts'

/** Each conflict names all fields that are taken; new ones come up only while others write. */
const TRIES = 5

/** Never takes a field from anybody: what others hold is left out, and said. */
export async function merge(about: Case): Promise<Outcome> {
  const { item, by } = about
  const left: string[] = []
  let object = about.content
  let before = about.seen
  for (let tries = 1; ; tries++) {
    try {
      const written = await put(about, object, { version: tries === 1 ? versionKnown(about) : undefined })
      return { ...outcomeAfter(about, written, before), ...(left.length > 0 && { why: `${left.join(', ')} left to others` }) }
    } catch (failure) {
      const less = isFailure(failure, 'conflict') ? yielded(object, failure) : undefined
      if (!less || tries === TRIES) throw failure
      before = await read(about)
      const former = formerKeeper(item, before, by.owner, by.standing)
      const steps = before && former !== undefined ? takingOver(before, by.owner, { former }) : undefined
      if (steps) await patch(about, steps)
      else left.push(...less.fields)
      if (!steps) object = less.object
    }
  }
}

export interface Yielded {
  readonly object: AnyObject
  /** What was left to others: `.spec.replicas (hpa)`. */
  readonly fields: readonly string[]
}

/**
 * The object without the fields that others hold, so that it can be applied without taking anything from them.
 * `undefined` when the conflict names no field that could be left out.
 */
export function yielded(object: AnyObject, conflict: Failure): Yielded | undefined {
  const fields: string[] = []
  let left = object
  for (const { reason, field, message } of causesOf(conflict)) {
    const parts = reason === 'FieldManagerConflict' ? placeOf(left, field) : undefined
    if (!parts) continue
    left = withValueAt(left, parts, undefined)
    fields.push(`${field} (${/conflict with "([^"]*)"/.exec(message)?.[1] ?? 'another manager'})`)
  }
  return fields.length > 0 ? { object: left, fields } : undefined
}

/**
 * The place that the server's own writing means: `.spec.containers[name="web"].image`, `.metadata.finalizers[="x"]`. Names
 * may have dots in them, so the object decides where a name ends.
 * https://pkg.go.dev/sigs.k8s.io/structured-merge-diff/v4/fieldpath#Path.String
 */
export function placeOf(object: unknown, path: string): string[] | undefined {
  if (path === '') return []
  if (path.startsWith('.') && isRecord(object)) {
    const rest = path.slice(1)
    const fitting = Object.keys(object).filter((key) => rest.startsWith(key) && /^($|[.[])/.test(rest.slice(key.length)))
    const name = fitting.sort((a, b) => b.length - a.length)[0]
    return name === undefined ? undefined : below(name, object[name], rest.slice(name.length))
  }
  if (!path.startsWith('[') || !Array.isArray(object)) return undefined
  const element = /^\[((?:"(?:\\.|[^"\\])*"|[^\]"])*)\]/.exec(path)
  const index = element ? object.findIndex((item, at) => isMeant(item, at, element[1] ?? '')) : -1
  return element && index >= 0 ? below(String(index), object[index], path.slice(element[0].length)) : undefined
}

function below(part: string, object: unknown, path: string): string[] | undefined {
  const rest = placeOf(object, path)
  return rest && [part, ...rest]
}

/** `name="web",port=80` by keys, `="x"` by value, `0` by place. */
function isMeant(item: unknown, at: number, selector: string): boolean {
  if (selector.startsWith('=')) return JSON.stringify(item) === selector.slice(1)
  if (/^\d+$/.test(selector)) return at === Number(selector)
  const pairs = [...selector.matchAll(/(?:^|,)([^=,]+)=("(?:\\.|[^"\\])*(?:"|$)|[^",][^,]*|)/g)]
  return isRecord(item) && pairs.length > 0 && pairs.every(([, key = '', value]) => agrees(item, key, value))
}

/** A key with a default (`protocol`) may be missing in what we wrote. */
const agrees = (item: Record<string, unknown>, key: string, value: string | undefined): boolean =>
  !(key in item) || JSON.stringify(item[key]) === value
