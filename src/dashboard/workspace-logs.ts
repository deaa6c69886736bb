import type { Kube } from '../adapters/kube/index.ts'
import { type Pod, type Ref, type Workspace, Workspaces } from '../api/index.ts'
import {
  containersOf,
  eventsOf,
  linesOfLog,
  type TargetReach,
  type WorkspaceEvent,
  withTarget,
  youngestPodOf,
} from '../engines/lookout/index.ts'
import { type Clock, every, isFailure, sayFailure, seconds, within } from '../std/index.ts'
import { html } from './html.ts'
import { type Fragment, inList, type LiveView } from './view.ts'
import { since } from './words.ts'
import { pathOf } from './workspace-list.ts'

interface TargetAccess {
  /** In the name of the person who looks. */
  kube: Kube
  reach: TargetReach
  clock: Clock
}

/** Nobody tells of new lines: they are asked for again. */
const AGAIN = seconds(5)
const MOST_LINES = 300
const MOST_CHARACTERS = 100_000
/** All containers together have so many: the pod is what a stranger's server says it is. */
const MOST_CHARACTERS_IN_ALL = 1_000_000
const MOST_CONTAINERS = 50
const LONGEST_LOOK = seconds(20)
const MOST_EVENTS = 200

/** Shows what its containers have written last, those that prepare it first. */
export const logsView = (access: TargetAccess, workspace: Workspace): LiveView =>
  viewAgainAndAgain(access, workspace, { word: 'logs', title: 'Logs' }, async (now, { leaves }) => {
    const found = await withTarget(access.kube, now, access.reach, (target, home) =>
      within(LONGEST_LOOK, leaves, async (signal) => {
        const pod = await youngestPodOf(now, { target, home }, signal)
        return pod && logsOf({ target, home, pod }, signal)
      }),
    )
    return found ?? [said('It has no pod just now, and so no logs.')]
  })

interface RunningPod {
  target: Kube
  /** The namespace there. */
  home: string
  pod: Pod
}

async function logsOf({ target, home, pod }: RunningPod, signal: AbortSignal): Promise<Fragment[]> {
  const containers = containersOf(pod)
  const parts: Fragment[] = []
  let left = MOST_CHARACTERS_IN_ALL
  for (const { name, hasBegun } of containers.slice(0, MOST_CONTAINERS)) {
    const most = Math.min(left, MOST_CHARACTERS)
    const from = { target, home, pod: pod.metadata.name, container: name }
    const text = hasBegun ? await tailOf(from, most, signal) : 'It has not begun.'
    left -= Math.min(left, text.length)
    parts.push(logPart(name, text))
  }
  const isWhole = containers.length <= MOST_CONTAINERS && left > 0
  return isWhole ? parts : [...parts, said('That is not all: there is more than a page shows.')]
}

/** Shows Events about it, here and in its target, the latest first. */
export const eventsView = (access: TargetAccess, workspace: Workspace): LiveView =>
  viewAgainAndAgain(access, workspace, { word: 'events', title: 'Events' }, async (now, { moment, leaves }) => {
    const { events, unseen } = await eventsOf(access.kube, now, access.reach, leaves)
    const rows = events
      .reverse()
      .slice(0, MOST_EVENTS)
      .map((event, at) => eventPart(event, { id: `event-${at}`, moment }))
    const without = unseen === undefined ? [] : [said(`Without what was told in its target: ${unseen}`)]
    return [...without, ...(rows.length > 0 ? rows : [said('Nothing was told about it lately.', 'none')])]
  })

function viewAgainAndAgain(
  { kube, clock }: TargetAccess,
  workspace: Workspace,
  { word, title }: Record<'word' | 'title', string>,
  look: (workspace: Workspace, how: { moment: number | undefined; leaves: AbortSignal }) => Promise<Fragment[]>,
): LiveView {
  const { name, namespace = '', uid } = workspace.metadata
  const ref: Ref = { name, namespace }
  return {
    async fragments(moment, leaves) {
      const now = await kube.get(Workspaces, ref, leaves)
      if (!now || now.metadata.uid !== uid) return [said('The workspace is gone.')]
      return look(now, { moment, leaves }).catch((thrown: unknown) => {
        if (isFailure(thrown) && thrown.code !== 'internal') return [said(sayFailure(thrown))]
        throw thrown
      })
    },
    page: (fragments) => ({
      title: `${title} of ${name}`,
      live: `${pathOf(workspace)}/${word}`,
      content: html`<p><a href="${pathOf(workspace)}">Back to ${name}</a></p>
<div id="parts" class="parts">${inList(fragments, 'parts')}</div>`,
    }),
    watch: (listener) => [every(clock, AGAIN, listener)],
  }
}

const said = (text: string, id = 'said-here'): Fragment => ({ id, list: 'parts', html: html`<p id="${id}">${text}</p>` })

/** A server that goes on and on is left in the middle. */
async function tailOf(from: Parameters<typeof linesOfLog>[0], most: number, look: AbortSignal): Promise<string> {
  if (most === 0) return ''
  const lines: string[] = []
  let length = 0
  try {
    const query = `tailLines=${MOST_LINES}&limitBytes=${most}`
    await within(AGAIN, look, async (signal) => {
      for await (const line of await linesOfLog(from, query, signal)) {
        lines.push(line)
        length += line.length
        if (lines.length >= MOST_LINES || length > most) break
      }
    })
  } catch (thrown) {
    if (!isFailure(thrown)) throw thrown
    lines.push(`(${sayFailure(thrown)})`)
  }
  return lines.join('\n').slice(0, most)
}

const logPart = (container: string, text: string): Fragment => ({
  id: `log-${container}`,
  list: 'parts',
  html: html`<section id="log-${container}" class="part"><h2 id="log-${container}-title">${container}</h2>
<pre tabindex="0" role="region" aria-labelledby="log-${container}-title">${text}</pre></section>`,
})

const eventPart = (event: WorkspaceEvent, { id, moment }: { id: string; moment: number | undefined }): Fragment => ({
  id,
  list: 'parts',
  html: html`<div id="${id}" class="part"><p><strong${event.type === 'Warning' && html` class="wrong"`}>${event.reason}</strong>${event.count > 1 && ` (${event.count} times)`}, ${since(event.at, moment)} ago</p>
<p>${event.message}</p><p class="facts">${event.object}</p></div>`,
})
