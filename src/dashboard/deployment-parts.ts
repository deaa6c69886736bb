import {
  conditionOf,
  type GitOpsDeployment,
  type GitOpsDeploymentSyncRun,
  type PromotionLink,
  promotionRowOf,
  requesterNameOf,
  sourceChart,
  sourcePath,
  sourceUrl,
} from '../api/index.ts'
import { beginningOf, spelled } from '../std/index.ts'
import { type Child, type Html, html } from './html.ts'
import { healthOf, troubleOf } from './object-list.ts'
import { type Fragment, factsLine, sectionOf } from './view.ts'
import { badge, type Moment, shortOf, since, type Tone, until } from './words.ts'

export interface DeploymentViewer {
  /** May patch it. */
  mayChange: boolean
  /** May list the runs of its namespace. */
  maySeeRuns: boolean
  /** May create runs there. */
  mayRun: boolean
  now: Moment
}

type DeploymentPart = (deployment: GitOpsDeployment, viewer: DeploymentViewer) => Fragment

const MOST_TEXT = 1000
const MOST_RUNS = 20

interface DeploymentButton {
  label: Child
  kind: 'main' | 'quiet'
  id: string
  revision?: string
}

/** A form with one button, for this very deployment and no other of its name. */
export const deploymentForm = (
  { metadata: { name, namespace, uid } }: GitOpsDeployment,
  verb: 'sync' | 'diff' | 'rollback',
  { label, kind, id, revision }: DeploymentButton,
): Html =>
  html`<form method="post" action="/deployments/${namespace}/${name}/${verb}" data-quiet><input type="hidden" name="uid" value="${uid}">
${revision && html`<input type="hidden" name="revision" value="${revision}">`}<button class="${kind}" id="${id}">${label}</button></form>`

export const statePart: DeploymentPart = (deployment, { mayChange, mayRun, now }) => {
  const { metadata, spec, status = {} } = deployment
  const { sync, lastSyncTime, lastOutcome, pendingPrune, nextWindow } = status
  const health = healthOf(status.health?.status)
  const maySync = !spec.suspend && (spec.type === 'manual' ? mayRun : mayChange)
  const [trouble] = troubleOf(status.conditions)
  const told = lastOutcome?.revision === sync?.revision ? lastOutcome : undefined
  const section = sectionOf(
    'now',
    'State',
    html`<p>${badge(health)} ${sync?.status ?? 'not compared yet'}${sync?.revision && html`, commit <code>${shortOf(sync.revision)}</code>`}${lastSyncTime && html`, synchronised ${since(lastSyncTime, now)} ago`}</p>
${told?.subject && html`<p>“${told.subject}”${told.author && html`, by ${told.author}`}</p>`}
${trouble && html`<p class="wrong">${trouble}</p>`}
${spec.suspend && html`<p>It is suspended: nothing is applied. <code>berth resume ${metadata.name} -n ${metadata.namespace}</code> lets it go on.</p>`}
${nextWindow && html`<p>New commits wait for a sync window, which opens ${until(nextWindow, now)}.</p>`}
${pendingPrune && html`<p>${pendingPrune.count} deletions wait: ${pendingPrune.reason}. <code>berth sync ${metadata.name} -n ${metadata.namespace} --confirm-prune</code> shows them.</p>`}
${factsLine([sourceUrl(spec.source), spec.source.path, sourceChart(spec.source) ?? spec.source.semver ?? spec.source.targetRevision, spec.source.follow && `commits of ${spec.source.follow.deployment}`, spec.type === 'manual' && 'manual: new commits wait for somebody'])}
${maySync && html`<div class="buttons">${deploymentForm(deployment, 'sync', { label: 'Synchronise now', kind: 'main', id: 'sync' })}</div>`}`,
  )
  return { ...section, say: `${metadata.name} is ${health.word.toLowerCase()}` }
}

/** The deployments that commits go through, one after the other; nothing for one that is in no such chain. */
export function chainPart(
  { metadata }: GitOpsDeployment,
  links: readonly PromotionLink[],
  { now }: DeploymentViewer,
): Fragment | undefined {
  if (links.length < 2) return undefined
  const { name: own, namespace } = metadata
  const rows = links.map(promotionRowOf).map(({ name, revision, state, since: at, by, next }) => {
    const title = name === own ? html`<strong>${name}</strong>` : html`<a href="/deployments/${namespace}/${name}">${name}</a>`
    const facts = [
      revision && html`commit <code>${shortOf(revision)}</code>`,
      state,
      at && html`taken ${since(at, now)} ago`,
      by && `by ${by}`,
    ]
    const waits = next && html`<p>${next.reason}: ${beginningOf(next.message, MOST_TEXT)}</p>`
    return html`<li>${title} ${factsLine(facts)}${waits}</li>`
  })
  return { ...sectionOf('chain', 'The chain that commits go through', html`<ol class="lines">${rows}</ol>`), list: 'parts' }
}

/** Commits that were in effect, and a way back to them: for one that is manual it is an object, else `berth rollback` knows the steps. */
export const historyPart: DeploymentPart = (deployment, viewer) => {
  const { spec, status } = deployment
  const { now } = viewer
  const rows = (status?.history ?? []).map(({ revision, at, path = sourcePath(spec.source), subject }, index) => {
    const isCurrent = index === 0 && revision === status?.sync?.revision
    return html`<li><code>${shortOf(revision)}</code>${subject && html` ${beginningOf(subject, MOST_TEXT)}`}, since ${since(at, now)} ago${path !== sourcePath(spec.source) && html`, in ${path}`}${isCurrent ? html` <strong>(in effect now)</strong>` : wayBack(deployment, revision, { ...viewer, index })}</li>`
  })
  const list = rows.length > 0 ? html`<ol class="lines">${rows}</ol>` : html`<p>It has not been in effect as a whole yet.</p>`
  return { ...sectionOf('history', 'Commits that were in effect', list), list: 'past' }
}

function wayBack(
  deployment: GitOpsDeployment,
  revision: string,
  { mayRun, maySeeRuns, index }: DeploymentViewer & { index: number },
): Html | undefined {
  if (!mayRun) return
  const { metadata, spec } = deployment
  const short = shortOf(revision)
  const mayGoBack = spec.type === 'manual' && !spec.suspend
  const look =
    maySeeRuns &&
    deploymentForm(deployment, 'diff', {
      ...{ kind: 'quiet', id: `diff-${index}`, revision },
      label: html`What would that change?<span class="unseen"> Commit ${short}</span>`,
    })
  const back = deploymentForm(deployment, 'rollback', {
    ...{ kind: 'quiet', id: `rollback-${index}`, revision },
    label: html`Go back to ${short}`,
  })
  return html` <details id="back-${index}"><summary>Go back<span class="unseen"> to ${short}</span>…</summary>
${mayGoBack ? html`<p>A GitOpsDeploymentSyncRun applies this commit. What the commit does not have is pruned as ever.</p>` : html`<p><code>berth rollback ${metadata.name} -n ${metadata.namespace} --to ${short}</code> goes back to it: the deployment becomes manual first, so that the next push does not undo it.</p>`}
<div class="buttons">${look}${mayGoBack && back}</div></details>`
}

const PHASES: Readonly<Record<string, Tone>> = { Succeeded: 'good', Failed: 'bad', Running: 'busy' }

/** Synchronisations that somebody asked for, the newest first. */
export function runsPart(runs: readonly GitOpsDeploymentSyncRun[], { now }: DeploymentViewer): Fragment {
  const rows = runs.slice(0, MOST_RUNS).map((run) => {
    const { metadata, spec, status = {} } = run
    const { phase = 'Pending', revision = spec.revisionID, startedAt, completedAt } = status
    const { message = '' } = conditionOf(status.conditions, 'Ready') ?? {}
    const took = startedAt && completedAt && `took ${spelled(Date.parse(completedAt) - Date.parse(startedAt))}`
    const asked =
      metadata.creationTimestamp &&
      html`${spec.approval ? 'approved' : 'asked for'} ${since(metadata.creationTimestamp, now)} ago`
    const who = requesterNameOf(run)
    return html`<li>${badge({ word: phase, tone: PHASES[phase] ?? 'off' })}
${factsLine([revision && html`commit <code>${shortOf(revision)}</code>`, asked, who && html`by ${who}`, took, metadata.name])}
${message !== '' && html`<p>${beginningOf(message, MOST_TEXT)}</p>`}</li>`
  })
  const list = rows.length > 0 ? html`<ul class="runs">${rows}</ul>` : html`<p>None is kept.</p>`
  return { ...sectionOf('runs', 'Synchronisations that were asked for', list), list: 'past' }
}
