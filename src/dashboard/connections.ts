import { createHash } from 'node:crypto'
import type { Cache, Kube } from '../adapters/kube/index.ts'
import { type ConfigMap, ConfigMaps, type Ref } from '../api/index.ts'
import type { Person } from '../engines/access/index.ts'
import { minutes, recordIn } from '../std/index.ts'
import { html } from './html.ts'
import type { Guest } from './ports.ts'
import type { Rights } from './rights.ts'
import { type Fragment, inList, type View } from './view.ts'
import { type Moment, since } from './words.ts'

/** Who is connected, as all that pass traffic on have written it down. */
export interface Roll {
  cache: Cache<ConfigMap>
  /** Whoever may get this sees who is connected. */
  ref: Ref
  /** Whoever may patch this may sign people out. */
  signOutsRef: Ref
  /** Ends all sessions of that user, and what is open in them. */
  signOut(kube: Kube, user: string): Promise<void>
}

interface Connection {
  user: string
  workspace: string
  port: string
  since: string
}

/** Who has written nothing for so long is not there any more. */
const FORGOTTEN = minutes(5)

/** Platform engineers are whoever may read the list itself. */
export const maySeeConnections = ({ ref }: Roll, rights: Rights, person: Person): Promise<boolean> =>
  rights.may(person, { verb: 'get', kind: ConfigMaps, namespace: ref.namespace ?? '', name: ref.name })

export async function connectionsView(
  roll: Roll,
  { rights, clock }: { rights: Rights; clock: { now(): number } },
  { person }: Guest,
): Promise<View | undefined> {
  const { cache, ref, signOutsRef } = roll
  if (!(await maySeeConnections(roll, rights, person))) return
  const mayCut = () =>
    rights.may(person, { verb: 'patch', kind: ConfigMaps, namespace: signOutsRef.namespace ?? '', name: signOutsRef.name })
  return {
    async fragments(now) {
      const [maySee, may] = await Promise.all([maySeeConnections(roll, rights, person), mayCut()])
      const found = maySee ? connectionsIn(cache.get(ref), clock.now()) : []
      return found.length > 0 ? found.map((connection) => rowOf(connection, may, now)) : [NOBODY]
    },
    page: (fragments) => ({
      title: 'Who is connected',
      section: '/connections',
      live: '/connections',
      content: html`<p>Whoever has something open in a workspace, a few seconds ago. Signing somebody out ends all their sessions and what is open in them; they can sign in again, so take
the share or the role away first.</p>
<ul id="rows" class="cards">${inList(fragments, 'rows')}</ul>`,
    }),
    watch: (listener) => {
      const stops = [cache.onChange(listener), rights.onChange(listener)]
      return () => {
        for (const stop of stops) stop()
      }
    },
  }
}

const NOBODY: Fragment = { id: 'nothing', list: 'rows', html: html`<li id="nothing" class="nothing">Nobody is connected.</li>` }

function connectionsIn(map: ConfigMap | undefined, now: number): Connection[] {
  const found = Object.values(map?.data ?? {}).flatMap((text) => {
    const [first = '', ...lines] = text.split('\n')
    if (now - Date.parse(first.slice(2)) > FORGOTTEN) return []
    return lines.flatMap((line) => (line === '' ? [] : (connectionFrom(line) ?? [])))
  })
  return found.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

const keyOf = ({ user, workspace, port, since: time }: Connection): string => JSON.stringify([workspace, user, port, time])

function connectionFrom(line: string): Connection | undefined {
  const parsed = recordIn(line)
  // Somebody may have written something else there.
  if (!parsed) return
  const { user, workspace, port, since: time } = parsed
  return { user: String(user ?? ''), workspace: String(workspace ?? ''), port: String(port ?? ''), since: String(time ?? '') }
}

function rowOf(connection: Connection, mayCut: boolean, now: Moment): Fragment {
  const { user, workspace, port, since: time } = connection
  const id = `connection-${createHash('sha256').update(keyOf(connection)).digest('hex').slice(0, 16)}`
  const cut =
    mayCut &&
    user !== '' &&
    html`<div class="do"><form method="post" action="/connections/sign-out" data-quiet><input type="hidden" name="user" value="${user}">
<button class="quiet" id="${id}-out">Sign out everywhere<span class="unseen">: ${user}</span></button></form></div>`
  return {
    id,
    list: 'rows',
    html: html`<li id="${id}" class="card"><div class="what"><h2>${user === '' ? 'Somebody who has not signed in' : user}</h2>
<p class="facts">${workspace}, port ${port}, for ${since(time, now)}</p></div>${cut}</li>`,
  }
}
