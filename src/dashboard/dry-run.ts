import { conditionOf, type GitOpsDeployment, type GitOpsDeploymentSyncRun } from '../api/index.ts'
import { beginningOf } from '../std/index.ts'
import { type DeploymentViewer, deploymentForm } from './deployment-parts.ts'
import { type Html, html, markupOf } from './html.ts'
import { type Fragment, sectionOf } from './view.ts'
import { badge, shortOf, since } from './words.ts'

type DryRun = NonNullable<NonNullable<GitOpsDeploymentSyncRun['status']>['dryRun']>
type Listed = NonNullable<DryRun['objects']>[number]
type Field = NonNullable<Listed['fields']>[number]

/** Characters of markup: a browser that is slow has to take them before it is sent anything else. */
const MOST = 300_000
/** Of one object, so that it leaves room for others. */
const MOST_OF_ONE = 60_000
const MOST_TEXT = 1000
/** So few are shown with their fields; of more, people open what they want to see. */
const FEW = 6

const WOULD = {
  Create: { sign: '+', words: 'to create', look: 'added' },
  Change: { sign: '~', words: 'to change', look: 'changed' },
  Delete: { sign: '−', words: 'to delete', look: 'removed' },
  Hold: { sign: '?', words: 'held back', look: 'removed' },
  Leave: { sign: '=', words: 'left', look: '' },
  Refuse: { sign: '!', words: 'refused', look: 'removed' },
} as const

/** What a synchronisation would do, as the operator has found it by the last dry run, and a button for the next. As `berth diff`. */
export function dryRunPart(
  deployment: GitOpsDeployment,
  last: GitOpsDeploymentSyncRun | undefined,
  { mayRun, now }: DeploymentViewer,
): Fragment | undefined {
  if (!(mayRun || last)) return
  const isUnderWay = last !== undefined && !['Succeeded', 'Failed'].includes(last.status?.phase ?? '')
  const button =
    mayRun &&
    !isUnderWay &&
    html`<div class="buttons">${deploymentForm(deployment, 'diff', { label: 'What would a sync change?', kind: 'quiet', id: 'diff' })}</div>`
  const { content, say } = last
    ? answerOf(last, deployment, now)
    : {
        content: html`<p>Nothing is applied: the server is asked, with the deployment’s rights, what it would make of each object.</p>`,
        say: undefined,
      }
  const section = sectionOf('look', 'What a sync would change', html`${last && button}${content}${!last && button}`)
  return say === undefined ? section : { ...section, say }
}

function answerOf(
  { metadata, spec, status = {} }: GitOpsDeploymentSyncRun,
  deployment: GitOpsDeployment,
  now: DeploymentViewer['now'],
): { content: Html; say?: string } {
  const { phase, dryRun, completedAt, revision = '' } = status
  const { message = '' } = conditionOf(status.conditions, 'Ready') ?? {}
  const told = beginningOf(message, MOST_TEXT)
  const ago = completedAt && html` <span class="facts">Found ${since(completedAt, now)} ago.</span>`
  if (phase === 'Failed')
    return { content: html`<p class="wrong">That cannot be said: ${told}</p><p>${ago}</p>`, say: 'That cannot be said' }
  if (phase !== 'Succeeded' || !dryRun) {
    const begun = metadata.creationTimestamp && html`, for ${since(metadata.creationTimestamp, now)}`
    const of = spec.revisionID && html` Commit <code>${shortOf(spec.revisionID)}</code>.`
    return { content: html`<p>${badge({ word: 'Being looked at', tone: 'busy' })}${begun}.${of} ${told}</p>` }
  }
  const sum = sumOf(dryRun)
  const { objects, left } = fitting(dryRun)
  return {
    say: `A sync would do this: ${sum}`,
    content: html`<p>With commit <code>${shortOf(revision)}</code>: <strong>${sum}</strong>.${ago}</p>
${dryRun.refuse > 0 && html`<p class="wrong">A sync would fail: the server refuses what is marked so.</p>`}
${objects.length > 0 && html`<ul class="looks">${objects}</ul>`}
${left > 0 && html`<p>And ${left} more: <code>berth diff ${deployment.metadata.name} -n ${deployment.metadata.namespace}</code> shows what is listed of them.</p>`}`,
  }
}

function sumOf(dryRun: DryRun): string {
  const counts: [number, string][] = [
    [dryRun.create, WOULD.Create.words],
    [dryRun.change, WOULD.Change.words],
    [dryRun.delete, WOULD.Delete.words],
    [dryRun.hold, WOULD.Hold.words],
    [dryRun.refuse, WOULD.Refuse.words],
    [dryRun.unchanged, 'as they are'],
  ]
  const said = counts.filter(([count]) => count > 0).map(([count, words]) => `${count} ${words}`)
  return said.join(', ') || 'nothing to do'
}

function fitting({ objects = [], omitted = 0 }: DryRun): { objects: Html[]; left: number } {
  const isOpen = objects.length <= FEW
  const shown = within(
    objects.map((object, at) => rowOf(object, { id: `would-${at}`, isOpen })),
    MOST,
  )
  return { objects: shown, left: objects.length - shown.length + omitted }
}

/** The first of them, with so many characters together. */
function within(all: readonly Html[], most: number): Html[] {
  let left = most
  const end = all.findIndex((each) => {
    left -= markupOf(each).length
    return left < 0
  })
  return end < 0 ? [...all] : all.slice(0, end)
}

function rowOf(object: Listed, { id, isOpen }: { id: string; isOpen: boolean }): Html {
  const { would, group, kind, namespace, name, message, source, fields = [], omittedFields = 0 } = object
  const { sign, words, look } = WOULD[would]
  const title = html`<span class="sign" aria-hidden="true">${sign}</span> <strong>${group ? `${kind}.${group}` : kind}</strong> ${namespace ? `${namespace}/` : ''}${name} <span class="facts">${words}</span>`
  const told = would === 'Create' ? fields.filter(({ path }) => !SAID_BY_TITLE.includes(path)) : fields
  const rows = within(told.map(fieldOf), MOST_OF_ONE)
  const left = told.length - rows.length + omittedFields
  const more = left > 0 && html`<p>And ${left} more fields.</p>`
  const body = html`${source && html`<p class="facts">${source}</p>`}${message && html`<p>${message}</p>`}
${rows.length > 0 && html`<dl class="fields">${rows}</dl>`}${more}`
  const isEmpty = !(source || message) && rows.length + left === 0
  return isEmpty
    ? html`<li class="${look}"><p>${title}</p></li>`
    : html`<li class="${look}"><details id="${id}"${isOpen && html` open="open"`}><summary>${title}</summary>
${body}</details></li>`
}

/** The line of the object says them already. */
const SAID_BY_TITLE = ['/apiVersion', '/kind', '/metadata/name', '/metadata/namespace']

const fieldOf = ({ path, from, to }: Field): Html =>
  html`<div><dt>${path}</dt>${from !== undefined && html`<dd class="from"><span class="unseen">Before: </span>${from}</dd>`}${to !== undefined && html`<dd class="to"><span class="unseen">Then: </span>${to}</dd>`}</div>`
