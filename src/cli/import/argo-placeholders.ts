import { isRecord } from '../../std/index.ts'

/** What stands in the place of each placeholder: `path.basename` is `${directory}`. */
export type Words = ReadonlyMap<string, string>

/** What is between two braces, of both ways in which a template of an ApplicationSet may be written. */
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g

/** The placeholders of a template, by their names in the simpler of both: `path.basename`. */
export function placeholdersIn(template: unknown): Set<string> {
  const found = new Set<string>()
  mapTexts(template, (text) => text.replaceAll(PLACEHOLDER, (_, inner: string) => String(found.add(nameOf(inner)).size)))
  return found
}

/** The template with variables of ours; `unknown` gets every placeholder that is more than a name, a name of nothing, or in a key. */
export function withVariables(template: unknown, words: Words, unknown: Set<string>): unknown {
  for (const key of keysIn(template)) if (isTemplated(key)) unknown.add(key)
  return mapTexts(template, (text) =>
    // What looks like a variable of ours is none yet.
    text
      .replaceAll('${', () => '$${')
      .replaceAll(PLACEHOLDER, (whole, inner: string) => {
        const word = words.get(nameOf(inner))
        if (word === undefined) unknown.add(whole)
        return word ?? whole
      }),
  )
}

export const isTemplated = (text: string): boolean => text.includes('{{')

const keysIn = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(keysIn)
  return isRecord(value) ? [...Object.keys(value), ...Object.values(value).flatMap(keysIn)] : []
}

/** `{{- .metadata.name -}}`, `{{metadata.name}}`, and `{{ index .metadata.labels "a/b" }}` for what no name can say in Go. */
function nameOf(inner: string): string {
  const text = inner.replace(/^-/, '').replace(/-$/, '').trim()
  const [, map, key] = /^index \.([\w.]+) "([^"]*)"$/.exec(text) ?? []
  if (map !== undefined) return `${map}.${key}`
  return text.replace(/^\./, '')
}

export function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, map))
  return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapTexts(each, map)])) : value
}
