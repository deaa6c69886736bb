import { isRecord } from '../../src/std/index.ts'

/** All texts under a key, in whatever depth. */
export const textsAt = (key: string, value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap((item) => textsAt(key, item))
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === key && typeof inner === 'string' ? [inner] : textsAt(key, inner),
  )
}
