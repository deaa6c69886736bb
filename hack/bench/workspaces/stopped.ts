import { pause, seconds, systemClock } from '../../../src/std/index.ts'
import { print } from '../figures.ts'
import { type Figures, requestsIn, targetRequestsIn } from '../program.ts'
import { footprintOf, until } from '../waiting.ts'
import { createAll, inState, numbered, type Setup, SHARED, workspaceOf } from './setup.ts'

/** Many that are stopped, and an operator that is started anew beside them. */
export async function stopped(setup: Setup, count: number): Promise<void> {
  const { workspaces } = setup
  const first = await setup.startOperator()
  const began = performance.now()
  await createAll(
    setup,
    Array.from({ length: count }, (_, n) => workspaceOf(SHARED, numbered('web', n), { desiredState: 'Stopped' })),
  )
  await until(workspaces, () => inState(workspaces, 'Stopped') === count, `${count} workspaces are Stopped`)
  print(`${count} made and stopped`, { 'wall s': (performance.now() - began) / 1000, ...(await footprintOf([first])) })
  // Classes say how many workspaces they have at most every five seconds: what is written later belongs to the first life.
  await pause(systemClock, seconds(6))
  await first.stop()

  const operator = await setup.startOperator()
  const synced = await operator.figures()
  print('  restart', {
    'listed after s': operator.listed / 1000,
    'in sync after s': operator.synced / 1000,
    writes: writesIn(synced),
    'requests each': requestsIn(synced) / count,
    'to targets each': targetRequestsIn(synced) / count,
    ...(await footprintOf([operator])),
  })
  await pause(systemClock, seconds(20))
  const later = await operator.figures()
  print('  20 s later', { requests: requestsIn(later) - requestsIn(synced), ...(await footprintOf([operator])) })
}

/** By verb. */
const writesIn = ({ requests: { get, watch, ...writes } }: Figures): string =>
  Object.entries(writes)
    .map(([verb, count]) => `${verb} ${count}`)
    .join(' + ') || '0'
