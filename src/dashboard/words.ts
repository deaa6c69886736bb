import { type Workspace, workspaceStateOf, workspaceWishOf } from '../api/index.ts'
import { spelled, timestamp } from '../std/index.ts'
import { type Html, html } from './html.ts'

/** The time for which something is written; of what is sent again only when it changes, none: browsers reckon by themselves. */
export type Moment = number | undefined

export type Tone = 'good' | 'busy' | 'off' | 'bad'

const STATES: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  CreationRequested: ['Being made', 'busy'],
  Starting: ['Starting', 'busy'],
  Running: ['Running', 'good'],
  Stopping: ['Stopping', 'busy'],
  Stopped: ['Stopped', 'off'],
  Failed: ['Failed', 'bad'],
  Error: ['Error', 'bad'],
  RestartRequested: ['Restarting', 'busy'],
  Terminating: ['Being removed', 'busy'],
  Terminated: ['Removed', 'off'],
  Unknown: ['Not seen', 'bad'],
}

export function stateIn(workspace: Workspace): { word: string; tone: Tone } {
  const state = workspaceStateOf(workspace)
  const [word, tone] = STATES[state] ?? [state, 'busy']
  // Nobody has acted on the wish yet, and a person who has just pressed the button wants to see that it counts.
  if (state === 'Stopped' && workspaceWishOf(workspace) === 'Running') return { word: 'Starting', tone: 'busy' }
  if (state === 'Running' && workspaceWishOf(workspace) === 'Stopped') return { word: 'Stopping', tone: 'busy' }
  return { word, tone }
}

/** As much of a commit as people read. */
export const shortOf = (commit: string): string => commit.slice(0, 12)

/** A word with a mark beside it; the word alone says it all. */
export const badge = ({ word, tone }: { word: string; tone: Tone }): Html =>
  html`<span class="badge ${tone}"><span class="dot" aria-hidden="true"></span>${word}</span>`

/** Says how long ago it was: `5 min`. */
export const since = (time: string, now: Moment): Html => timed(time, 'since', now && spelled(now - Date.parse(time)))

/** Says how long it is until then: `in 3 h`. */
export const until = (time: string, now: Moment): Html => timed(time, 'until', now && inWords(Date.parse(time) - now))

const inWords = (ms: number): string => (ms <= 0 ? 'now' : `in ${spelled(ms)}`)

function timed(time: string, how: 'since' | 'until', words: string | number | undefined): Html {
  const at = Date.parse(time)
  if (Number.isNaN(at)) return html`${time}`
  const written = timestamp(at)
  return html`<time datetime="${written}" title="${written}" data-time="${how}">${words ?? written}</time>`
}

/** Says in one line what is next, what it waits for, or what is wrong. */
export function noteOf(workspace: Workspace, now: Moment): Html | undefined {
  const { failure, waitingFor, willStopAt, willTerminateAt, willStartAt, step, stoppedBecause } = workspace.status ?? {}
  const { tone } = stateIn(workspace)
  if (tone === 'bad' && failure) return html`${failure.reason}: ${failure.message}`
  if (tone === 'good' && failure) return html`Changes wait: ${failure.message}`
  if (tone === 'good' && willStopAt) return html`Stops ${until(willStopAt, now)} (${whyStops(workspace)})`
  if (tone === 'off' && willStartAt) return html`Starts ${until(willStartAt, now)}, by its schedule`
  if (tone === 'off' && willTerminateAt) return html`Is removed ${until(willTerminateAt, now)}`
  if (tone === 'off') return stoppedBecause ? html`${stoppedBecause}` : undefined
  if (waitingFor) return html`Waits for ${waitingFor}`
  if (!step) return
  return html`${step.name}${step.container ? ` of ${step.container}` : ''}, for ${since(step.since, now)}`
}

const REASONS: Readonly<Record<string, string>> = {
  Idle: 'nobody uses it',
  Schedule: 'by its schedule',
  MaxActiveHours: 'the time limit of its class',
}

export const whyStops = ({ status }: Workspace): string => {
  const reason = status?.willStopReason ?? ''
  return REASONS[reason] ?? reason
}
