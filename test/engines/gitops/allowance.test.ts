import { is } from 'uvu/assert'
import { UNJUDGED } from '../../../src/engines/gitops/health/rules.ts'
import { type HealthRules, healthOf, healthRules } from '../../../src/engines/gitops/index.ts'
import { describe } from '../../support/suite.ts'

const NOW = Date.UTC(2030, 0, 1, 12)
const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'x' }, status: { phase: 'Up' } }
const other = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }

describe('the allowance for health rules', (it) => {
  it('has objects judged by no rule while it is used up, and those without a rule all the same', async () => {
    const rules = await healthRules([{ group: 'example.com', kind: 'Widget', healthy: "status.phase == 'Up'" }])
    let left = 50
    const allowance = {
      isUsedUp: () => left <= 0,
      spend(steps: number) {
        left -= steps
      },
    }
    const within: HealthRules = { judge: (object) => rules.judge(object, allowance) }
    is(healthOf(widget, NOW, within).status, 'Healthy')
    is(healthOf(widget, NOW, within).status, 'Healthy')
    is(healthOf(widget, NOW, within), UNJUDGED)
    is(healthOf(other, NOW, within).status, 'Healthy')
    left = 50
    is(healthOf(widget, NOW, within).status, 'Healthy')
  })
})
