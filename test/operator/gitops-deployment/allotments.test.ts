import { equal, is } from 'uvu/assert'
import { createAllotments } from '../../../src/operator/gitops-deployment/source/allotments.ts'
import { describe } from '../../support/suite.ts'
import { settle } from '../../support/verbs.ts'

const { signal } = new AbortController()

describe('allotments', (it) => {
  it('give each namespace so much, and take back what is given up or changed', () => {
    const allotments = createAllotments(10)
    is(allotments.keep('a', 'team', 6), true)
    is(allotments.keep('b', 'team', 5), false)
    is(allotments.keep('b', 'others', 10), true)
    is(allotments.keep('a', 'team', 5), true)
    is(allotments.keep('c', 'team', 5), true)
    allotments.release('c')
    allotments.release('c')
    is(allotments.keep('d', 'team', 6), false)
    is(allotments.keep('d', 'team', 5), true)
  })

  it('keep what is too large by itself if it is the only one', () => {
    const allotments = createAllotments(10)
    is(allotments.keep('a', 'team', 11), true)
    is(allotments.keep('a', 'team', 12), true)
    is(allotments.keep('b', 'team', 0), false)
    allotments.release('a')
    is(allotments.keep('b', 'team', 0), true)
  })

  it('let those wait that have no room, and give what becomes free to as many as it suffices for', async () => {
    const allotments = createAllotments(10)
    allotments.keep('a', 'team', 10)
    const ending = new AbortController()
    const done: string[] = []
    const wait = (key: string, until: AbortSignal) => allotments.keepLater(key, 'team', 6, until).then(() => void done.push(key))
    void wait('gone', ending.signal)
    void wait('b', signal)
    void wait('c', signal)
    ending.abort()
    await settle()
    equal(done, ['gone'])
    allotments.release('a')
    await settle()
    equal(done, ['gone', 'b'])
    allotments.release('b')
    await settle()
    equal(done, ['gone', 'b', 'c'])
  })
})
