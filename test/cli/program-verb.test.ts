import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { equal, match } from 'uvu/assert'
import { describe } from '../support/suite.ts'

const VERB = String(new URL('../../src/cli/program-verb.ts', import.meta.url))
/** A program that forgets a promise, and ends a moment later. */
const FORGETFUL = `
import { Command } from 'commander'
import { programVerb } from ${JSON.stringify(VERB)}
const command = new Command('forgetful')
const shell = { print: (line) => console.log(line) }
const run = async () => {
  void Promise.reject(new Error('nobody thought of it'))
  await new Promise((resolve) => setImmediate(resolve))
  console.log('it worked on')
}
const verb = programVerb({ description: 'Forgets.', settings: {}, examples: [], run })
verb.define(command, shell, (action) => (flags) => action(flags))
await command.parseAsync([], { from: 'user' })
`

describe('a program of an installation', (it) => {
  it('goes on for all others where a failure was forgotten, and tells of it', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module-typescript', '--eval', FORGETFUL])
    const [told = '', ...rest] = stdout.trim().split('\n')
    match(told, /nobody thought of it.*A failure was not handled/)
    equal(rest, ['it worked on'])
  })
})
