import { hash } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import { Failure, LRUCache, type ReadYaml, type YamlProblem } from '../../std/index.ts'
import { type Manifest, manifestsIn, type Read } from './manifest.ts'

/** Characters of text whose objects are remembered. */
const MOST = 32 * 2 ** 20
/** Characters after which others get their turn. */
const BREATH = 16 * 2 ** 10

/** The objects of a file with the places where they stand, and what is wrong with the rest. */
export interface Found {
  manifests: Manifest[]
  problems: string[]
}

/** Reads texts of many documents; what stands in a document that was read before is not parsed again. */
export interface Reader {
  read(source: string, text: string, how?: How): Promise<Found>
}

interface How {
  /** Where nobody has the text before him lines would lead nowhere. */
  withoutLines?: boolean
  /** On whose behalf. */
  tenant?: string | undefined
}

export function createReader(yaml: ReadYaml): Reader {
  const known = new LRUCache<string, Read>({ maxSize: MOST })
  let sinceBreath = 0
  const remembered = async (part: string, placeOf: PlaceOf, above: number, tenant?: string): Promise<Read> => {
    const key = hash('sha256', part)
    const before = known.get(key)
    if (before) return before
    const text = await yaml(part, tenant)
    if (text.problem?.isTooLarge) throw tooLarge(placeOf(above + text.problem.line, text.problem.column), text.problem)
    const read = manifestsIn(text)
    known.set(key, read, { size: part.length + 1 })
    return read
  }
  return {
    async read(source, text, { withoutLines, tenant } = {}) {
      const placeOf: PlaceOf = (...numbers) => (withoutLines ? source : [source, ...numbers].join(':'))
      const found: Found = { manifests: [], problems: [] }
      let above = 0
      let before = 0
      for (const part of partsOf(text)) {
        sinceBreath += part.length
        if (sinceBreath > BREATH) {
          sinceBreath = 0
          await breathe()
        }
        const read = await remembered(part, placeOf, above, tenant)
        for (const { line, ...object } of read.objects) found.manifests.push({ ...object, source: placeOf(above + line) })
        for (const { line, column, document, what } of read.faults)
          found.problems.push(
            column === undefined
              ? `${placeOf(above + line)}: document ${before + document} ${what}`
              : `${placeOf(above + line, column)}: document ${before + document}: ${what}`,
          )
        before += read.documents
        above += linesIn(part)
      }
      return found
    },
  }
}

/** The file with line and column. */
type PlaceOf = (...numbers: number[]) => string

/** Not remembered, because it may be a matter of the time that there was. */
const tooLarge = (where: string, { message }: YamlProblem): Failure =>
  new Failure('too-large', `${where}: ${message}`, {
    reason: 'DocumentTooLarge',
    remedy: 'Make several documents of it, or several objects.',
  })

/** A line that begins with three dashes begins a document, wherever it stands; only directives reach over it. */
export function partsOf(text: string): string[] {
  if (text.startsWith('%') || text.includes('\n%')) return [text]
  const parts: string[] = []
  let begin = 0
  for (let at = text.indexOf('\n---'); at >= 0; at = text.indexOf('\n---', at + 1)) {
    if (/\S/.test(text.charAt(at + 4))) continue
    parts.push(text.slice(begin, at + 1))
    begin = at + 1
  }
  return [...parts, text.slice(begin)]
}

function linesIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}
