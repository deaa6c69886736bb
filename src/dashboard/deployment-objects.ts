import type { GitOpsDeployment } from '../api/index.ts'
import { beginningOf } from '../std/index.ts'
import { html } from './html.ts'
import { healthOf } from './object-list.ts'
import { emptyRow, type Fragment, moreRow } from './view.ts'
import { badge } from './words.ts'

type Resource = NonNullable<NonNullable<GitOpsDeployment['status']>['resources']>[number]

/** Rows on one page. Where there are more, those that are well are left out first. */
const MOST = 500
const MOST_NOTES = 5
const MOST_TEXT = 500

/** The objects by namespace and kind, a row each: a row that has not changed is not sent again. */
export function objectRows({ status }: GitOpsDeployment): Fragment[] {
  const all = new Map((status?.resources ?? []).map((resource) => [idOf(resource), resource]))
  const shown = mostTelling([...all]).sort(([a], [b]) => (a < b ? -1 : 1))
  const groups = Map.groupBy(shown, ([, { namespace = '' }]) => namespace)
  const rows = [...groups].flatMap(([namespace, members]) => [
    ...(groups.size > 1 ? [headingOf(namespace)] : []),
    ...members.map(([id, resource]) => rowOf(id, resource)),
  ])
  // Of what is well, not everything is in the status.
  const listed = [...all.values()].filter(({ version }) => version !== '').length
  const left = all.size - shown.length + Math.max(0, (status?.inventory?.count ?? 0) - listed)
  if (rows.length === 0) return [emptyRow('objects', 'It has no objects.')]
  return left > 0 ? [...rows, moreRow('objects', `And ${left} more.`)] : rows
}

const isWell = ({ status, health, message }: Resource): boolean =>
  status === 'Synced' && (health?.status ?? 'Healthy') === 'Healthy' && message === undefined

function mostTelling<Entry extends [string, Resource]>(all: Entry[]): Entry[] {
  if (all.length <= MOST) return all
  const isTrouble = ([, resource]: Entry) => !isWell(resource)
  return [...all.filter(isTrouble), ...all.filter((entry) => !isTrouble(entry))].slice(0, MOST)
}

const idOf = ({ namespace = '', kind, group = '', name }: Resource): string => `object-${namespace}/${kind}.${group}/${name}`

const headingOf = (namespace: string): Fragment => {
  const id = `namespace-${namespace}`
  return { id, list: 'objects', html: html`<li id="${id}" class="heading"><h3>${namespace || 'Of the cluster'}</h3></li>` }
}

function rowOf(id: string, { kind, group, name, status = 'Unknown', hook, drift = [], health, message }: Resource): Fragment {
  const notes = [
    ...(hook === undefined ? [] : [`${hook} hook`]),
    ...(drift.length > 0 ? [`differs in ${drift.join(', ')}`] : []),
    ...(message === undefined ? [] : [message]),
    ...(health?.message === undefined || health.message === message ? [] : [health.message]),
  ].map((note) => beginningOf(note, MOST_TEXT))
  return {
    id,
    list: 'objects',
    html: html`<li id="${id}" class="object"><p class="name"><strong>${group ? `${kind}.${group}` : kind}</strong> ${name}</p>
<p class="marks">${health && badge(healthOf(health.status))} ${status === 'OutOfSync' ? badge({ word: status, tone: 'busy' }) : html`<span class="facts">${status}</span>`}</p>
${notes.slice(0, MOST_NOTES).map((note) => html`<p class="note">${note}</p>`)}</li>`,
  }
}
