import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { blocksOf } from './docs/parts.ts'
import { execute } from './runner/execute.ts'
import { describe } from './support/suite.ts'

const ROOT = join(import.meta.dirname, '..')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const SCRIPTS: Record<string, string> = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts

/** The lines of the README's shell blocks, without comments, prompts and what follows `&&`'s partner on the same line. */
const commands = blocksOf(README, 'sh')
  .flatMap((block) => block.split('\n'))
  .flatMap((line) =>
    line
      .replace(/^\$ /, '')
      .replace(/\s+#.*$/, '')
      .split('&&'),
  )
  .map((line) => line.trim())
  .filter((line) => line !== '' && !line.startsWith('#'))

const run = (program: string, ...parameters: string[]) =>
  execute({ title: program, program, parameters }, new AbortController().signal)

describe('the README', (it) => {
  it('is short', () => assert.ok(README.split('\n').length < 150))
  it('shows commands', () => assert.ok(commands.length >= 5, `found ${commands.length}`))

  for (const command of new Set(commands)) {
    const [, verb] = /^npm run -s berth -- (\S+)/.exec(command) ?? []
    const [, script] = /^npm (?:run )?([a-z]+)/.exec(command) ?? []
    const [, path] = /^kubectl (?:apply|create) .*?-[fk] (\S+)/.exec(command) ?? []
    if (verb && !verb.startsWith('-')) it(`names a verb that is there: ${command}`, () => hasVerb(verb))
    else if (script && script !== 'run') it(`names a script that is there: ${command}`, () => hasScript(script))
    else if (path) it(`names files that are there: ${command}`, () => assert.ok(existsSync(join(ROOT, path)), path))
  }

  it('links to files that are there', () => {
    const targets = [...README.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = '']) => target)
    assert.equal(
      targets.filter((target) => !existsSync(join(ROOT, target))),
      [],
    )
  })
})

async function hasVerb(verb: string): Promise<void> {
  const { code, output } = await run(process.execPath, join(ROOT, 'src/cli/main.ts'), verb, '--help')
  assert.is(code, 0, output)
}

const hasScript = (script: string): void => assert.ok(['ci', 'install'].includes(script) || SCRIPTS[script], script)
