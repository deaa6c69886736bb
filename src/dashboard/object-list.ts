import { type Condition, conditionOf, type Kind, type KubeObject } from '../api/index.ts'
import type { Permissions } from '../engines/permissions/index.ts'
import { beginningOf } from '../std/index.ts'
import { type Child, html } from './html.ts'
import type { SignedInUser } from './ports.ts'
import type { SharedCaches } from './shared-caches.ts'
import { emptyRow, type Fragment, factsLine, inList, type LiveView, moreRow } from './view.ts'
import { badge, type Moment, since, type Tone } from './words.ts'

/** A list of objects of one kind, as the roles of the cluster let somebody list them. */
export interface ObjectList<T extends KubeObject> {
  kind: Kind<T>
  path: string
  title: string
  none: string
  row: (object: T, now: Moment) => ObjectRow
}

interface ObjectRow {
  title: Child
  state: { word: string; tone: Tone }
  facts: readonly Child[]
  /** A line each. */
  notes: readonly Child[]
}

const MOST = 300

export interface ListServices {
  shared: SharedCaches
  permissions: Permissions
}

export async function objectListView<T extends KubeObject>(
  section: ObjectList<T>,
  { shared, permissions }: ListServices,
  { person }: SignedInUser,
): Promise<LiveView> {
  const { kind, path, title, none } = section
  const cache = await shared.of(kind)
  /** Rows without a time in them, as long as an object is as it was. */
  const kept = new WeakMap<T, Fragment>()
  const rowOnce = (object: T, now: Moment): Fragment => {
    const row = (now === undefined && kept.get(object)) || rowOf(section, object, now)
    if (now === undefined) kept.set(object, row)
    return row
  }
  return {
    async fragments(now) {
      const all = [...cache.all()]
      const namespaces = [...new Set(all.map(({ metadata }) => metadata.namespace ?? ''))]
      const seen = await permissions.where(person, { verb: 'list', kind }, namespaces)
      const shown = all.filter(({ metadata }) => seen.has(metadata.namespace ?? '')).sort(byPlace)
      const rows = shown.slice(0, MOST).map((object) => rowOnce(object, now))
      if (shown.length > MOST) rows.push(moreRow('rows', `And ${shown.length - MOST} more.`))
      return rows.length > 0 ? rows : [emptyRow('rows', none)]
    },
    page: (fragments) => ({
      title,
      section: path,
      live: path,
      content: html`<ul id="rows" class="cards">${inList(fragments, 'rows')}</ul>`,
    }),
    watch: (listener) => [cache.onChange(listener), permissions.onChange(listener)],
  }
}

const placeOf = ({ metadata: { name, namespace } }: KubeObject): string => `${namespace} ${name}`
const byPlace = (a: KubeObject, b: KubeObject): number => (placeOf(a) < placeOf(b) ? -1 : 1)

function rowOf<T extends KubeObject>({ row }: ObjectList<T>, object: T, now: Moment): Fragment {
  const { uid = '', name, namespace, creationTimestamp } = object.metadata
  const { title, state, facts, notes } = row(object, now)
  const id = `row-${uid}`
  const made = creationTimestamp && html`made ${since(creationTimestamp, now)} ago`
  return {
    id,
    list: 'rows',
    say: `${name} is ${state.word.toLowerCase()}`,
    html: html`<li id="${id}" class="card ${state.tone}"><div class="what"><h2>${title}</h2> ${badge(state)}
${factsLine([namespace, ...facts, made])}${notes.map((note) => html`<p class="note">${note}</p>`)}</div></li>`,
  }
}

const HEALTH: Readonly<Record<string, Tone>> = {
  Healthy: 'good',
  Progressing: 'busy',
  Degraded: 'bad',
  Missing: 'bad',
  Suspended: 'off',
}

export const healthOf = (word: string | undefined): { word: string; tone: Tone } => ({
  word: word ?? 'Unknown',
  tone: HEALTH[word ?? ''] ?? 'busy',
})

/** Says what is wrong in the words of the object itself. */
export function troubleOf(conditions: readonly Condition[] | undefined): string[] {
  const ready = conditionOf(conditions, 'Ready')
  return ready && ready.status !== 'True' ? [beginningOf(`${ready.reason}: ${ready.message}`)] : []
}
