import { type BranchEnvironment, conditionOf, Environments, type Preview, Previews, type Ref } from '../api/index.ts'
import { beginningOf, durationOf } from '../std/index.ts'
import { type Child, type Html, html } from './html.ts'
import { type ListServices, type ObjectList, troubleOf } from './object-list.ts'
import type { SignedInUser } from './ports.ts'
import { emptyRow, type Fragment, factsLine, inList, type LiveView, moreRow, sectionOf } from './view.ts'
import { badge, type Moment, shortOf, since, type Tone, until } from './words.ts'

type Expired = NonNullable<NonNullable<Preview['status']>['expired']>[number]

/** Rows on one page; so many environments there are at most, and more branches that have none any more. */
const MOST = 300
const MOST_TEXT = 500

/** Path of the page about a Preview. */
export const previewPath = ({ metadata: { name, namespace } }: Preview): string => `/previews/${namespace}/${name}`

/** Previews, and how many of their branches have an environment. The branches are on a page each. */
export const PREVIEWS: ObjectList<Preview> = {
  kind: Previews,
  path: '/previews',
  title: 'Previews',
  none: 'There is no Preview in a namespace in which you may list them.',
  row: (preview) => ({
    title: html`<a href="${previewPath(preview)}">${preview.metadata.name}</a>`,
    state: stateOf(preview),
    facts: factsOf(preview),
    notes: troubleOf(preview.status?.conditions),
  }),
}

function stateOf({ status }: Preview): { word: string; tone: Tone } {
  const ready = conditionOf(status?.conditions, 'Ready')
  if (ready?.status === 'True') return { word: 'Ready', tone: 'good' }
  if (ready?.reason === 'Suspended') return { word: 'Suspended', tone: 'off' }
  return ready?.status === 'False' ? { word: 'Not ready', tone: 'bad' } : { word: 'Waiting', tone: 'busy' }
}

function factsOf({ spec: { branches }, status }: Preview): Child[] {
  const { environments = 0, ready = 0, waiting = 0, expired = 0 } = status?.counts ?? {}
  return [
    `branches ${branches.pattern ?? '*'} of ${branches.project}`,
    status?.counts && `${ready} of ${environments} environments ready`,
    waiting > 0 && `${waiting} waiting for room`,
    expired > 0 && `${expired} expired`,
  ]
}

/** A Preview with the environments of its branches, and the branches whose environment has gone before them. */
export async function previewView(
  { shared, permissions }: ListServices,
  { person }: SignedInUser,
  ref: Ref & { namespace: string },
): Promise<LiveView | undefined> {
  const { name, namespace } = ref
  const maySee = () => permissions.may(person, { verb: 'get', kind: Previews, ...ref })
  const cache = await shared.of(Previews)
  if (!(cache.get(ref) && (await maySee()))) return
  return {
    async fragments(now) {
      const [isSeen, mayMark] = await Promise.all([
        maySee(),
        permissions.may(person, { verb: 'patch', kind: Environments, namespace }),
      ])
      const preview = isSeen ? cache.get(ref) : undefined
      if (!preview) return [{ id: 'gone', list: 'parts', html: html`<p id="gone">It is not there any more.</p>` }]
      return [statePart(preview), ...branchRows(preview, { mayMark, now })]
    },
    page: (fragments) => ({
      title: name,
      section: '/previews',
      live: `/previews/${namespace}/${name}`,
      content: html`<p class="facts">Preview in ${namespace}</p>
<div id="parts" class="parts">${inList(fragments, 'parts')}</div>
<ul id="branches" class="cards">${inList(fragments, 'branches')}</ul>`,
    }),
    watch: (listener) => [cache.onChangeOf(ref, listener), permissions.onChange(listener)],
  }
}

function statePart(preview: Preview): Fragment {
  const { metadata, spec, status } = preview
  const state = stateOf(preview)
  const view = conditionOf(status?.conditions, 'RepositoryInView')
  const unseen = view?.status === 'False' && `Nothing newer is seen of the repository: ${view.reason}: ${view.message}`
  const notes = [...troubleOf(status?.conditions), ...(unseen ? [beginningOf(unseen, MOST_TEXT)] : [])]
  const section = sectionOf(
    'now',
    'State',
    html`<p>${badge(state)}</p>
${notes.map((note) => html`<p class="note">${note}</p>`)}
${factsLine([...factsOf(preview), spec.timeToLive && `each goes ${spec.timeToLive} after the last push`])}`,
  )
  return { ...section, say: `${metadata.name} is ${state.word.toLowerCase()}` }
}

interface BranchViewer {
  /** May patch Environments there. */
  mayMark: boolean
  now: Moment
}

function branchRows(preview: Preview, viewer: BranchViewer): Fragment[] {
  const { environments = [], expired = [] } = preview.status ?? {}
  const rows = [...environments.map((entry) => branchRow(preview, entry, viewer)), ...expired.map(expiredRow)]
  if (rows.length === 0) return [emptyRow('branches', 'No branch has an environment.')]
  return rows.length > MOST ? [...rows.slice(0, MOST), moreRow('branches', `And ${rows.length - MOST} more.`)] : rows
}

/** What comes before an environment is in effect; whatever else it says is trouble. */
const BUSY = /^(Deleting|Pending|Progressing|Provisioning|Waiting.*)$/

function branchRow(preview: Preview, entry: BranchEnvironment, { mayMark, now }: BranchViewer): Fragment {
  const { name, branch, commit, ready, reason, message } = entry
  const tone = ready ? 'good' : BUSY.test(reason) ? 'busy' : 'bad'
  const state = { word: ready ? 'Ready' : reason, tone } as const
  const id = `branch-${name}`
  const facts = [
    html`<a href="/deployments/${preview.metadata.namespace}/${name}">${name}</a>`,
    html`commit <code>${shortOf(commit)}</code>`,
    html`pushed ${since(entry.since, now)} ago`,
    expiryOf(preview, entry, now),
  ]
  return {
    id,
    list: 'branches',
    say: `${branch} is ${state.word.toLowerCase()}`,
    html: html`<li id="${id}" class="card ${tone}"><div class="what"><h2>${branch}</h2> ${badge(state)}
${factsLine(facts)}${!ready && message && html`<p class="note">${beginningOf(message, MOST_TEXT)}</p>`}</div>
${mayMark && html`<div class="do">${buttonsFor(preview, entry)}</div>`}</li>`,
  }
}

/** Whether somebody keeps it is told by an end that is later than the Preview would have it. */
function expiryOf({ spec }: Preview, { since: pushed, expires }: BranchEnvironment, now: Moment): Child {
  if (spec.timeToLive === undefined) return
  if (expires === undefined) return 'kept as long as its branch'
  const isKept = Date.parse(expires) > Date.parse(pushed) + durationOf(spec.timeToLive)
  return html`${isKept ? 'kept, expires' : 'expires'} ${until(expires, now)}`
}

function buttonsFor(preview: Preview, { name, branch, commit, expires }: BranchEnvironment): Html {
  const path = previewPath(preview)
  const keep = html`<form method="post" action="${path}/keep" data-quiet>
<input type="hidden" name="uid" value="${preview.metadata.uid}"><input type="hidden" name="environment" value="${name}">
<input type="hidden" name="commit" value="${commit}"><button class="quiet" id="keep-${name}">Keep<span class="unseen"> ${branch}</span></button></form>`
  return html`${expires !== undefined && keep}
${!preview.spec.suspend && html`<a class="button danger" href="${path}/delete?environment=${name}">Delete…<span class="unseen"> ${branch}</span></a>`}`
}

const expiredRow = ({ branch, commit }: Expired, at: number): Fragment => {
  const id = `expired-${at}`
  return {
    id,
    list: 'branches',
    html: html`<li id="${id}" class="card off"><div class="what"><h2>${branch}</h2> ${badge({ word: 'Expired', tone: 'off' })}
${factsLine([html`commit <code>${shortOf(commit)}</code>`, 'the next push brings it back'])}</div></li>`,
  }
}
