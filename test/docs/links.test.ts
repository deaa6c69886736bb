import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import GithubSlugger from 'github-slugger'
import { equal, ok } from 'uvu/assert'
import { describe } from '../support/suite.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const PAGES = ['*.md', 'docs/**/*.md', 'examples/**/*.md'].flatMap((pattern) => globSync(pattern, { cwd: ROOT }))

/** A page without its code, where brackets and number signs mean something else. */
const proseOf = (path: string): string =>
  readFileSync(path, 'utf8')
    .replace(/^ *```[\s\S]*?^ *```/gm, '')
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]#]/g, ''))

const linksIn = (path: string): string[] =>
  [...proseOf(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => to).filter((to) => !/^[a-z]+:/.test(to))

/** As GitHub names the headings. */
function anchorsIn(path: string): Set<string> {
  const slugger = new GithubSlugger()
  const headings = readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)
  return new Set(Array.from(headings, ([, heading = '']) => slugger.slug(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'))))
}

/** Why a link leads nowhere. */
function faultOf(page: string, to: string): string | undefined {
  const [path = '', anchor] = to.split('#')
  const target = path === '' ? resolve(ROOT, page) : resolve(ROOT, dirname(page), path)
  if (!existsSync(target)) return `${page}: ${to} is not there`
  if (anchor === undefined || statSync(target).isDirectory()) return undefined
  return anchorsIn(target).has(anchor) ? undefined : `${page}: ${to} names no heading of ${relative(ROOT, target)}`
}

describe('the pages', (it) => {
  it('link to files and headings that are there', () => {
    ok(PAGES.length > 60, `${PAGES.length} pages`)
    const faults = PAGES.flatMap((page) => linksIn(join(ROOT, page)).map((to) => faultOf(page, to)))
    equal(
      faults.filter((fault) => fault !== undefined),
      [],
    )
  })

  it('of docs/ are all named by its index', () => {
    const index = new Set(linksIn(join(ROOT, 'docs', 'README.md')))
    equal(
      globSync('*.md', { cwd: join(ROOT, 'docs') })
        .filter((page) => page !== 'README.md' && !index.has(page))
        .sort(),
      [],
    )
  })
})
