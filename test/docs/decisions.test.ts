import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { equal, is, ok } from 'uvu/assert'
import { describe } from '../support/suite.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const FOLDER = join(ROOT, 'docs', 'decisions')
const MOST = 60
const SECTIONS = ['Context', 'Decision', 'Consequences', 'What would change our mind']

const names = readdirSync(FOLDER).filter((name) => name !== 'README.md')
const numbers = new Set(names.map((name) => name.slice(0, 4)))
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')

/** Wherever a decision may be referred to. */
const PLACES =
  'CHANGELOG.md CONTRIBUTING.md README.md SECURITY.md crds deploy docs examples hack kustomization.yaml src static test'.split(
    ' ',
  )

const filesBelow = (path: string): string[] =>
  statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.(ts|md|ya?ml|proto|html|css|js)$/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name))
    : [path]

/** What is referred to: a file name with its number, or the number alone. */
const referredIn = (text: string): string[] =>
  [...text.matchAll(/\b(?:decisions?|ADR)[ /](\d{2,4}(?:-[a-z0-9-]+\.md)?)/gi)].map(([, to = '']) => to)

const isThere = (to: string): boolean => (to.includes('-') ? names.includes(to) : numbers.has(to.padStart(4, '0')))

describe('the decisions', (it) => {
  it('are few enough to be read', () => {
    ok(names.length <= MOST, `${names.length} pages; merge one into another page of its subject`)
    is(numbers.size, names.length, 'a number is given twice')
  })

  it('have one shape', () => {
    for (const name of names) {
      const text = read(name)
      ok(text.startsWith(`# ${name.slice(0, 4)}. `), `${name}: begins with "# NNNN. Sentence"`)
      const [, successor] = /^Status: (?:accepted|superseded by (\d{4}))$/m.exec(text) ?? [undefined, 'no status']
      ok(successor === undefined || numbers.has(successor), `${name}: Status: accepted, or superseded by a page`)
      const sections = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)
      equal(sections, SECTIONS, name)
    }
  })

  it('are all in the index, with title and status', () => {
    const index = read('README.md')
    for (const name of names) {
      const [, title = ''] = /^# (.+)$/m.exec(read(name)) ?? []
      const [, status = ''] = /^Status: (.+)$/m.exec(read(name)) ?? []
      ok(index.includes(`| [${title}](${name}) | ${status} | `), `${name}: no line in docs/decisions/README.md`)
    }
    for (const [, to = ''] of index.matchAll(/\]\((\d{4}-[^)]+)\)/g)) ok(names.includes(to), `the index names ${to}`)
  })

  it('are there wherever something refers to one', () => {
    const files = PLACES.map((place) => join(ROOT, place)).filter((path) => statSync(path, { throwIfNoEntry: false }))
    for (const file of files.flatMap(filesBelow)) {
      const text = readFileSync(file, 'utf8')
      for (const to of referredIn(text)) ok(isThere(to), `${file} refers to decision ${to}`)
    }
    for (const name of names)
      for (const [, to = ''] of read(name).matchAll(/\]\((\d{4}-[^)#]+)/g)) ok(names.includes(to), `${name} refers to ${to}`)
  })
})
