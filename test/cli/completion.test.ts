import { execFileSync } from 'node:child_process'
import * as assert from 'uvu/assert'
import { verbs } from '../../src/cli/verbs.ts'
import { describe } from '../support/suite.ts'
import { berth } from './berth.ts'

const complete = (script: string, words: string[]): string[] => {
  const ask = `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _berth; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', ask], { encoding: 'utf8' }).trim().split('\n')
}

describe('completion', (it) => {
  it('completes verbs, their options and formats in bash', async () => {
    const { stdout, code } = await berth(['completion', 'bash'])
    assert.is(code, 0)
    assert.equal(complete(stdout, ['berth', 'do']), ['down', 'doctor'])
    assert.ok(complete(stdout, ['berth', 'up', '--']).includes('--detach'))
    assert.equal(complete(stdout, ['berth', 'status', '-o', 'j']), ['json'])
    assert.equal(complete(stdout, ['berth', 'completion', 'f']), ['fish'])
  })

  it('completes the verbs of a group, and their options', async () => {
    const { stdout } = await berth(['completion', 'bash'])
    assert.equal(complete(stdout, ['berth', 'agent', 'cr']), ['create'])
    assert.equal(complete(stdout, ['berth', 'agent', 'token', 're']), ['revoke'])
    assert.equal(complete(stdout, ['berth', 'agent', 'token', 'add', 'dev', '--ex']), ['--expires-in'])
    assert.equal(complete(stdout, ['berth', 'agent', 'create', '-o', 'y']), ['yaml'])
    for (const name of ['zsh', 'fish']) assert.match((await berth(['completion', name])).stdout, 'expires-in', name)
  })

  it('knows every verb in zsh and fish', async () => {
    for (const name of ['zsh', 'fish']) {
      const { stdout } = await berth(['completion', name])
      for (const verb of verbs) assert.match(stdout, verb.name, `${name}: ${verb.name}`)
    }
  })
})
