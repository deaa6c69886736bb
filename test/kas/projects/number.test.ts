import { is } from 'uvu/assert'
import { numberIn, numberOf } from '../../../src/kas/projects/number.ts'
import { describe } from '../../support/suite.ts'

const [first, second] = [numberOf('first'), numberOf('second')]
const at = (path: string, uid: string, projectId?: bigint) => ({
  path,
  uid,
  ...(projectId !== undefined && { projectId: String(projectId) }),
})

describe('the number by which an agent knows a project', (it) => {
  it('is its own, at whichever path it is now', () => {
    is(numberIn([], at('p', 'first')), first)
    is(numberIn([at('p', 'first')], at('p', 'first')), first)
    is(numberIn([at('p', 'first')], at('p-old', 'first')), first)
  })

  it('is that of the one before at its path, and stays so', () => {
    is(numberIn([at('p', 'first')], at('p', 'second')), first)
    is(numberIn([at('p', 'second', first)], at('p', 'second')), first)
    is(numberIn([at('p', 'second', first)], at('p', 'third')), first)
  })

  it('is never that of two paths at once', () => {
    is(numberIn([at('p', 'first'), at('p-old', 'first')], at('p', 'second')), second)
    is(numberIn([at('p', 'first'), at('q', 'third', first)], at('p', 'second')), second)
    const late = numberIn([at('p', 'second', first)], at('p-old', 'first'))
    is(late !== first && late !== second, true)
    is(numberIn([at('p', 'second', first), at('p-old', 'first', late)], at('p-old', 'first')), late)
  })
})
