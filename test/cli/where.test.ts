import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, not, ok } from 'uvu/assert'
import { TOOLS } from '../../src/adapters/control-plane/index.ts'
import { type ReleaseSite, releaseSite } from '../support/release-site.ts'
import { describe } from '../support/suite.ts'
import { berth, tooWide } from './berth.ts'

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
    const { code, stdout, stderr } = await where(
      { BERTH_RELEASES: 'off', KUBECONFIG: '/some/where', PATH: '/nowhere' },
      '-o',
      'json',
    )
    is(code, 5)
    const sources: { from: string; state: string; why: string }[] = JSON.parse(stdout)
    equal(
      sources.map(({ why }) => why),
      ['not given (KUBECONFIG is for berth tour)', 'not set', 'empty', 'switched off by BERTH_RELEASES', 'Go is not installed'],
    )
    match(stderr, /^None of them has the programs\.\nUnset BERTH_RELEASES, which is off\.\nLet this machine reach/)
    for (const tool of TOOLS) match(stderr, tool)
  })

  it('says in 80 columns what would help, first of all another mirror where one is named', async () => {
    const { stdout, stderr } = await where({ BERTH_RELEASES: 'http://127.0.0.1:1', PATH: '/nowhere' })
    match(stderr, /^None of them has the programs\.\nCorrect BERTH_RELEASES or unset it\.\n/)
    equal([...tooWide(stdout), ...tooWide(stderr)], [])
  })

  it('passes over a Go that is too old', async () => {
    const go = join(home, 'go')
    writeFileSync(go, '#!/bin/sh\necho go version go1.25.9 linux/amd64\n', { mode: 0o755 })
    const { stdout } = await where({ BERTH_RELEASES: 'off', PATH: home }, '-o', 'json')
    rmSync(go)
    match(JSON.parse(stdout).at(-1).why, /^go1\.25\.9 is older than 1\.\d+/)
  })

  it('looks only for kubectl where a cluster is named, and reads the file that names it', async () => {
    const file = join(home, 'kind.yaml')
    writeFileSync(file, kubeconfig('https://127.0.0.1:6443'))
    const kubectl = join(home, 'kubectl')
    writeFileSync(kubectl, '#!/bin/sh\n', { mode: 0o755 })
    const { stdout } = await where({ PATH: home }, '--kubeconfig', file, '-o', 'json')
    equal(JSON.parse(stdout), [
      { from: '--kubeconfig', state: 'used', why: `${file} names https://127.0.0.1:6443` },
      { from: 'kubectl in PATH', state: 'used', why: kubectl },
    ])
    writeFileSync(kubectl, '#!/bin/sh\nexit 1\n')
    const without = await where({ BERTH_RELEASES: site.url, PATH: home }, '--kubeconfig', file, '-o', 'json')
    const sources: { from: string; state: string }[] = JSON.parse(without.stdout)
    equal(
      sources.filter(({ state }) => state === 'used').map(({ from }) => from),
      ['--kubeconfig', 'release binaries'],
      'one that does not run is none',
    )
    rmSync(kubectl)
    const nothing = await where({ BERTH_RELEASES: 'off', PATH: '/nowhere' }, '--kubeconfig', file)
    match(nothing.stderr, 'Or put kubectl into a folder')
    not.match(nothing.stderr, 'name a cluster')
    rmSync(file)
    const { code, stderr } = await where({}, '--kubeconfig', file)
    is(code, 7)
    match(stderr, file)
  })
})

const kubeconfig = (server: string) => `
apiVersion: v1
kind: Config
clusters: [{ name: one, cluster: { server: "${server}" } }]
contexts: [{ name: one, context: { cluster: one, user: one } }]
users: [{ name: one, user: {} }]
current-context: one
`
