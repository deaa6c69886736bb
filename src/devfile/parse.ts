import { LineCounter, parseDocument } from 'yaml'
import { checkAgreement } from './agreement.ts'
import { readComponents } from './component.ts'
import type { Devfile } from './devfile.ts'
import { Place, type Sheet } from './node.ts'
import type { Problem } from './problem.ts'

/** 3 MB, as its best known reader has it. */
const LARGEST = 3 * 1024 * 1024

const TOP = [
  'schemaVersion',
  'metadata',
  'attributes',
  'variables',
  'components',
  'commands',
  'events',
  'parent',
  'projects',
  'starterProjects',
  'dependentProjects',
]
const WITHOUT_EFFECT = ['commands', 'projects', 'starterProjects', 'dependentProjects']
const VERSION = /^2\.[0-3]\.\d+(-[0-9A-Za-z.-]+)?$/

/** The devfile in this text, or everything that is wrong with it, in the order of the text. */
export function parseDevfile(text: string): { devfile: Devfile } | { problems: Problem[] } {
  if (text.length > LARGEST) return { problems: [{ line: 1, column: 1, path: '', message: 'a devfile is at most 3 MB long' }] }
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, version: '1.2' })
  const problems = document.errors.map(({ message, linePos }): Problem => {
    const [{ line, col } = { line: 1, col: 1 }] = linePos ?? []
    return { line, column: col, path: '', message: message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? '' }
  })
  if (problems.length > 0) return { problems }
  const sheet: Sheet = { document, lines, problems, warnings: [], fill: new Map(), aliases: 0 }
  const devfile = readDevfile(sheet)
  return devfile && problems.length === 0 ? { devfile } : { problems: problems.sort(byPosition) }
}

const byPosition = (a: Problem, b: Problem): number => a.line - b.line || a.column - b.column

function readDevfile(sheet: Sheet): Devfile | undefined {
  const top = new Place(sheet, sheet.document.contents, '').mapping(TOP)
  if (!top) return undefined
  sheet.fill = readVariables(top.at('variables'))
  const version = top.at('schemaVersion')
  const schemaVersion = version.required(version.matching(VERSION, 'is not a schema version from 2.0.0 to 2.3.x')) ?? ''
  refuseParts(top)
  const components = readComponents(top.at('components'))
  if (components.containers.length === 0)
    top.at('components').problem('a workspace needs at least one component of kind container')
  checkAgreement(components)
  const name = top.at('metadata').at('name').text()
  return {
    schemaVersion,
    name,
    containers: components.containers.map(({ value }) => value),
    volumes: components.volumes.map(({ value }) => value),
    warnings: sheet.warnings,
  }
}

/** What would change the workspace is refused while it is not done; what only sits beside it is noted. */
function refuseParts(top: Place): void {
  if (top.at('parent').exists) top.at('parent').problem('parents are not supported; write their components into this devfile')
  for (const event of top.at('events').keys()) {
    if (top.at('events').at(event).list().length > 0)
      top.at('events').at(event).problem('events are not supported; leave them out')
  }
  for (const part of WITHOUT_EFFECT) if (top.at(part).list().length > 0) top.at(part).warning('is read, but has no effect')
}

function readVariables(place: Place): Map<string, string> {
  const fill = new Map<string, string>()
  for (const name of place.keys()) {
    const value = place.at(name).text()
    if (value !== undefined) fill.set(name, value)
  }
  return fill
}
