import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { equal, is } from 'uvu/assert'
import { childrenIn, createMemoryGuard } from '../../../src/adapters/processes/index.ts'
import { type Clock, pause, systemClock } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const MIB = 2 ** 20

/** Takes so many MiB, says so, and stays. */
const taking = (mebibytes: number) =>
  `const held = Buffer.alloc(${mebibytes * MIB}, 1); console.log(held.length); process.stdin.resume()`
/** Starts another one, and stays. */
const starting = (script: string) =>
  `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(script)}], { stdio: 'inherit' })`

describe('a guard of memory', (it) => {
  let started: ChildProcess[] = []
  it.beforeEach(() => {
    started = []
  })
  it.afterEach(() => {
    for (const child of started) child.kill('SIGKILL')
  })

  const start = async (script: string): Promise<ChildProcess> => {
    const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
    started.push(child)
    await once(child.stdout, 'data')
    return child
  }
  const guardOf = (children: readonly ChildProcess[], mebibytes: number) =>
    createMemoryGuard({ bytes: mebibytes * MIB, roots: () => children.flatMap(({ pid }) => pid ?? []) })
  const ended = async (child: ChildProcess): Promise<void> => void (await once(child, 'exit'))

  it('ends the one that takes the most, and only when all together take too much', async () => {
    const children = [await start(taking(1)), await start(taking(400)), await start(taking(10))]
    await guardOf(children, 400).during(() => ended(children[1] as ChildProcess))
    equal(
      children.map(({ signalCode }) => signalCode),
      [null, 'SIGKILL', null],
    )
  })

  it('counts what a process has started for its own, and ends that with it', async () => {
    const [large, parent] = [await start(taking(200)), await start(starting(taking(400)))]
    await guardOf([large, parent], 450).during(async () => {
      await Promise.all([ended(parent), once(parent.stdout ?? parent, 'end')])
    })
    equal([large.signalCode, parent.signalCode], [null, 'SIGKILL'])
  })

  it('does not count a copy of this program that is about to become another', async () => {
    const large = await start(taking(200))
    // As such a copy is, this program has its own words and all of its memory.
    const roots = () => [process.pid]
    const held = Buffer.alloc(300 * MIB, 1)
    await createMemoryGuard({ bytes: 290 * MIB, roots }).during(() => pause(systemClock, 500))
    equal([held.length, large.signalCode], [300 * MIB, null])
  })

  it('looks only while there is work', async () => {
    const steps: (() => void)[] = []
    let looks = 0
    const clock: Clock = {
      ...systemClock,
      after(_, run) {
        steps.push(run)
        return () => undefined
      },
    }
    const roots = () => {
      looks++
      return []
    }
    const guard = createMemoryGuard({ bytes: 0, roots, clock })
    const work = Promise.withResolvers<void>()
    const done = guard.during(() => work.promise)
    await guard.during(async () => undefined)
    steps[0]?.()
    await eventually(() => steps.length === 2)
    work.resolve()
    await done
    steps[1]?.()
    await eventually(async () => {
      await guard.during(async () => undefined)
      return steps.length === 3
    })
    is(looks, 2)
  })

  it('finds what works in a folder by the folder', async () => {
    const child = await start(taking(1))
    const here = process.cwd()
    is(childrenIn(here).includes(child.pid ?? 0), true)
    equal([childrenIn(`${here}/src`), childrenIn(here.slice(0, -1))], [[], []])
  })
})
