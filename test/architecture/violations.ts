import { dirname, join } from 'node:path/posix'
import { BANNED_NAMES, FREE_TYPES, LAW, LIMITS, type Room } from './law.ts'
import type { Habit, Import, Source } from './source.ts'

/** A way of looking at one file that finds sentences about it. */
type Rule = (source: Source, law: Record<string, Room>) => string[]

/** Each is a test of its own in architecture.test.ts; the title is what holds when it finds nothing. */
export const RULES: Record<string, Rule> = {
  'every file lives in a room': (source, law) => (roomOf(source.file, law) ? [] : [`${source.file}: lives in no room`]),
  'no name says nothing': ({ file }) => (file.split('/').some((part) => BANNED_NAMES.test(part)) ? [`${file}: find a name`] : []),
  'rooms import only what the law lists, and through the door': importsByLaw,
  'inside a program, rooms do not know their siblings': siblings,
  'each package has its home': packagesAtHome,
  'a door holds a comment and exports, nothing else': doors,
  'only cli touches the process and the console': processByLaw,
  'what should be and what is said is pure': pureFiles,
  'no file and no function is too long': sizes,
  'no state at module level': habit('module-level state', (file) => file !== 'cli/main.ts'),
  'no any, no enum, no default export, no non-null assertion': (source) =>
    (['any', 'enum', 'default export', 'non-null assertion'] as const).flatMap((bad) => habit(bad, () => true)(source, LAW)),
  'casts only in adapters': (source, law) => habit('cast', () => !law[roomOf(source.file, law) ?? '']?.casts)(source, law),
  'no catch swallows without a word': habit('silent catch', () => true),
  'patterns are written out, so that patterns.test.ts sees them': habit('pattern of a variable', () => true),
  'errors are Failures': habit('throw new Error', (file) => !file.startsWith('std/')),
  'time comes from the Clock': habit('timer', (file) => file !== 'std/clock.ts'),
}

function habit(which: Habit, isWrong: (file: string) => boolean): Rule {
  return ({ file, uses }) =>
    isWrong(file) ? uses.filter((use) => use.habit === which).map((use) => `${file}:${use.line}: ${which}`) : []
}

/** The longest name wins: `adapters/kube` before a room that would be called `adapters`. */
function roomOf(file: string, law: Record<string, Room>): string | undefined {
  const rooms = Object.keys(law).filter((room) => file.startsWith(`${room}/`))
  return rooms.sort((a, b) => b.length - a.length)[0]
}

const targetOf = (file: string, { from }: Import): string => join(dirname(file), from)

function importsByLaw(source: Source, law: Record<string, Room>): string[] {
  const here = roomOf(source.file, law) ?? ''
  const order = Object.keys(law)
  return source.imports.flatMap((imported) => {
    if (!imported.from.startsWith('.')) return []
    const at = `${source.file}:${imported.line}`
    const to = targetOf(source.file, imported)
    const there = roomOf(to, law)
    if (!there) return isData(to) ? [] : [`${at}: ${to} lives in no room`]
    if (there === here) return []
    if (!law[here]?.imports.includes(there)) return [`${at}: ${here} must not import ${there}`]
    if (order.indexOf(there) >= order.indexOf(here)) return [`${at}: ${there} does not stand below ${here}`]
    return to === `${there}/index.ts` ? [] : [`${at}: enter ${there} by its door, not by ${to}`]
  })
}

const isData = (path: string): boolean => path.endsWith('.json')

/** `operator/x/…` and `operator/y/…` meet only in the root files of the program, and on its ground. */
function siblings(source: Source, law: Record<string, Room>): string[] {
  const here = roomOf(source.file, law)
  const { isProgram, ground = [] } = law[here ?? ''] ?? {}
  if (!here || !isProgram) return []
  const inner = (file: string) => file.slice(here.length + 1).split('/')
  const [own, ...below] = inner(source.file)
  if (below.length === 0) return []
  return source.imports.flatMap((imported) => {
    const to = targetOf(source.file, imported)
    if (!imported.from.startsWith('.') || roomOf(to, law) !== here) return []
    const [other, ...rest] = inner(to)
    return rest.length > 0 && other !== own && !ground.includes(other ?? '')
      ? [`${source.file}:${imported.line}: sibling room ${to}`]
      : []
  })
}

function packagesAtHome(source: Source, law: Record<string, Room>): string[] {
  const here = law[roomOf(source.file, law) ?? '']
  return source.imports.flatMap(({ from, typesOnly, line }) => {
    if (from.startsWith('.') || from.startsWith('node:')) return []
    const name = from
      .split('/')
      .slice(0, from.startsWith('@') ? 2 : 1)
      .join('/')
    if (here?.packages?.includes(name) || (typesOnly && FREE_TYPES.includes(name))) return []
    return [`${source.file}:${line}: ${name} is not at home here`]
  })
}

function doors(source: Source, law: Record<string, Room>): string[] {
  const here = roomOf(source.file, law)
  if (!here || !source.file.endsWith('/index.ts')) return []
  const found: string[] = []
  const height = source.opening.trim().split('\n').length
  if (source.opening === '') found.push(`${source.file}: says nothing about the room`)
  else if (height < 3 || height > 30) found.push(`${source.file}: its comment has ${height} lines; 3 to 30 are wanted`)
  if (source.statements > 0) found.push(`${source.file}: has ${source.statements} statements beside exports`)
  return found
}

function processByLaw({ file, uses }: Source, law: Record<string, Room>): string[] {
  const allowed = law[roomOf(file, law) ?? '']?.process ?? []
  if (allowed === 'everything') return []
  return uses
    .filter(({ habit: it }) => it === 'console' || (it.startsWith('process.') && !allowed.includes(it.slice('process.'.length))))
    .map(({ habit: it, line }) => `${file}:${line}: ${it}`)
}

function pureFiles({ file, imports }: Source, law: Record<string, Room>): string[] {
  if (!law[roomOf(file, law) ?? '']?.isProgram || !/(^|\/)(desired|status)\.ts$/.test(file)) return []
  return imports
    .filter(({ from, typesOnly }) => !typesOnly && /(^|\/)adapters\//.test(from))
    .map(({ from, line }) => `${file}:${line}: imports ${from}, so it is not pure`)
}

function sizes({ file, lines, uses }: Source): string[] {
  const long = lines > LIMITS.fileLines ? [`${file}: ${lines} lines`] : []
  return [
    ...long,
    ...uses
      .filter((use) => use.habit === 'long function')
      .map(({ line }) => `${file}:${line}: a function of more than ${LIMITS.functionLines} lines`),
  ]
}

/** Cycles of files, those made of type imports included; what is loaded later is no part of them. Each is told once. */
export function cycles(sources: Source[]): string[] {
  return cyclesIn(
    new Map(
      sources.map(({ file, imports }) => [
        file,
        imports.filter(({ from, lazy }) => !lazy && from.startsWith('.')).map((to) => targetOf(file, to)),
      ]),
    ),
  )
}

function cyclesIn(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const found: string[] = []
  const walk = (file: string, path: string[]): void => {
    const at = path.indexOf(file)
    if (at >= 0) found.push([...path.slice(at), file].join(' -> '))
    if (at >= 0 || done.has(file)) return
    for (const next of edges.get(file) ?? []) walk(next, [...path, file])
    done.add(file)
  }
  for (const file of [...edges.keys()].sort()) walk(file, [])
  return found
}

/** Rooms whose folders stand in an order too: none is reached from another that it imports. */
export const ORDERED = [
  'engines/gitops',
  'engines/render',
  'engines/health',
  'engines/apply',
  'operator/gitops-deployment',
  'operator/workspace',
  'kas',
  'agent',
  'proxy',
  'cli',
]

/** Cycles of the folders inside of one room. */
export function folderCycles(sources: Source[], room: string): string[] {
  const folders = sources
    .filter(({ file }) => file.startsWith(`${room}/`))
    .map(({ file, imports }) => {
      const to = imports.filter(({ from }) => from.startsWith('.')).map((imported) => dirname(targetOf(file, imported)))
      return { folder: dirname(file), to: to.filter((other) => other !== dirname(file) && other.startsWith(`${room}/`)) }
    })
  const edges = Map.groupBy(folders, ({ folder }) => folder)
  return cyclesIn(new Map([...edges].map(([folder, files]) => [folder, files.flatMap(({ to }) => to)])))
}

/** Generated files obey their generator. */
export const isWritten = ({ file }: Source): boolean => !file.includes('/generated/')
