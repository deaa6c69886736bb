import * as assert from 'uvu/assert'
import { verbs } from '../../src/cli/verbs.ts'
import { describe } from '../support/suite.ts'
import { berth } from './berth.ts'

describe('help', (it) => {
  it('lists every verb and every exit code', async () => {
    const { code, stdout } = await berth(['--help'])
    assert.is(code, 0)
    for (const { name, summary } of verbs) assert.ok(stdout.includes(`  ${name} `) && stdout.includes(summary), name)
    for (const number of [0, 1, 2, 3, 4, 5, 6, 7, 8, 130]) assert.match(stdout, new RegExp(`\\b${number} \\w`))
  })

  it('explains each verb with examples, in 80 columns', async () => {
    for (const { name } of verbs) {
      const { code, stdout } = await berth([name, '--help'])
      assert.is(code, 0, name)
      assert.match(stdout, `Usage: berth ${name}`)
      assert.match(stdout, 'Examples:\n')
      assert.match(stdout, '--verbose')
      for (const line of stdout.split('\n')) assert.ok(line.length <= 80, `${name}: ${line}`)
    }
  })

  it('offers --kubeconfig where a cluster is talked to', async () => {
    for (const name of ['tour', 'up', 'status', 'doctor', 'operator', 'kas', 'version']) {
      assert.match((await berth([name, '--help'])).stdout, '--kubeconfig <file>', name)
    }
  })

  it('is the same by `help VERB`', async () => {
    assert.is((await berth(['help', 'up'])).stdout, (await berth(['up', '--help'])).stdout)
  })
})
