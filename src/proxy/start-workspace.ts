import type { Kube } from '../adapters/kube/index.ts'
import { keyOf, Workspaces } from '../api/index.ts'
import { isFromOwnPage, type Reply } from '../dashboard/index.ts'
import { judgeAccess } from '../engines/access/index.ts'
import { type Clock, Failure, isFailure, type Log } from '../std/index.ts'
import { type Notice, renderNotice } from './web/page.ts'
import type { OwnPathRequest, Sessions } from './web/ports.ts'
import { TO_FIRST_PAGE } from './web/redirect.ts'

/**
 * Starts a workspace for its owner, as the owner: whether they may is up to the roles of the cluster. It is asked by a form on a
 * page of that very host, which no other site can send.
 */
export function createStarter(kube: Kube, sessions: Pick<Sessions, 'of'>, clock: Clock, log: Log) {
  return async ({ head, route, recipient }: OwnPathRequest): Promise<Reply> => {
    const { workspace, port, host } = route
    if (head.method !== 'POST') return TO_FIRST_PAGE
    if (!isFromOwnPage(head, `https://${host}`)) return renderNotice(FROM_ELSEWHERE, recipient)
    const session = await sessions.of(head, host)
    const judgement = judgeAccess({ rules: workspace.rules, port, person: session?.person, now: clock.now() })
    if (!(session && judgement.may && judgement.as === 'owner')) return renderNotice(NOT_OWNER, recipient)
    const { user, groups } = session.person
    const { name, namespace } = workspace.ref
    try {
      const change = { metadata: { uid: workspace.uid }, spec: { desiredState: 'Running' } }
      await kube.as({ user, groups: [...groups] }).patch(Workspaces, { name, namespace }, change)
      log.info('A workspace was started from its page', { workspace: keyOf(workspace.ref), request: recipient.requestId })
      return TO_FIRST_PAGE
    } catch (thrown) {
      const failure = Failure.from(thrown)
      log.warn('A workspace could not be started', { request: recipient.requestId, error: failure })
      return renderNotice(isFailure(failure, 'unavailable', 'timeout') ? TRY_AGAIN : notStarted(name, namespace), recipient)
    }
  }
}

const FROM_ELSEWHERE: Notice = {
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
