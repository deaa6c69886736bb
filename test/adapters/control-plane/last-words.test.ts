import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { is } from 'uvu/assert'
import { lastWords } from '../../../src/adapters/control-plane/index.ts'
import { describe } from '../../support/suite.ts'

describe('the last words of a program', (it) => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-last-words-'))
  it.after(() => rmSync(folder, { recursive: true }))

  const log = join(folder, 'log')
  for (const [line, words] of [
    ['berth: the port 80 is taken.', ': the port 80 is taken.'],
    ['sh: no such file', ': sh: no such file'],
    ['{"level":30,"message":"kas started","listen":"127.0.0.1:1"}', ''],
    ['{"message":"serving","url":"http://127.0.0.1:1"}', ''],
    ['{"level":50,"message":"the lease is lost","error":"timeout"}', ': the lease is lost: timeout'],
    ['{"level":"info","ts":"2026-11-23","msg":"serving"}', ''],
    ['{"level":"fatal","ts":"2026-11-23","msg":"discovery failed","error":"no disk"}', ': discovery failed: no disk'],
    ['I1123 00:13:51.123456   12345 server.go:12] started', ''],
    ['E1123 00:13:51.123456   12345 run.go:72] "command failed" err="no etcd"', ': "command failed" err="no etcd"'],
    [`{${'x'.repeat(300)}`, `: {${'x'.repeat(199)} …`],
    ['', ': the line before'],
  ])
    it(`are ${JSON.stringify(words)} after ${line?.slice(0, 40)}`, () => {
      writeFileSync(log, `the line before\n${line}\n`)
      is(lastWords(log), words)
    })

  it('are none where there is no log', () => is(lastWords(join(folder, 'nothing')), ''))
})
