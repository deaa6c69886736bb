import { Failure } from '../../../src/std/index.ts'
import { print } from '../figures.ts'
import { askedSince } from '../program.ts'
import { footprintOf, serverCpu, until } from '../waiting.ts'
import { openFloor } from './floor.ts'
import { createAll, inState, numbered, type Setup, SHARED, setAll, workspaceOf } from './setup.ts'

/** Many created at once; then stopped, and started at once. Each beside what a bare loop needs for the same. */
export async function together(setup: Setup, count: number): Promise<void> {
  const { user, workspaces } = setup
  const operator = await setup.startOperator()
  await createAll(setup, [workspaceOf(SHARED, 'example')])
  await until(workspaces, () => inState(workspaces, 'Running') === 1, 'the example runs')
  const [example] = workspaces.all()
  if (!example) throw new Failure('internal', 'the example is gone')
  const floor = await openFloor(setup, example)

  const timed = async (what: string, wait: number, work: () => Promise<void>, state: string) => {
    const before = await operator.figures()
    const cpu = await serverCpu(user)
    const began = performance.now()
    await work()
    await until(workspaces, () => inState(workspaces, state) === count + 1, `all are ${state}`)
    const took = performance.now() - began
    print(`${count} ${what} at once`, {
      'wall s': took / 1000,
      'floor s': wait / 1000,
      ratio: took / wait,
      ...askedSince(before, await operator.figures(), count),
      'CPU s of the API server': (await serverCpu(user)) - cpu,
      ...(await footprintOf([operator])),
    })
  }
  const wanted = Array.from({ length: count }, (_, n) => workspaceOf(SHARED, numbered('web', n)))
  await timed('created', await floor.create(count), () => createAll(setup, wanted), 'Running')
  await timed('stopped', await floor.stop(), () => setAll(setup, { desiredState: 'Stopped' }), 'Stopped')
  await timed('started', await floor.start(), () => setAll(setup, { desiredState: 'Running' }), 'Running')
}
