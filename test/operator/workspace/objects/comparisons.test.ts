import { is } from 'uvu/assert'
import { createComparisons } from '../../../../src/operator/workspace/objects/comparisons.ts'
import { hours, minutes, seconds, systemClock } from '../../../../src/std/index.ts'
import { describe } from '../../../support/suite.ts'

const UID = 'one'

describe('workspace: when everything was compared', (it) => {
  let now = 0
  let comparisons = createComparisons(systemClock)
  it.beforeEach(() => {
    now = 0
    comparisons = createComparisons({ ...systemClock, now: () => now })
  })
  const isRecent = (generation = 1) => comparisons.isRecent(UID, generation, 'Running')
  const compare = () => comparisons.begin(UID, 1)()

  it('is recent for an hour, under the same class, and for five minutes while it is Failed', () => {
    is(isRecent(), false)
    compare()
    is(isRecent(), true)
    is(isRecent(2), false)
    now = minutes(5)
    is(comparisons.isRecent(UID, 1, 'Failed'), false)
    is(isRecent(), true)
    now = hours(1)
    is(isRecent(), false)
  })

  it('is not once something has changed since, but no sooner than ten seconds after it', () => {
    compare()
    is(comparisons.dueAt(UID), undefined)
    now = seconds(3)
    comparisons.noteDrift(UID)
    is(isRecent(), true)
    is(comparisons.dueAt(UID), seconds(10))
    now = seconds(10)
    is(isRecent(), false)
    compare()
    is(comparisons.dueAt(UID), undefined)
    now = minutes(1)
    is(isRecent(), true)
  })

  it('leaves nothing out that changes while it is made, also for the first time', () => {
    for (const time of [0, minutes(1)]) {
      now = time
      const done = comparisons.begin(UID, 1)
      comparisons.noteDrift(UID)
      now += seconds(1)
      done()
      is(comparisons.dueAt(UID), now + seconds(10))
      now += seconds(10)
      is(isRecent(), false)
      compare()
      is(comparisons.dueAt(UID), undefined)
    }
  })

  it('keeps nothing of a workspace that nobody has compared, or that is gone', () => {
    comparisons.noteDrift(UID)
    compare()
    is(comparisons.dueAt(UID), undefined)
    comparisons.noteDrift(UID)
    comparisons.delete(UID)
    is(comparisons.dueAt(UID), undefined)
    is(isRecent(), false)
  })
})
