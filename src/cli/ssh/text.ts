import { blockOf, pinsOf, type SshEntry, type SshPlaces } from './entry.ts'

const HEAD = '# Written by `berth ssh-config --write`, which writes it again; `berth ssh-config --remove` takes it away.\n\n'
const SECTION = '# Namespace '

/** Pure. The configuration with these workspaces; those of other namespaces, which it had `before`, stay. */
export function configWith(entries: readonly SshEntry[], places: SshPlaces, before = '', isRewritten = everyOne): string {
  const others = sectionsOf(before).filter(({ namespace }) => !isRewritten(namespace))
  const namespaces = [...new Set(entries.map(({ namespace }) => namespace))]
  const own = namespaces.map((namespace) => ({
    namespace,
    text: `${SECTION}${namespace}\n\n${entries.flatMap((each) => (each.namespace === namespace ? [blockOf(each, places)] : [])).join('\n')}`,
  }))
  const sections = [...others, ...own].toSorted((one, other) => (one.namespace < other.namespace ? -1 : 1))
  return HEAD + sections.map(({ text }) => text).join('\n')
}

const everyOne = (_namespace: string): boolean => true

/** The file is ours: a line that names a namespace begins what it has of that. */
function sectionsOf(text: string): { namespace: string; text: string }[] {
  const [, ...sections] = `\n${text}`.split(`\n${SECTION}`)
  return sections.map((each) => ({ namespace: each.split('\n', 1)[0] ?? '', text: `${SECTION}${each.trimEnd()}\n` }))
}

/** Pure. The same for the keys. */
export function knownHostsWith(entries: readonly SshEntry[], before = '', isRewritten = everyOne): string {
  const others = before.split('\n').filter((line) => line !== '' && !isRewritten(namespaceIn(line)))
  return others.map((line) => `${line}\n`).join('') + entries.map(pinsOf).join('')
}

/** Of `web.team-a.berth ssh-ed25519 …`. */
const namespaceIn = (line: string): string => line.split(' ', 1)[0]?.split('.')[1] ?? ''

/**
 * Pure. The person's own configuration with a line that includes ours; the rest stays as it is, to the byte. It stands first: behind a
 * `Host` it would count for that alone.
 */
export function withInclude(text: string, include: string): string {
  const head = /^[ \t]*(?:host|match)[ \t=]/im.exec(text)?.index ?? text.length
  return linesOf(text.slice(0, head)).some((line) => isLine(line, include)) ? text : `${include}\n${text}`
}

/** Pure. Without any such line. */
export const withoutInclude = (text: string, include: string): string =>
  linesOf(text)
    .filter((line) => !isLine(line, include))
    .join('')

/** With their ends. */
const linesOf = (text: string): string[] => text.split(/(?<=\n)/)

const isLine = (line: string, include: string): boolean => line.trim() === include
