import { isRecord } from '../../std/index.ts'

/** JSON pointers, RFC 6901: `/spec/template/metadata/annotations/example.com~1seen`. */
export const partsOf = (pointer: string): string[] => pointer.split('/').slice(1).map(unescaped)

/** One part of a pointer as the name that it stands for. */
export const unescaped = (part: string): string => (part.includes('~') ? part.replaceAll('~1', '/').replaceAll('~0', '~') : part)

export const pointerOf = (parts: readonly (string | number)[]): string =>
  parts.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** The value there; `undefined` also where the way to it is missing. */
export function valueAt(object: unknown, parts: readonly string[]): unknown {
  let at: unknown = object
  for (const part of parts) {
    if (Array.isArray(at)) at = at[Number(part)]
    else if (isRecord(at) && Object.hasOwn(at, part)) at = at[part]
    else return undefined
  }
  return at
}

/** A copy with another value there, or with nothing; as it is where the way to it is missing. */
export function withValueAt<T>(object: T, parts: readonly string[], value: unknown): T
export function withValueAt(object: unknown, parts: readonly string[], value: unknown): unknown {
  const [part, ...rest] = parts
  if (part === undefined) return value
  if (Array.isArray(object)) {
    const index = Number(part)
    if (!(index in object)) return object
    if (rest.length === 0 && value === undefined) return object.toSpliced(index, 1)
    return object.with(index, withValueAt(object[index], rest, value))
  }
  if (!isRecord(object)) return object
  if (rest.length > 0) return Object.hasOwn(object, part) ? { ...object, [part]: withValueAt(object[part], rest, value) } : object
  if (value !== undefined) return { ...object, [part]: value }
  const { [part]: _, ...others } = object
  return others
}
