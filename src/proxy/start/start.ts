import type { Kube } from '../../adapters/kube/index.ts'
import { Workspaces } from '../../api/index.ts'
import { judge } from '../../engines/access/index.ts'
import { type Clock, Failure, isFailure, type Log } from '../../std/index.ts'
import { isOwnWish } from '../own-wish.ts'
import type { Knock, Notice, Reply, Say, Sessions } from '../ports.ts'

export interface StartDesk {
  sessions: Pick<Sessions, 'of'>
  /** The proxy's own, which acts as somebody else. */
  kube: Kube
  say: Say
  clock: Clock
  log: Log
}

/**
 * Starts a workspace for its owner, as the owner: whether they may is up to the roles of the cluster. What it is asked by is a form
 * on a page of that very host, which no other site can send.
 */
export function createStartDoor({ sessions, kube, say, clock, log }: StartDesk) {
  return async ({ call, route, reader }: Knock): Promise<Reply> => {
    const { house, port, host } = route
    if (call.method !== 'POST') return { status: 303, headers: { location: '/', 'cache-control': 'no-store' }, body: '' }
    if (!isOwnWish(call, host)) return say(NOT_OWN_WISH, reader)
    const session = await sessions.of(call, host)
    const judgement = judge({ premises: house.premises, port, person: session?.person, now: clock.now() })
    if (!(session && judgement.may && judgement.as === 'owner')) return say(NOT_OWNER, reader)
    const { user, groups } = session.person
    const { name, namespace } = house.workspace
    try {
      const change = { metadata: { uid: house.uid }, spec: { desiredState: 'Running' } }
      await kube.as({ user, groups: [...groups] }).patch(Workspaces, { name, namespace }, change)
      log.info('A workspace was started from its page', { workspace: `${namespace}/${name}`, request: reader.requestId })
      return { status: 303, headers: { location: '/', 'cache-control': 'no-store' }, body: '' }
    } catch (thrown) {
      const failure = Failure.from(thrown)
      log.warn('A workspace could not be started', { request: reader.requestId, error: failure })
      return say(isFailure(failure, 'unavailable', 'timeout') ? TRY_AGAIN : notStarted(name, namespace), reader)
    }
  }
}

const NOT_OWN_WISH: Notice = {
  status: 403,
  title: 'That came from another site',
  lines: ['Nothing was done. Start the workspace from its own page.'],
}
const NOT_OWNER: Notice = {
  status: 403,
  title: 'Only its owner starts a workspace here',
  lines: ['Ask its owner to start it.'],
}
const TRY_AGAIN: Notice = { status: 503, title: 'It cannot be started just now', lines: ['Try again in a moment.'] }
const notStarted = (name: string, namespace: string): Notice => ({
  status: 403,
  title: 'The cluster does not let you start it from here',
  lines: [`berth start ${name} -n ${namespace} says why.`],
})
