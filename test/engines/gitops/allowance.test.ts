import { is } from 'uvu/assert'
import { healthOf, healthRules } from '../../../src/engines/health/index.ts'
import { UNJUDGED } from '../../../src/engines/health/rules.ts'
import { describe } from '../../support/suite.ts'

const NOW = Date.UTC(2030, 0, 1, 12)
const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'x' }, status: { phase: 'Up' } }
const other = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }

describe('the allowance for health rules', (it) => {
  it('has objects judged by no rule while it is used up, and those without a rule all the same', async () => {
    const within = await healthRules([{ group: 'example.com', kind: 'Widget', healthy: "status.phase == 'Up'" }])
    let left = 50
    const rules = within({
      isUsedUp: () => left <= 0,
      spend(steps) {
        left -= steps
      },
    })
    is(healthOf(widget, NOW, rules).status, 'Healthy')
    is(healthOf(widget, NOW, rules).status, 'Healthy')
    is(healthOf(widget, NOW, rules), UNJUDGED)
    is(healthOf(other, NOW, rules).status, 'Healthy')
    left = 50
    is(healthOf(widget, NOW, rules).status, 'Healthy')
  })
})
