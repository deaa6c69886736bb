import type { Cache } from '../../../src/adapters/kube/index.ts'
import { keyOf, refOf, type Workspace, Workspaces } from '../../../src/api/index.ts'
import { pause, seconds, systemClock } from '../../../src/std/index.ts'
import { print, quantile } from '../figures.ts'
import { askedSince, type OperatorProgram, requestsIn, targetRequestsIn } from '../program.ts'
import { footprintOf, until } from '../waiting.ts'
import { apartOf, inState, numbered, type Setup, SHARED, workspaceOf } from './setup.ts'

/** 1,500 in two minutes; fewer come as fast, and are done sooner. */
const PER_SECOND = 12.5

/** When what was first seen of a workspace, milliseconds. */
interface Story {
  asked: number
  accepted: number
  written?: number
  running?: number
  deleted?: number
  gone?: number
}

export const createdInOne = (setup: Setup, count: number): Promise<void> => created(setup, count, 'one namespace', workspaceOf)

export const createdApart = (setup: Setup, count: number): Promise<void> => created(setup, count, 'a namespace each', apartOf)

/** Created one after the other at a steady pace, and deleted so. */
async function created(setup: Setup, count: number, where: string, make: (namespace: string, name: string) => Workspace) {
  const { user, workspaces } = setup
  const operator = await setup.startOperator()
  const stories = new Map<string, Story>()
  follow(workspaces, stories)
  const before = await operator.figures()

  await atPace(count, async (n) => {
    const workspace = make(SHARED, numbered('web', n))
    const story = { asked: performance.now(), accepted: 0 }
    stories.set(keyOf(refOf(workspace)), story)
    await user.create(Workspaces, workspace)
    story.accepted = performance.now()
  })
  await until(workspaces, () => inState(workspaces, 'Running') === count, `${count} workspaces are Running`)
  const all = [...stories.values()]
  const after = await operator.figures()
  print(`${count} created, ${where}`, {
    'create p95 ms': quantile(timesOf(all, 'asked', 'accepted'), 0.95),
    'first write p50 ms': quantile(timesOf(all, 'accepted', 'written'), 0.5),
    'p95 ms': quantile(timesOf(all, 'accepted', 'written'), 0.95),
    'Running p50 s': quantile(timesOf(all, 'accepted', 'running'), 0.5) / 1000,
    'p95 s': quantile(timesOf(all, 'accepted', 'running'), 0.95) / 1000,
    ...askedSince(before, after, count),
    ...(await footprintOf([operator])),
  })
  await atRest(operator)

  await atPace(count, async (n) => {
    const ref = { name: numbered('web', n), namespace: SHARED }
    const story = stories.get(keyOf(ref))
    if (story) story.deleted = performance.now()
    await user.delete(Workspaces, ref)
  })
  await until(workspaces, () => workspaces.size === 0, `${count} workspaces are gone`)
  const gone = timesOf(all, 'deleted', 'gone')
  print('  deleted', {
    'p50 s': quantile(gone, 0.5) / 1000,
    'p95 s': quantile(gone, 0.95) / 1000,
    ...(await footprintOf([operator])),
  })
}

/** What it sends while nothing happens, and what it still holds. */
async function atRest(operator: OperatorProgram): Promise<void> {
  const before = await operator.figures()
  await pause(systemClock, seconds(20))
  const after = await operator.figures()
  print('  20 s of rest', {
    requests: requestsIn(after) - requestsIn(before),
    'to targets': targetRequestsIn(after) - targetRequestsIn(before),
    ...(await footprintOf([operator])),
  })
}

function follow(workspaces: Cache<Workspace>, stories: ReadonlyMap<string, Story>): void {
  workspaces.onChange((now, before) => {
    const seen = now ?? before
    const story = seen && stories.get(keyOf(refOf(seen)))
    if (!story) return
    const at = performance.now()
    if (!now) story.gone ??= at
    if (now?.metadata.finalizers?.length) story.written ??= at
    if (now?.status?.actualState === 'Running') story.running ??= at
  })
}

/** Those where both are known. */
const timesOf = (stories: readonly Story[], from: keyof Story, to: keyof Story): number[] =>
  stories.flatMap(({ [from]: began, [to]: ended }) =>
    began === undefined || ended === undefined ? [] : [Math.max(ended - began, 0)],
  )

/** Begins so many in each second, whether those before are done or not. */
async function atPace(count: number, work: (n: number) => Promise<void>): Promise<void> {
  const began = performance.now()
  const all: Promise<void>[] = []
  for (let n = 0; n < count; n++) {
    await pause(systemClock, Math.max(0, began + (n * 1000) / PER_SECOND - performance.now()))
    all.push(work(n))
  }
  await Promise.all(all)
}
