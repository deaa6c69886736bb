import * as assert from 'uvu/assert'
import { createWorkQueue } from '../../src/std/index.ts'
import { steppedClock } from '../support/clock.ts'
import { describe } from '../support/suite.ts'

describe('the work queue', (it) => {
  const group = (key: string) => key.split('/')[0] ?? ''

  const record = (concurrency = 1, each = concurrency) => {
    const clock = steppedClock()
    const done: string[] = []
    const gates = new Map<string, () => void>()
    const held = new Set<string>()
    const queue = createWorkQueue({
      clock,
      concurrency,
      each,
      groupOf: group,
      async work(key) {
        done.push(key)
        if (held.has(key)) await new Promise<void>((resolve) => gates.set(key, resolve))
      },
    })
    return { clock, done, queue, hold: (key: string) => held.add(key), release: (key: string) => gates.get(key)?.() }
  }

  it('works on a key once, however often it was added while it waited', async () => {
    const { clock, done, queue, hold, release } = record()
    hold('a/1')
    queue.add('a/1')
    for (let times = 0; times < 3; times++) queue.add('a/2')
    assert.is(queue.depth, 1)
    release('a/1')
    await clock.step(0)
    assert.equal(done, ['a/1', 'a/2'])
  })

  it('leaves room for others where a group has many keys that take long', async () => {
    const { clock, done, queue, hold, release } = record(3, 2)
    for (const key of ['a/1', 'a/2', 'a/3', 'a/4']) {
      hold(key)
      queue.add(key)
    }
    assert.equal(done, ['a/1', 'a/2'])
    queue.add('b/1')
    assert.equal(done, ['a/1', 'a/2', 'b/1'])
    await clock.step(0)
    assert.is(queue.depth, 2)
    release('a/1')
    await clock.step(0)
    assert.equal(done, ['a/1', 'a/2', 'b/1', 'a/3'])
    for (const key of ['a/2', 'a/3']) release(key)
    await clock.step(0)
    release('a/4')
    await queue.stop()
  })

  it('works on a key again that was added while it was worked on', async () => {
    const { clock, done, queue, hold, release } = record()
    hold('a/1')
    queue.add('a/1')
    queue.add('a/1')
    queue.add('a/1')
    release('a/1')
    await clock.step(0)
    assert.equal(done, ['a/1', 'a/1'])
  })

  it('does not start a key twice that is added by its own work', async () => {
    const clock = steppedClock()
    let inside = 0
    let most = 0
    let times = 0
    const queue = createWorkQueue({
      clock,
      concurrency: 2,
      groupOf: group,
      async work(key) {
        most = Math.max(most, ++inside)
        if (++times < 3) queue.add(key)
        await Promise.resolve()
        inside--
      },
    })
    queue.add('a/1')
    await clock.step(0)
    assert.equal([times, most], [3, 1])
  })

  it('takes groups in turn, so that a busy one delays nobody', async () => {
    const { clock, done, queue, hold, release } = record()
    hold('z/0')
    queue.add('z/0')
    for (const key of ['busy/1', 'busy/2', 'busy/3', 'quiet/1']) queue.add(key)
    release('z/0')
    await clock.step(0)
    assert.equal(done, ['z/0', 'busy/1', 'quiet/1', 'busy/2', 'busy/3'])
  })

  it('keeps the earlier of two times, and forgets it when the key is worked on before', async () => {
    const { clock, done, queue } = record()
    queue.addAfter('a/1', 1000)
    queue.addAfter('a/1', 500)
    queue.addAfter('a/1', 2000)
    await clock.step(499)
    assert.equal(done, [])
    await clock.step(1)
    assert.equal(done, ['a/1'])
    queue.addAfter('a/1', 1000)
    queue.add('a/1')
    await clock.step(5000)
    assert.equal(done, ['a/1', 'a/1'])
  })

  it('never has more at work than allowed', async () => {
    const { clock, done, queue, hold, release } = record(2)
    for (const key of ['a/1', 'b/1', 'c/1']) hold(key)
    for (const key of ['a/1', 'b/1', 'c/1']) queue.add(key)
    assert.equal(done, ['a/1', 'b/1'])
    release('a/1')
    await clock.step(0)
    assert.equal(done, ['a/1', 'b/1', 'c/1'])
  })

  it('waits at the end for what is under way and takes nothing new', async () => {
    const { clock, done, queue, hold, release } = record()
    hold('a/1')
    queue.add('a/1')
    queue.add('a/2')
    let stopped = false
    const stopping = queue.stop().then(() => {
      stopped = true
    })
    await clock.step(0)
    assert.is(stopped, false)
    release('a/1')
    await stopping
    queue.add('a/3')
    assert.equal(done, ['a/1'])
  })
})
