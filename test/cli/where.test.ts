import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, ok } from 'uvu/assert'
import { type ReleaseSite, releaseSite } from '../support/release-site.ts'
import { describe } from '../support/suite.ts'
import { berth } from './berth.ts'

describe('up --where', (it) => {
  const home = mkdtempSync(join(tmpdir(), 'berth-where-'))
  let site: ReleaseSite
  it.before(async () => {
    site = await releaseSite()
  })
  it.after(async () => {
    await site.close()
    rmSync(home, { recursive: true })
  })
  const where = (env: Record<string, string>, ...flags: string[]) =>
    berth(['up', '--where', ...flags], { env: { XDG_CACHE_HOME: home, KUBEBUILDER_ASSETS: '', PATH: '/usr/bin:/bin', ...env } })

  it('says in 80 columns which way would be taken, and why not the ones before it', async () => {
    const { code, stdout } = await where({ BERTH_RELEASES: site.url, KUBECONFIG: '' })
    is(code, 0)
    const [head, ...rows] = stdout.trimEnd().split('\n')
    match(head ?? '', /^SOURCE +STATE +WHY$/)
    equal(
      rows.filter((row) => !row.startsWith(' ')).map((row) => row.split(/ {2,}/).slice(0, 2)),
      [
        ['--kubeconfig', 'passed over'],
        ['KUBEBUILDER_ASSETS', 'passed over'],
        ['the cache', 'passed over'],
        ['release binaries', 'used'],
        ['a Go build', 'not needed'],
      ],
    )
    ok(rows.every((row) => row.length <= 80))
    equal(readdirSync(home), [], 'nothing is made')
  })

  it('has the same for programs, and fails where nothing would do', async () => {
    const { code, stdout } = await where({ BERTH_RELEASES: 'off', KUBECONFIG: '/some/where', PATH: '/nowhere' }, '-o', 'json')
    is(code, 5)
    const sources: { from: string; state: string; why: string }[] = JSON.parse(stdout)
    equal(
      sources.map(({ why }) => why),
      [
        'not given (KUBECONFIG is what berth tour asks)',
        'not set',
        'empty',
        'switched off by BERTH_RELEASES',
        'Go is not installed',
      ],
    )
  })

  it('looks no further where a cluster is named', async () => {
    const { code, stdout } = await where({}, '--kubeconfig', 'kind.yaml', '-o', 'json')
    is(code, 0)
    equal(JSON.parse(stdout), [{ from: '--kubeconfig', state: 'used', why: 'kind.yaml' }])
  })
})
