import * as assert from 'uvu/assert'
import { parseAllDocuments } from 'yaml'
import { table } from '../../src/cli/output.ts'
import { reportTo } from '../../src/cli/report.ts'
import { coloured, paintFor, plain } from '../../src/cli/shell.ts'
import { describe } from '../support/suite.ts'
import { berth, startBerth } from './berth.ts'

describe('output', (it) => {
  it('keeps tables within 80 columns by wrapping the last column', () => {
    const rows = [{ name: 'claim', text: 'a sentence that goes on and on '.repeat(6).trim() }]
    const printed = table(rows, [
      { title: 'NAME', of: ({ name }) => name },
      { title: 'TEXT', of: ({ text }) => text },
    ])
    const lines = printed.split('\n')
    assert.ok(lines.length > 3)
    for (const line of lines) assert.ok(line.length <= 80, line)
    assert.is(
      lines
        .slice(1)
        .map((line) => line.slice(7).trim())
        .join(' '),
      rows[0]?.text,
    )
  })

  it('puts the last column below the others where they leave no room for it', () => {
    const text = 'a sentence that goes on and on '.repeat(6).trim()
    const printed = table(
      [{ name: 'x'.repeat(60), text }],
      [
        { title: 'NAME', of: ({ name }) => name },
        { title: 'TEXT', of: (row) => row.text },
      ],
    )
    const [head, fixed, ...lines] = printed.split('\n')
    assert.equal([head, fixed], ['NAME', 'x'.repeat(60)])
    assert.is(lines.map((line) => line.trim()).join(' '), text)
    for (const line of lines) assert.ok(line.startsWith('    ') && line.length <= 80, line)
  })

  it('colours where a person looks, and not under NO_COLOR', () => {
    assert.is(paintFor({ isTTY: true }, { TERM: 'xterm' }), coloured)
    assert.is(paintFor({ isTTY: true }, { TERM: 'xterm', NO_COLOR: '1' }), plain)
    assert.is(paintFor({ isTTY: true }, { TERM: 'dumb' }), plain)
    assert.is(paintFor({ isTTY: false }, {}), plain)
    assert.is(paintFor({ isTTY: false }, { FORCE_COLOR: '1' }), coloured)
    assert.is(paintFor({ isTTY: true }, { FORCE_COLOR: '1', NO_COLOR: '1' }), plain)
  })

  it('draws a bar on a terminal, and a line for each tenth elsewhere', () => {
    const said: string[] = []
    const say = (text: string) => void said.push(text)
    const onTerminal = reportTo({ say, lively: true })
    onTerminal.progress({ what: 'building', done: 1, total: 2 })
    onTerminal.line('done')
    assert.match(said.join(''), '[############............]  50 % building')
    assert.ok(said.join('').endsWith('\r\u001B[Kdone\n'))
    said.length = 0
    const inLog = reportTo({ say, lively: false })
    for (let done = 0; done <= 100; done++) inLog.progress({ what: 'building', done, total: 100 })
    assert.is(said.length, 11)
  })

  it('prints the definitions as YAML, as one JSON list and as a table', async () => {
    const yaml = await berth(['crds'])
    const documents = parseAllDocuments(yaml.stdout)
    const list: { items: { metadata: { name: string } }[] } = JSON.parse((await berth(['crds', '-o', 'json'])).stdout)
    assert.equal(
      documents.map((document) => document.getIn(['metadata', 'name'])),
      list.items.map(({ metadata }) => metadata.name),
    )
    assert.ok(list.items.length >= 13)
    const lines = (await berth(['crds', '-o', 'table'])).stdout.trim().split('\n')
    assert.is(lines.length, list.items.length + 1)
    for (const line of lines) assert.ok(line.length <= 80, line)
  })

  it('reaches the end of a pipe whole', async () => {
    const { stdout, code } = await startBerth(['crds', '-o', 'json']).ended
    assert.is(code, 0)
    assert.ok(JSON.parse(stdout).items.length >= 13)
  })

  it('prints the version of package.json', async () => {
    const { version } = JSON.parse((await berth(['version', '-o', 'json'])).stdout)[0]
    assert.match(version, /^\d+\.\d+\.\d+$/)
    assert.is((await berth(['--version'])).stdout.trim(), version)
  })
})
