import * as assert from 'uvu/assert'
import { createWants, type Wants } from '../../../src/engines/gitops/index.ts'
import { seconds } from '../../../src/std/index.ts'
import { type SteppedClock, steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

const SERVER = 'https://api.example.com'

describe('what syncs want', (it) => {
  let clock: SteppedClock
  let wants: Wants
  let rung: string[] = []
  it.beforeEach(() => {
    clock = steppedClock()
    wants = createWants({ clock, exists: (owner) => owner === 'silent' })
    rung = []
  })
  const want = (owner: string, keys: string[], server = SERVER) =>
    wants.declare({
      owner: { id: owner, title: `Test ${owner}` },
      server,
      keys: new Set(keys),
      commitId: 'c',
      news: () => void rung.push(owner),
    })

  it('is known of who has said so; who has not is believed to want what he keeps, if he exists', () => {
    want('one', ['a', 'b'])
    const standings = ['one', 'silent', 'stranger'].map((owner) => wants.standing(owner, SERVER, 'a'))
    assert.equal(standings, ['wants', 'wants', 'unknown'])
    assert.is(wants.standing('one', SERVER, 'c'), 'gives')
    assert.is(wants.standing('one', 'https://elsewhere.example.com', 'a'), 'gives')
  })

  it('has a rival where two want the same on one server', () => {
    want('one', ['a', 'b'])
    want('two', ['b', 'c'])
    want('far', ['a'], 'https://elsewhere.example.com')
    assert.is(wants.rival('one', SERVER, 'b')?.owner.id, 'two')
    assert.is(wants.rival('two', SERVER, 'b')?.owner.id, 'one')
    assert.is(wants.rival('one', SERVER, 'a'), undefined)
  })

  it('is told to the others at once when something is given up, and after a moment when it is claimed', async () => {
    want('one', ['a', 'b'])
    want('two', ['b'])
    assert.equal(rung, [])
    await clock.step(seconds(3))
    assert.equal(rung.sort(), ['one', 'two'])
    rung = []
    want('one', ['a'])
    assert.equal(rung, ['two'])
    wants.withdraw('two')
    assert.equal(wants.rival('one', SERVER, 'b'), undefined)
  })

  it('is contested only when both go on wanting it', async () => {
    want('one', ['b'])
    want('two', ['b'])
    assert.equal(wants.contested('one'), [])
    await clock.step(seconds(4))
    assert.equal(wants.contested('one'), [{ key: 'b', by: { id: 'two', title: 'Test two' } }])
    want('two', [])
    assert.equal(wants.contested('one'), [])
  })
})
