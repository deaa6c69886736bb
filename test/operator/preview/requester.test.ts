import { is } from 'uvu/assert'
import { annotations } from '../../../src/api/index.ts'
import { claimFor } from '../../../src/operator/preview/desired.ts'
import { preview } from '../../support/previews.ts'
import { requestedBy } from '../../support/spaces.ts'
import { describe } from '../../support/suite.ts'

const entry = { name: 'shop-main', branch: 'main', commit: 'c1', since: '2030-01-01T00:00:00Z' }

describe('the claim of a branch', (it) => {
  it('is asked for by who named the class in the Preview, and not by the operator, who may use all', () => {
    const asked = requestedBy('ada\nteam-a', preview('team-a', 'shop'))
    is(claimFor(asked, entry).metadata.annotations?.[annotations.requester], 'ada\nteam-a')
  })

  it('is asked for by nobody in particular where admission wrote nobody down', () => {
    is(claimFor(preview('team-a', 'shop'), entry).metadata.annotations?.[annotations.requester], '\nsystem:authenticated')
  })
})
