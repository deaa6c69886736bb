import { is, match } from 'uvu/assert'
import { annotations, type CoreSecret, labels } from '../../../../src/api/index.ts'
import { inherit } from '../../../../src/operator/workspace/objects/inheritance.ts'
import { describe } from '../../../support/suite.ts'

const secretOf = (names: readonly string[]): CoreSecret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'all', labels: { [labels.variablesLevel]: 'group' }, annotations: { [annotations.variablesOf]: '' } },
  data: Object.fromEntries(names.map((name) => [name, ''])),
})
const leftOutOf = (count: number) => {
  const names = Array.from({ length: count }, (_, at) => `LD_${at}`)
  return inherit([], [secretOf(names)], { owner: undefined, project: undefined }).leftOut
}

describe('what is left out of inherited variables', (it) => {
  it('is told one by one, and of very much how much more there is', () => {
    is(leftOutOf(64).length, 64)
    match(leftOutOf(64).at(-1) ?? '', /^LD_63 of Secret all \(group\): its name is reserved/)
    is(leftOutOf(100).length, 64)
    is(leftOutOf(100).at(-1), 'and 37 more')
  })
})
