import type { Reply } from '../../dashboard/index.ts'
import { judgeAccess } from '../../engines/access/index.ts'
import { type Clock, pause, seconds } from '../../std/index.ts'
import type { OwnPathRequest, RoutedWorkspace, RouteTable, Sessions } from '../web/ports.ts'
import { redirect, returnTo } from '../web/redirect.ts'
import { linksOf } from './links.ts'

/** Whatever lies between keeps a request that nothing is heard of for a minute or so. */
const LONGEST = seconds(20)
/** Somebody who may not know when something changes looks after such a time, as a page without the path would. */
const OTHERS = seconds(5)
/** Of a path with its escapes, in a header. */
const MOST_CHARACTERS = 2048

/** What the page of a start says, as far as it changes. */
const saidOf = ({ status: { actualState, step } }: Pick<RoutedWorkspace, 'status'>): string =>
  [actualState, step?.name, step?.container].filter(Boolean).join(' ')

/** Where the page of a start has the browser look next, and be led back to that target; `undefined` where that is too long. */
export function pathOfWait(workspace: Pick<RoutedWorkspace, 'status'>, target: string): string | undefined {
  const path = `/.berth/wait?${new URLSearchParams({ said: saidOf(workspace), path: target })}`
  return path.length <= MOST_CHARACTERS ? path : undefined
}

/** Answers once the page would say something else, or after a while: the browser shows it meanwhile, and is led back. */
export function createWaitAnswer(
  routes: Pick<RouteTable, 'workspace' | 'onChange'>,
  sessions: Pick<Sessions, 'of'>,
  clock: Clock,
) {
  return async ({ head, route, url }: OwnPathRequest): Promise<Reply> => {
    const { workspace, port, host } = route
    const session = await sessions.of(head, host)
    const { rules, uid } = workspace
    const { may } = judgeAccess({ rules, port, person: session?.person, links: linksOf(head), now: clock.now() })
    if (may) await untilOther(routes, uid, url.searchParams.get('said') ?? '', clock)
    else await pause(clock, OTHERS)
    return redirect(returnTo(route, url.searchParams.get('path')))
  }
}

async function untilOther(
  routes: Pick<RouteTable, 'workspace' | 'onChange'>,
  uid: string,
  said: string,
  clock: Clock,
): Promise<void> {
  const isOther = () => {
    const now = routes.workspace(uid)
    return !now || saidOf(now) !== said
  }
  if (isOther()) return
  const over = new AbortController()
  const stop = routes.onChange((changed) => {
    if (changed === uid && isOther()) over.abort()
  })
  await pause(clock, LONGEST, over.signal)
  stop()
}
