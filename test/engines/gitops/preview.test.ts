import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { is, ok } from 'uvu/assert'
import { preview } from '../../../src/engines/gitops/index.ts'
import { systemClock } from '../../../src/std/index.ts'
import { configMap, snapshot } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { dice, runSeed } from '../../support/dice.ts'
import { describe } from '../../support/suite.ts'

describe('a preview with many secrets and large objects', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('lets others have their turns, and tells how much it has looked through', async () => {
    const roll = dice(runSeed)
    const secrets = Array.from({ length: 2000 }, (_, at) => `${at.toString(36).padStart(3, '0')}${roll(90_000) + 10_000}`)
    const [last = ''] = secrets.slice(-1)
    // All but the end of a secret, again and again: nothing is found until the last.
    const text = `${Array.from({ length: 80_000 }, () => secrets[roll(secrets.length)]?.slice(0, 7)).join('-')} ${last}`
    const objects = Array.from({ length: 8 }, (_, at) => configMap(`large-${at}`, { text }))
    let bytes = 0
    let turns = 0
    const turnsAt: number[] = []
    const looking = preview(
      {
        snapshot: snapshot({}),
        path: '.',
        destination: { kube: cluster.kube, namespace: await cluster.namespace('preview') },
        owner: { id: randomUUID(), title: 'Test team-a/preview' },
        inventory: { load: async () => undefined, save: async () => undefined },
        secrets: new Set(secrets),
      },
      {
        render: async () => objects.map((object, at) => ({ object, source: `${at}.yaml:1` })),
        clock: systemClock,
        searching: (more) => {
          bytes += more
          turnsAt.push(turns)
        },
      },
    )
    const isDone = looking.then(
      () => true,
      () => true,
    )
    while (!(await Promise.race([isDone, turn(false)]))) turns++
    const { differences } = await looking
    is(differences.length, objects.length)
    for (const { fields } of differences) ok(!JSON.stringify(fields).includes(last))
    ok(bytes > objects.length * text.length, `${bytes} bytes`)
    // All of it is looked through at the end, a quarter of a mebibyte at a time.
    const taken = (turnsAt.at(-1) ?? 0) - (turnsAt[0] ?? 0)
    ok(taken >= objects.length - 1, `${taken} turns`)
  })
})
