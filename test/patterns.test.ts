import { join } from 'node:path'
import { check } from 'recheck'
import * as assert from 'uvu/assert'
import { readSources } from './architecture/source.ts'
import { isWritten } from './architecture/violations.ts'
import { describe } from './support/suite.ts'

const ROOT = join(import.meta.dirname, '..')

/** Milliseconds for one of them. Those that are linear take three seconds at most on a machine that does nothing else. */
const PATIENCE = 120_000

/**
 * What it tries is counted in characters that were read, which are the same in every run. By itself it also stops by the time, and on
 * a machine that others use it calls what it had to stop quadratic.
 */
const COUNTED = { seedingTimeout: null, incubationTimeout: null, attackTimeout: null }

/** Whether the time that a search for it takes can grow faster than the text. */
async function flawOf(source: string, flags: string): Promise<string | undefined> {
  const found = await check(source, flags, { timeout: PATIENCE, ...COUNTED })
  if (found.status === 'safe') return undefined
  return found.status === 'vulnerable' ? found.complexity.summary : `not known: ${found.error.kind}`
}

describe('patterns of src/', (it) => {
  it('take a time that grows with the text and not faster, whatever a stranger wrote', async () => {
    const sources = readSources(ROOT, 'src').filter(isWritten)
    const written = sources.flatMap(({ file, patterns }) => patterns.map((pattern) => ({ file, ...pattern })))
    const flaws: string[] = []
    for (const { file, source, flags, line } of written) {
      const flaw = await flawOf(source, flags)
      if (flaw !== undefined) flaws.push(`${file}:${line}: /${source}/${flags}: ${flaw}`)
    }
    assert.equal(flaws, [])
    assert.ok(written.length > 300, `${written.length} patterns`)
  })
})

describe('the checker of patterns', (it) => {
  it('sees what is exponential, what is quadratic, and what is so because a search begins anywhere', async () => {
    assert.equal(await flawOf('^(a|a)*$', ''), 'exponential')
    assert.equal(await flawOf('^a*a*$', ''), '2nd degree polynomial')
    assert.equal(await flawOf('a+$', ''), '2nd degree polynomial')
    assert.equal(await flawOf('a+', ''), undefined)
  })
})
