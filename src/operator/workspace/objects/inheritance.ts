import { annotations, type CoreSecret, labels } from '../../../api/index.ts'
import { withoutEnd } from '../../../std/index.ts'
import type { FrozenVariables } from '../desired/index.ts'
import { whyReserved } from './reserved-names.ts'

/** From the weakest to the strongest. */
export const LEVELS = ['group', 'project', 'user', 'workspace'] as const
type Level = (typeof LEVELS)[number]
type Listed = NonNullable<FrozenVariables['list']>[number]

/** One value, in base64, and where it is from. */
export interface Value {
  name: string
  type: Listed['type']
  level: Level
  data: string
}

/** Whose variables a workspace inherits. */
export interface Heir {
  owner: string | undefined
  /** Names of its project: that of the GitProject, and its path. */
  project: { name: string; path: string | undefined } | undefined
}

export interface Inheritance {
  values: Value[]
  list: Listed[]
  leftOut: string[]
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/
const LONGEST_NAME = 255
/** An environment variable longer than this cannot be given to a program. */
const LONGEST_VARIABLE = 64 * 1024
const LONGEST_FILE = 512 * 1024
const MOST_TOLD = 64

/** Why a variable cannot be; undefined where it can. Its value is not told. */
export function whyNot({ name, type, level, data }: Value): string | undefined {
  if (name.length > LONGEST_NAME || !NAME.test(name))
    return 'its name must be letters, digits, "_", "." and "-", and begin with none of the digits and the last two'
  const reserved = whyReserved(name, level !== 'workspace')
  if (reserved) return reserved
  const bytes = Buffer.from(data, 'base64')
  const most = type === 'file' ? LONGEST_FILE : LONGEST_VARIABLE
  if (bytes.length > most) return `its value has ${bytes.length} bytes; ${type} variables have ${most} at most`
  return type === 'environment' && bytes.includes(0) ? 'its value has a zero byte, which only a file can have' : undefined
}

/** The own values of a workspace over those that it inherits. A later level overrides an earlier one, whatever its type. */
export function inherit(own: readonly Value[], secrets: readonly CoreSecret[], heir: Heir): Inheritance {
  const leftOut: string[] = []
  const inherited = ofHeir(secrets, heir).flatMap(({ secret, level }) =>
    valuesIn(secret, level).filter((value) => {
      const why = whyNot(value)
      if (why) leftOut.push(`${value.name} of Secret ${secret.metadata.name} (${level}): ${why}`)
      return why === undefined
    }),
  )
  const winners = new Map<string, Value>()
  const seen = new Map<string, Set<Level>>()
  for (const value of [...inherited, ...own]) {
    winners.set(value.name, value)
    seen.set(value.name, (seen.get(value.name) ?? new Set()).add(value.level))
  }
  const values = [...winners.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  const list = values.map(({ name, type, level }): Listed => {
    const overrides = LEVELS.filter((each) => each !== level && seen.get(name)?.has(each))
    return { name, type, level, ...(overrides.length > 0 && { overrides }) }
  })
  return { values, list, leftOut: told(leftOut) }
}

const told = (all: string[]): string[] =>
  all.length <= MOST_TOLD ? all : [...all.slice(0, MOST_TOLD - 1), `and ${all.length - MOST_TOLD + 1} more`]

interface Source {
  secret: CoreSecret
  level: Level
  depth: number
}

/** Those that are for this workspace, the weakest first: outer groups before inner ones, then by name. */
function ofHeir(secrets: readonly CoreSecret[], heir: Heir): Source[] {
  const rank = ({ secret, level, depth }: Source) =>
    `${LEVELS.indexOf(level)} ${String(depth).padStart(4, '0')} ${secret.metadata.name}`
  return secrets.flatMap((secret) => sourceOf(secret, heir)).sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
}

/** The metadata of a Secret says which workspaces inherit from it. */
export const isInherited = (secret: CoreSecret, heir: Heir): boolean => sourceOf(secret, heir).length > 0

function sourceOf(secret: CoreSecret, heir: Heir): Source[] {
  const { labels: marks = {}, annotations: notes = {} } = secret.metadata
  const level = LEVELS.find((each) => each === marks[labels.variablesLevel])
  const of = notes[annotations.variablesOf] ?? ''
  if (level === 'group' && isGroupOf(heir, of)) return [{ secret, level, depth: of === '' ? 0 : of.split('/').length }]
  if (level === 'user' && of !== '' && of === heir.owner) return [{ secret, level, depth: 0 }]
  if (level === 'project' && of !== '' && (of === heir.project?.name || of === heir.project?.path))
    return [{ secret, level, depth: 0 }]
  return []
}

/** Without a path it is the group of everybody in the namespace. */
const isGroupOf = ({ project }: Heir, group: string): boolean =>
  group === '' || (project?.path ?? '').startsWith(`${withoutEnd(group, '/')}/`)

function valuesIn({ metadata, data = {} }: CoreSecret, level: Level): Value[] {
  const type = metadata.annotations?.[annotations.variablesType] === 'file' ? 'file' : 'environment'
  return Object.entries(data).map(([name, value]) => ({ name, type, level, data: value }))
}
