import * as assert from 'uvu/assert'
import { connectTo } from '../../../src/adapters/kube/index.ts'
import { type Remembered, wantedOf } from '../../../src/engines/gitops/plan/wanted.ts'
import { systemClock } from '../../../src/std/index.ts'
import { snapshot } from '../../support/builders/snapshots.ts'
import { describe } from '../../support/suite.ts'

describe('what a commit wants', (it) => {
  const kube = connectTo({ server: 'https://api.target.example:6443', clock: systemClock })
  it.after(() => kube.close())

  it('is remembered without the values of its variables, and asked for anew when one changes', async () => {
    const memory: { wanted?: Remembered } = {}
    let rendered = 0
    const commit = snapshot({})
    const want = (value: string) =>
      wantedOf(
        {
          snapshot: commit,
          path: '.',
          destination: { kube, namespace: 'team-a' },
          owner: { id: 'uid', title: 'GitOpsDeployment team-a/shop' },
          variables: { values: new Map([['a', value]]), strict: true },
        },
        async () => {
          rendered++
          return []
        },
        memory,
      )
    const large = 'secret'.repeat(100_000)
    await want(large)
    await want(large)
    assert.is(rendered, 1)
    assert.ok((memory.wanted?.rest.length ?? 0) < 1000)
    assert.is(memory.wanted?.rest.includes('secret'), false)
    await want(`${large}.`)
    assert.is(rendered, 2)
  })
})
