import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, not, ok } from 'uvu/assert'
import { seconds, systemClock } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'
import { type Outcome, ROOT, startBerth } from './berth.ts'

/** What hung would hang for ever: it is ended, and has no exit code then. */
async function berth(parameters: string[], env: Record<string, string>): Promise<Outcome> {
  const started = startBerth(parameters, { env })
  const cancel = systemClock.after(seconds(60), () => started.process.kill('SIGKILL'))
  const outcome = await started.ended
  cancel()
  return outcome
}

describe('the cache of compiled modules', (it) => {
  const home = mkdtempSync(join(tmpdir(), 'berth-cache-'))
  it.after(() => rmSync(home, { recursive: true }))

  it('is made where it is to be, with the folders above it', async () => {
    const { code } = await berth(['version'], { XDG_CACHE_HOME: join(home, 'a', 'b') })
    is(code, 0)
    is(readdirSync(join(home, 'a', 'b', 'berth', 'node')).length, 1)
  })

  it('is in .cache at home where nothing else is said, or nothing that can be meant', async () => {
    for (const named of [{}, { XDG_CACHE_HOME: '' }, { XDG_CACHE_HOME: 'relative' }]) {
      const { code } = await berth(['version'], { HOME: home, ...named })
      is(code, 0)
      ok(existsSync(join(home, '.cache', 'berth', 'node')))
      rmSync(join(home, '.cache'), { recursive: true })
    }
    not.ok(existsSync(join(ROOT, 'relative')))
  })

  it('is done without where it cannot be made', async () => {
    const file = join(home, 'file')
    writeFileSync(file, '')
    for (const place of [file, join(file, 'below'), '/proc/x', '/proc']) {
      const { code, stderr } = await berth(['version'], { XDG_CACHE_HOME: place })
      equal({ code, stderr }, { code: 0, stderr: '' }, place)
    }
  })
})
