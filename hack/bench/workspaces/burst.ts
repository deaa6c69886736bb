import { Pods, refOf } from '../../../src/api/index.ts'
import { pause, seconds, systemClock } from '../../../src/std/index.ts'
import { print } from '../figures.ts'
import type { Program } from '../program.ts'
import { inParallel } from '../stage.ts'
import { footprintOf, until, untilSilent } from '../waiting.ts'
import { createAll, inState, numbered, type Setup, SHARED, workspaceOf } from './setup.ts'

const PER_POD = 10
const AT_ONCE = 64

/** So many changes of pods as fast as the server takes them. The event loop is asked what it waited for. */
export async function burst(setup: Setup, count: number): Promise<void> {
  const { user, workspaces } = setup
  const operator = await setup.startOperator()
  const many = Math.ceil(count / PER_POD)
  await createAll(
    setup,
    Array.from({ length: many }, (_, n) => workspaceOf(SHARED, numbered('web', n))),
  )
  await until(workspaces, () => inState(workspaces, 'Running') === many, `${many} workspaces are Running`)
  await untilSilent([operator])
  const pods = await user.list(Pods, { namespace: SHARED, metadataOnly: true })
  const quiet = await lagOf(operator, () => pause(systemClock, seconds(5)))
  const before = await operator.figures()
  const began = performance.now()
  const busy = await lagOf(operator, () =>
    inParallel(count, AT_ONCE, async (n) => {
      const pod = pods[n % pods.length]
      if (pod) await user.patch(Pods, refOf(pod), { metadata: { annotations: { 'bench.example.com/turn': String(n) } } })
    }),
  )
  const took = performance.now() - began
  await untilSilent([operator])
  const after = await operator.figures()
  print(`${count} pod events`, {
    'in s': took / 1000,
    'lag p99 ms': busy,
    'at rest ms': quiet,
    reconciles: after.reconciles - before.reconciles,
    ...(await footprintOf([operator])),
  })
}

/** p99 of the event loop's lag between two looks, milliseconds: the first one clears what was before. */
async function lagOf({ figures }: Program, work: () => Promise<void>): Promise<number> {
  await figures()
  await work()
  return (await figures()).metric('nodejs_eventloop_lag_p99_seconds') * 1000
}
