import { type Workspace, workspaceStepsOf } from '../api/index.ts'
import { accessRulesOf, type WorkspaceShare } from '../engines/access/index.ts'
import { type Child, type Html, html, linkTo } from './html.ts'
import { type Fragment, sectionOf } from './view.ts'
import { badge, type Moment, noteOf, since, stateIn, until, whyStops } from './words.ts'
import { actionForm, buttonsOf, pathOf } from './workspace-list.ts'

interface Viewer {
  mayChange: boolean
  /** What is in it only its owner and administrators change. */
  mayResize: boolean
  mayRemove: boolean
  now: Moment
}

export type PagePart = (workspace: Workspace, viewer: Viewer) => Fragment | undefined

/** The state, its trouble with what helps, and buttons. */
export const nowPart: PagePart = (workspace, { mayChange, mayRemove, now }) => {
  const state = stateIn(workspace)
  const { failure } = workspace.status ?? {}
  const note = failure ? undefined : noteOf(workspace, now)
  const may = (verb: string, label: string) => mayChange && actionForm(workspace, { verb, label, kind: 'quiet', from: 'page' })
  const trouble =
    failure &&
    html`<div class="trouble"><p class="wrong">${failure.cause && `${failure.cause}: `}${failure.message}</p>
${failure.remedy && html`<p><strong>What helps:</strong> ${failure.remedy}</p>`}
<p class="facts">${failure.reason}${failure.step && html`, in step ${failure.step}`}${failure.since && html`, for ${since(failure.since, now)}`}${failure.tried && html`; ${failure.tried}`}</p></div>`
  const found = sectionOf(
    'now',
    'State',
    html`<p>${badge(state)} ${note}</p>
${trouble}
<div class="buttons">${buttonsOf(workspace, { mayChange, from: 'page' })}
${state.tone === 'good' && may('restart', 'Restart')}
${mayRemove && html`<a class="button danger" href="${pathOf(workspace)}/delete">Delete…</a>`}</div>`,
  )
  return { ...found, say: `${workspace.metadata.name} is ${state.word.toLowerCase()}` }
}

const WAYS = {
  Requests: ', in a browser',
  Connection: ', by a connection that stays open, as that of an editor',
  SSH: ', by SSH',
} as const

/** Things that will happen to it by themselves, with their times. */
export const timePart: PagePart = (workspace, { mayChange, now }) => {
  const { willStopAt, willStartAt, willTerminateAt, willTerminateReason, willDeleteAt, kept, lastActivityAt, lastActivityBy } =
    workspace.status ?? {}
  const isRunning = stateIn(workspace).tone === 'good'
  const lines: Html[] = []
  if (willStopAt) lines.push(html`It stops ${until(willStopAt, now)}: ${whyStops(workspace)}.`)
  if (isRunning && !willStopAt) lines.push(html`Nothing stops it by itself.`)
  if (kept) lines.push(html`It was asked to stay until ${until(kept.until, now)}.`)
  if (willStartAt) lines.push(html`Its schedule starts it ${until(willStartAt, now)}.`)
  if (willTerminateAt) lines.push(html`It is removed ${until(willTerminateAt, now)}, with its files (${willTerminateReason}).`)
  if (willDeleteAt) lines.push(html`Its record is deleted ${until(willDeleteAt, now)}.`)
  if (lastActivityAt)
    lines.push(html`It was last used ${since(lastActivityAt, now)} ago${lastActivityBy && WAYS[lastActivityBy]}.`)
  if (lines.length === 0) return
  const more =
    mayChange && isRunning && willStopAt && actionForm(workspace, { verb: 'bump', label: '+1 h', kind: 'quiet', from: 'page' })
  return sectionOf(
    'time',
    'What comes',
    html`<ul class="lines">${lines.map((line) => html`<li>${line}</li>`)}</ul>${more || undefined}`,
  )
}

const DONE = { True: 'done', False: 'not done', Unknown: 'not known' } as const

/** The steps of its start, with their times, and the one that runs. */
export const stepsPart: PagePart = (workspace, { now }) => {
  const steps = workspaceStepsOf(workspace)
  const { step } = workspace.status ?? {}
  if (steps.length === 0 && !step) return
  const current =
    step &&
    html`<p><strong>Now:</strong> ${step.name}${step.container && html` of ${step.container}`}, for ${since(step.since, now)}.</p>`
  const items = steps.map(
    ({ type, status, message, lastTransitionTime }) =>
      html`<li class="${status === 'True' ? 'done' : 'open'}"><strong>${wordsOf(type)}</strong>: ${DONE[status]}, ${since(lastTransitionTime, now)} ago. <span class="facts">${message}</span></li>`,
  )
  return sectionOf('steps', 'Steps', html`${current}<ol class="lines">${items}</ol>`)
}

/** `PodScheduled` as people read it. */
const wordsOf = (type: string): string => type.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** Addresses of its ports, and those who may reach them. */
export const portsPart: PagePart = (workspace, { now }) => {
  const rules = accessRulesOf(workspace)
  const rows = [...rules.ports.values()].map(({ port, names, host, visibility }) => {
    const url = linkTo(`https://${host}/`)
    return html`<li><strong>${names.join(', ')}</strong> ${port}: ${visibility}.
${
  url &&
  html`<a href="${url}" target="_blank" rel="noopener noreferrer">${url}<span class="unseen"> in a new tab</span></a>
<button class="quiet" type="button" data-copy="${url}">Copy<span class="unseen"> the address of ${names.join(', ')}</span></button>`
}</li>`
  })
  const shares = rules.shares.map(
    (share) => html`<li>Shared with ${whoIn(share)}: ${share.ports.join(', ') || 'no port'}${endOf(share, now)}.</li>`,
  )
  if (rows.length + shares.length === 0) return
  return sectionOf(
    'ports',
    'Ports',
    html`<p class="facts">Besides its owner and those it is shared with, no port is open to more than: ${rules.maxVisibility}.</p>
<ul class="lines">${rows}${shares}</ul>`,
  )
}

const whoIn = ({ user, group }: WorkspaceShare): string =>
  user ?? (group === undefined ? 'whoever has a link' : `the group ${group}`)

const endOf = ({ until: end }: WorkspaceShare, now: Moment): Html | undefined => {
  if (end === Number.POSITIVE_INFINITY) return
  // Without a time, or with one that cannot be read.
  return end === 0 ? html`, which is over` : html`, which ends ${until(new Date(end).toISOString(), now)}`
}

/** Conditions that do not hold though it was asked for them. */
export const remarksPart: PagePart = (workspace) => {
  const steps = new Set(workspaceStepsOf(workspace).map(({ type }) => type))
  const found = (workspace.status?.conditions ?? []).filter(
    ({ type, status }) => status === 'False' && type !== 'Ready' && !steps.has(type),
  )
  if (found.length === 0) return
  return sectionOf(
    'remarks',
    'Remarks',
    html`<ul class="lines">${found.map(({ type, message }) => html`<li><strong>${wordsOf(type)}</strong>: not so. ${message}</li>`)}</ul>`,
  )
}

/** Owner, class, project, target and the like. */
export const factsPart: PagePart = ({ metadata, spec, status = {} }, { now }) => {
  const { class: chosen, target, resources, backups, restoredFrom } = status
  const facts: [name: string, value: Child][] = [
    ['Owner', spec.owner],
    ['Made', metadata.creationTimestamp ? html`${since(metadata.creationTimestamp, now)} ago` : undefined],
    ['Class', chosen?.name ?? spec.workspaceClassName],
    ['Project', spec.project && `${spec.project.gitProject}${spec.project.ref ? ` at ${spec.project.ref}` : ''}`],
    ['Devfile', status.devfile?.path && `${status.devfile.path} at ${status.devfile.commit?.slice(0, 12) ?? '?'}`],
    ['Target', target && [target.name, target.namespace && `namespace ${target.namespace}`].filter((word) => word).join(', ')],
    [
      'Size',
      resources?.running
        ?.map(({ container, limits = {} }) => `${container}: cpu ${limits.cpu ?? 'any'}, memory ${limits.memory ?? 'any'}`)
        .join('; '),
    ],
    ['Backups', backups?.map(({ name, state }) => `${name} (${state})`).join(', ')],
    ['Made from', restoredFrom && `backup ${restoredFrom.name}`],
  ]
  const known = facts.filter(([, value]) => value !== undefined && value !== '' && value !== false)
  return sectionOf(
    'facts',
    'What it is',
    html`<dl>${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`,
  )
}
