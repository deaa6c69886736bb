import { suite as uvu } from 'uvu'
import { whileUnderWay } from './under-way.ts'

type Step = () => unknown
export interface It {
  /** One claim in the present tense, unique in its suite. */
  (title: string, body: Step): void
  before(step: Step): void
  beforeEach(step: Step): void
  afterEach(step: Step): void
  after(step: Step): void
}

/**
 * A uvu suite that runs itself, never swallows a failing hook, and refuses to be empty or ambiguous. `leaveOut`: what this machine
 * lacks; then nothing is run, and the runner says so.
 */
export function describe(name: string, define: (it: It) => void, leaveOut?: string): void {
  const test = uvu(name)
  const titles = new Set<string>()
  const before: Step[] = []
  const beforeEach: Step[] = []
  const afterEach: Step[] = []
  const after: Step[] = []
  let ready: Promise<void> | undefined

  const it = (title: string, body: Step) => {
    if (titles.has(title)) throw new Error(`${name}: two tests are called "${title}"`)
    titles.add(title)
    if (leaveOut !== undefined) return test.skip(title)
    test(
      title,
      guarded(title, async () => {
        ready ??= inTurn(before)
        await ready
        await inTurn(beforeEach)
        try {
          await body()
        } finally {
          await inTurn(afterEach)
        }
      }),
    )
  }
  const hook = (list: Step[]) => (step: Step) => void list.push(step)
  define(Object.assign(it, {
    before: hook(before),
    beforeEach: hook(beforeEach),
    afterEach: hook(afterEach),
    after: hook(after),
  }))
  if (titles.size === 0) throw new Error(`${name}: no tests`)
  if (leaveOut !== undefined) console.log(`LEFT OUT ${leaveOut}`)
  else if (after.length > 0)
    test(
      'leaves nothing behind',
      guarded('what is after the tests', () => inTurn(after)),
    )
  test.run()
}

async function inTurn(steps: Step[]): Promise<void> {
  for (const step of steps) await step()
}

/** uvu takes `throw null` for success; so whatever is thrown becomes an Error. */
const guarded = (title: string, body: Step) => async () => {
  try {
    await whileUnderWay(title, body)
  } catch (thrown) {
    throw thrown instanceof Error ? thrown : new Error(`threw a non-error: ${String(thrown)}`)
  }
}
