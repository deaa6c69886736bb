import { isRecord } from '../../std/index.ts'
import type { ForeignFields } from './fields.ts'

/** Inside the repository; nothing for one that is not. Both tools mean the root where nothing is said. */
export function pathIn(fields: ForeignFields, name: string): string | undefined {
  const path = cleanPath(fields.text(name) ?? '.')
  if (!path.split('/').includes('..')) return path
  fields.tell(`${path} leads out of the repository.`, name)
  return undefined
}

/** `./apps/` is `apps`. */
export const cleanPath = (path: string): string =>
  path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/') || '.'

/** What stands there, where it is a mapping. */
export const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {})
