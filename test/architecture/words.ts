import type { Source } from './source.ts'

/**
 * Words that are private to a house, each with the field's own. A name is refused if one of its words is among these:
 * `createShelf`, `desk`, `ShopOptions`. docs/glossary.md has the words of documents.
 */
const BANNED: Readonly<Record<string, string>> = {
  bear: 'retry',
  bench: 'context, or what it holds',
  book: 'states, or what it lists',
  concede: 'leave out',
  crew: 'workers',
  desk: 'context, options or services',
  furnish: 'build',
  hire: 'start',
  house: 'what it holds',
  knock: 'check a token',
  ledger: 'memory, or what it holds',
  premises: 'access rules',
  seat: 'place',
  shelf: 'cache, or what lies on it',
  shop: 'services',
  speechless: 'without messages',
  workshop: 'context',
  yard: 'services',
}

/** Refused words in names that a file gives, and in its own. */
export function bannedWords({ file, names }: Source): string[] {
  return [{ name: file, line: 1 }, ...names].flatMap(({ name, line }) =>
    wordsOf(name)
      .filter((word) => Object.hasOwn(BANNED, word))
      .map((word) => `${file}:${line}: ${name}: say "${BANNED[word]}" and not "${word}"`),
  )
}

/** `HTTPShops` is made of `http` and `shop`. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => (Object.hasOwn(BANNED, word.replace(/s$/, '')) ? word.replace(/s$/, '') : word))

/** Names of types that more than one file exports. */
export function sharedTypeNames(sources: readonly Source[]): string[] {
  const files = new Map<string, number>()
  for (const { exportedTypes } of sources) for (const name of new Set(exportedTypes)) files.set(name, (files.get(name) ?? 0) + 1)
  return [...files]
    .filter(([, count]) => count > 1)
    .map(([name]) => name)
    .sort()
}
