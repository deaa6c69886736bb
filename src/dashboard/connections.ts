import { createHash } from 'node:crypto'
import type { Cache, Kube } from '../adapters/kube/index.ts'
import { type ConfigMap, ConfigMaps, type Ref } from '../api/index.ts'
import type { Person } from '../engines/access/index.ts'
import type { Permissions } from '../engines/permissions/index.ts'
import { type Clock, minutes, recordIn } from '../std/index.ts'
import { html } from './html.ts'
import type { SignedInUser } from './ports.ts'
import { emptyRow, type Fragment, inList, type LiveView } from './view.ts'
import { type Moment, since } from './words.ts'

/** Tells who is connected, as all proxies have written it down. */
export interface ConnectionSources {
  cache: Cache<ConfigMap>
  /** Somebody who may get this sees who is connected. */
  ref: Ref
  /** Somebody who may patch this may sign people out. */
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

/** A proxy that has written nothing for so long is not there any more. */
const FORGOTTEN = minutes(5)

interface ConnectionServices {
  connections: ConnectionSources
  permissions: Permissions
}

/** Platform engineers are those who may read the list itself. */
export const maySeeConnections = (services: ConnectionServices, person: Person): Promise<boolean> =>
  mayDo(services, person, 'get', services.connections.ref)

const mayDo = ({ permissions }: ConnectionServices, person: Person, verb: string, { name, namespace = '' }: Ref) =>
  permissions.may(person, { verb, kind: ConfigMaps, namespace, name })

export async function connectionsView(
  services: ConnectionServices & { clock: Clock },
  { person }: SignedInUser,
): Promise<LiveView | undefined> {
  const { connections, permissions, clock } = services
  const { cache, ref, signOutsRef } = connections
  if (!(await maySeeConnections(services, person))) return
  return {
    async fragments(now) {
      const [maySee, may] = await Promise.all([
        maySeeConnections(services, person),
        mayDo(services, person, 'patch', signOutsRef),
      ])
      const found = maySee ? connectionsIn(cache.get(ref), clock.now()) : []
      return found.length > 0
        ? found.map((connection) => rowOf(connection, may, now))
        : [emptyRow('rows', 'Nobody is connected.')]
    },
    page: (fragments) => ({
      title: 'Who is connected',
      section: '/connections',
      live: '/connections',
      content: html`<p>Whoever has something open in a workspace, a few seconds ago. Signing somebody out ends all their sessions and what is open in them; they can sign in again, so take
the share or the role away first.</p>
<ul id="rows" class="cards">${inList(fragments, 'rows')}</ul>`,
    }),
    watch: (listener) => [cache.onChange(listener), permissions.onChange(listener)],
  }
}

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
