import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { describe } from '../support/suite.ts'
import { berth, MAIN } from './berth.ts'

const GOOD = 'schemaVersion: 2.2.0\ncomponents:\n  - { name: tools, container: { image: i } }\n'
const BAD = 'schemaVersion: 2.2.0\ncomponents:\n  - { name: Tools, container: { imge: i } }\n'

describe('validate', (it) => {
  const cwd = mkdtempSync(join(tmpdir(), 'berth-test-'))
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text)
  it.before(() => {
    write('good.yaml', GOOD)
    write('bad.yaml', BAD)
    write('child.yaml', 'schemaVersion: 2.2.0\nparent: { uri: bad.yaml }\n')
    write('far.yaml', `${GOOD}parent: { uri: "https://example.com/base.yaml" }\n`)
    write('lonely.yaml', 'schemaVersion: 2.2.0\nparent: { uri: gone.yaml }\n')
  })
  it.after(() => rmSync(cwd, { recursive: true }))

  it('says that a devfile is valid', async () => {
    const { code, stdout } = await berth(['validate', 'good.yaml'], { cwd })
    assert.is(code, 0)
    assert.is(stdout, 'good.yaml is valid.\n')
  })

  it('lists every mistake as file:line:column and exits with 1', async () => {
    const { code, stdout, stderr } = await berth(['validate', 'bad.yaml'], { cwd })
    assert.is(code, 1)
    for (const place of ['bad.yaml:3:13 ', 'bad.yaml:3:31 ', 'bad.yaml:3:33 '])
      assert.ok(stdout.includes(place), `${place}\n${stdout}`)
    assert.match(stderr, 'bad.yaml has 3 mistakes.')
  })

  it('reads standard input', async () => {
    const good = await berth(['validate', '-'], { cwd, input: GOOD })
    assert.equal([good.code, good.stdout], [0, 'stdin is valid.\n'])
    const bad = await berth(['validate', '-'], { cwd, input: BAD })
    assert.is(bad.code, 1)
    assert.match(bad.stdout, /^stdin:3:13 /m)
    assert.is(execFileSync(process.execPath, [MAIN, 'validate', '-'], { encoding: 'utf8', input: GOOD }), 'stdin is valid.\n')
  })

  it('prints the same for programs', async () => {
    const { code, stdout } = await berth(['validate', 'bad.yaml', '-o', 'json'], { cwd })
    assert.is(code, 1)
    const rows: { severity: string; rule: string; line: number; path: string }[] = JSON.parse(stdout)
    assert.equal(
      rows.map(({ severity, rule, line, path }) => `${severity} ${rule} ${line} ${path}`),
      [
        'error name 3 components[0].name',
        'error required 3 components[0].container.image',
        'error unknown-field 3 components[0].container.imge',
      ],
    )
    assert.is((await berth(['validate', 'good.yaml', '-o', 'json'], { cwd })).stdout, '[]\n')
    assert.match(
      (await berth(['validate', 'bad.yaml', '-o', 'yaml'], { cwd })).stdout,
      /^- severity: error\n {2}file: bad\.yaml\n/,
    )
  })

  it('asks what GitLab would take', async () => {
    const { code, stdout } = await berth(['validate', 'good.yaml', '--profile', 'gitlab', '-o', 'json'], { cwd })
    assert.is(code, 1)
    assert.match(stdout, "No component has 'gl/inject-editor' attribute")
  })

  it('reads parents beside the devfile, and says where they are not looked at', async () => {
    const child = await berth(['validate', 'child.yaml'], { cwd })
    assert.is(child.code, 1)
    assert.match(child.stdout, 'bad.yaml:3:13 ')
    const far = await berth(['validate', 'far.yaml'], { cwd })
    assert.is(far.code, 0)
    assert.match(far.stdout, /far\.yaml:4:9 +parent-unresolved \(warning\)/)
    assert.match(far.stdout, 'far.yaml is valid, as far as it is here: nobody has looked at what its parents bring.')
    const lonely = await berth(['validate', 'lonely.yaml'], { cwd })
    assert.is(lonely.code, 1)
    assert.match(lonely.stdout, /lonely\.yaml:2:9 +import +parent: cannot be read: gone\.yaml/)
  })

  it('knows a file that is not there, and a profile that is none', async () => {
    const gone = await berth(['validate', 'gone.yaml'], { cwd })
    assert.is(gone.code, 3)
    assert.match(gone.stderr, 'gone.yaml cannot be read. Name a file')
    assert.is((await berth(['validate', 'good.yaml', '--profile', 'strict'], { cwd })).code, 2)
  })
})
