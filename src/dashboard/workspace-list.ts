import type { Cache } from '../adapters/kube/index.ts'
import { indexBy, refOf, type Workspace, Workspaces } from '../api/index.ts'
import type { Permissions } from '../engines/permissions/index.ts'
import { type Child, type Html, html, linkTo } from './html.ts'
import type { PageContent } from './page.ts'
import type { SignedInUser } from './ports.ts'
import { emptyRow, type Fragment, factsLine, inList, type LiveView, moreRow } from './view.ts'
import { badge, type Moment, noteOf, since, stateIn } from './words.ts'

const byOwner = indexBy(({ spec }: Workspace) => (spec.owner ? [spec.owner] : []))

/** Rows as they are sent to all who look, as long as a workspace is as it was; by what else they depend on. */
export type RowMemory = WeakMap<Workspace, Map<string, Fragment>>

interface ListSources {
  workspaces: Cache<Workspace>
  permissions: Permissions
  rows: RowMemory
}

/** Rows on one page; a person who has more narrows them down. */
const MOST = 300

/** Whoever owns a workspace may open it, and so sees it here, whatever the roles of its namespace say. */
export const isOwnedBy = ({ user }: SignedInUser['person'], { spec }: Workspace): boolean => user !== '' && spec.owner === user

/** The workspaces of somebody, or all that the cluster's roles let them list beside these. */
export function listView({ workspaces, permissions, rows: kept }: ListSources, { person }: SignedInUser, url: URL): LiveView {
  const isAll = url.searchParams.has('all')
  const sought = (url.searchParams.get('q') ?? '').trim().toLowerCase().slice(0, 100)
  const found = (): Workspace[] => {
    const all = isAll ? [...workspaces.all()] : workspaces.by(byOwner, person.user)
    return sought === '' ? all : all.filter((workspace) => textOf(workspace).includes(sought))
  }
  return {
    async fragments(now) {
      const chosen = found()
      const namespaces = [...new Set(chosen.map(({ metadata }) => metadata.namespace ?? ''))]
      const [seen, changed] = await Promise.all([
        permissions.where(person, { verb: 'list', kind: Workspaces }, namespaces),
        permissions.where(person, { verb: 'patch', kind: Workspaces }, namespaces),
      ])
      const maySee = (workspace: Workspace) => seen.has(workspace.metadata.namespace ?? '') || isOwnedBy(person, workspace)
      const shown = chosen.filter(maySee).sort(byName)
      const rows = shown
        .slice(0, MOST)
        .map((workspace) => rowOnce(kept, workspace, { isAll, mayChange: changed.has(workspace.metadata.namespace ?? ''), now }))
      const hidden = chosen.length - shown.length
      if (shown.length > MOST) rows.push(moreRow('workspaces', `And ${shown.length - MOST} more; search for what you want.`))
      return rows.length > 0 ? rows : [nothing({ isAll, sought, hidden })]
    },
    page: (fragments) => listPage(fragments, { isAll, sought, path: `${url.pathname}${url.search}` }),
    watch: (listener) => [
      isAll ? workspaces.onChange(listener) : workspaces.onChangeBy(byOwner, person.user, listener),
      permissions.onChange(listener),
    ],
  }
}

const textOf = ({ metadata: { name, namespace }, spec }: Workspace): string =>
  `${namespace}/${name} ${spec.owner ?? ''} ${spec.project?.gitProject ?? ''}`.toLowerCase()

const keyIn = ({ metadata: { name, namespace } }: Workspace): string => `${name} ${namespace}`

const byName = (a: Workspace, b: Workspace): number => (keyIn(a) < keyIn(b) ? -1 : 1)

/** Path of the page about a workspace. */
export const pathOf = ({ metadata: { name, namespace } }: Workspace): string => `/workspaces/${namespace}/${name}`

/** A row without a time in it is written once for everybody. */
function rowOnce(kept: RowMemory, workspace: Workspace, how: RowOptions): Fragment {
  if (how.now !== undefined) return rowOf(workspace, how)
  const key = `${how.isAll} ${how.mayChange}`
  const known = kept.get(workspace) ?? new Map<string, Fragment>()
  kept.set(workspace, known)
  const row = known.get(key) ?? rowOf(workspace, how)
  known.set(key, row)
  return row
}

interface RowOptions {
  isAll: boolean
  mayChange: boolean
  now: Moment
}

function rowOf(workspace: Workspace, { isAll, mayChange, now }: RowOptions): Fragment {
  const { name, uid = '', namespace, creationTimestamp } = workspace.metadata
  const { spec, status } = workspace
  const id = `workspace-${uid}`
  const state = stateIn(workspace)
  const note = noteOf(workspace, now)
  const facts: Child[] = [
    namespace,
    isAll && spec.owner !== undefined && html`of ${spec.owner}`,
    spec.project && html`${spec.project.gitProject}${spec.project.ref ? ` at ${spec.project.ref}` : ''}`,
    status?.startedAt && state.tone === 'good' ? html`since ${since(status.startedAt, now)}` : false,
    state.tone !== 'good' && creationTimestamp !== undefined && html`made ${since(creationTimestamp, now)} ago`,
  ]
  return {
    id,
    list: 'workspaces',
    say: `${name} is ${state.word.toLowerCase()}`,
    html: html`<li id="${id}" class="card ${state.tone}">
<div class="what"><h2><a href="${pathOf(workspace)}">${name}</a></h2> ${badge(state)}
${factsLine(facts)}
${note && html`<p class="note">${note}</p>`}</div>
<div class="do">${buttonsOf(workspace, { mayChange, from: 'list' })}</div>
</li>`,
  }
}

interface ButtonOptions {
  mayChange: boolean
  /** The page to which somebody comes back. */
  from: 'list' | 'page'
}

/** The one thing that somebody most likely wants to do with it, first. */
export function buttonsOf(workspace: Workspace, { mayChange, from }: ButtonOptions): Html {
  const { tone } = stateIn(workspace)
  const { name } = workspace.metadata
  const open = tone === 'good' ? linkTo(workspace.status?.url) : undefined
  const may = (verb: string, label: string, kind: 'main' | 'quiet') =>
    mayChange && actionForm(workspace, { verb, label, kind, from })
  if (tone === 'good')
    return html`${open && html`<a class="button main" href="${open}" target="_blank" rel="noopener noreferrer">Open<span class="unseen"> ${name} in a new tab</span></a>`}
${may('stop', 'Stop', 'quiet')}`
  if (tone === 'off') return html`${workspace.spec.desiredState !== 'Terminated' && may('start', 'Start', 'main')}`
  const see = from === 'list' && tone === 'bad' ? 'See why' : 'See how it does'
  return html`${from === 'list' && html`<a class="button main" href="${pathOf(workspace)}">${see}<span class="unseen">: ${name}</span></a>`}
${tone === 'bad' && may('restart', 'Restart', 'quiet')}`
}

interface ActionButton {
  verb: string
  label: string
  kind: 'main' | 'quiet'
  from: ButtonOptions['from']
}

/** A form with one button, for this very workspace and no other of its name. */
export const actionForm = (workspace: Workspace, { verb, label, kind, from }: ActionButton): Html =>
  html`<form method="post" action="${pathOf(workspace)}/${verb}" data-quiet>
<input type="hidden" name="uid" value="${workspace.metadata.uid}"><input type="hidden" name="from" value="${from}">
<button class="${kind}" id="${verb}-${workspace.metadata.uid}">${label}<span class="unseen"> ${refOf(workspace).name}</span></button></form>`

function nothing({ isAll, sought, hidden }: { isAll: boolean; sought: string; hidden: number }): Fragment {
  const why =
    sought === ''
      ? hidden > 0
        ? 'There are workspaces here that the roles of this cluster do not let you list. Ask the administrators of their namespace for the role view.'
        : isAll
          ? 'There is no workspace yet.'
          : html`You have no workspace yet. <a href="/new">Make one</a>, or use <code>berth create</code>.`
      : `Nothing here is called “${sought}”.`
  return emptyRow('workspaces', why)
}

interface Search {
  isAll: boolean
  sought: string
  path: string
}

const listPage = (fragments: readonly Fragment[], { isAll, sought, path }: Search): PageContent => ({
  title: isAll ? 'All workspaces' : 'My workspaces',
  section: '/',
  live: path,
  content: html`<form class="search" method="get" action="/" role="search">
<label for="q">Search</label> <input id="q" name="q" type="search" value="${sought}" autocomplete="off">
${isAll && html`<input type="hidden" name="all" value="">`}<button class="quiet">Search</button>
<a href="${isAll ? '/' : '/?all'}">${isAll ? 'Only mine' : 'All that I may see'}</a>
</form>
<ul id="workspaces" class="cards">${inList(fragments, 'workspaces')}</ul>`,
})
