import { is, ok } from 'uvu/assert'
import { createRecent } from '../../../src/adapters/git/recent.ts'
import { describe } from '../../support/suite.ts'

describe('recent commits', (it) => {
  it('are the last 64 that were asked for, whatever their age', () => {
    const recent = createRecent()
    for (let at = 0; at < 100; at++) {
      recent.use('m', `c${at}`)
      recent.use('m', 'followed all the time')
    }
    const kept = recent.kept('m')
    is(kept.size, 64)
    ok(kept.has('followed all the time') && kept.has('c99') && kept.has('c37') && !kept.has('c36'))
  })

  it('call for tidying with the first one of a run, and then each 65th new one', () => {
    const recent = createRecent()
    const calls: number[] = []
    for (let at = 0; at < 200; at++) if (recent.use('m', `c${at}`)) calls.push(at)
    is(calls.join(), '0,65,130,195')
    is(recent.use('m', 'c199'), false)
    is(recent.use('another', 'c1'), true)
  })
})
