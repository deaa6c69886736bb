import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { equal, ok } from 'uvu/assert'
import { describe } from '../support/suite.ts'

const ROOT = join(import.meta.dirname, '../..')

interface Row {
  what: string
  file: string
  title: string
}

function rowsOf(page: string): Row[] {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8')
  return [...text.matchAll(/^\| (.*) \| `([\w/-]+)` \| (.+) \|$/gm)].map(([, what = '', file = '', title = '']) => ({
    ...{ what, file, title },
  }))
}

/** As a title, as a row of a table of cases, or as the beginning of a title that each case fills in. */
function isThere({ file, title }: Row): boolean {
  const text = readFileSync(join(ROOT, 'test', `${file}.test.ts`), 'utf8')
  return text.includes(`'${title}'`) || text.includes(`it(\`${title} \${`)
}

describe('pages of advisories', (it) => {
  for (const page of ['gitops-advisories.md', 'proxy-advisories.md'])
    it(`name tests that are there: ${page}`, () => {
      const rows = rowsOf(page)
      ok(rows.length >= 30, `${rows.length} rows`)
      equal(
        rows.filter((row) => !isThere(row)),
        [],
      )
    })

  it('leave out none of the rules that GitOps elsewhere has taught', () => {
    const told = new Set(rowsOf('gitops-advisories.md').map(({ what }) => what.split(' ')[0]))
    equal(
      [...told],
      Array.from({ length: 27 }, (_, at) => `R${at + 1}`),
    )
  })
})
