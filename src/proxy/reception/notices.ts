import type { Judgement } from '../../engines/access/index.ts'
import type { Failure } from '../../std/index.ts'
import type { Notice } from '../web/page.ts'
import type { RoutedWorkspace, Session } from '../web/ports.ts'

/** The proxy says these to people who want to reach a workspace. */
export const notices = {
  unknownHost: {
    status: 404,
    title: 'There is no workspace under this address',
    lines: ['It may have been terminated, its port may not be declared any more, or the address is misspelt.'],
  },
  badRequest: { status: 400, title: 'This request cannot be passed on', lines: ['It can be read in more than one way.'] },
  foreignOrigin: {
    status: 403,
    title: 'Another site asked for this',
    lines: [
      'Pages of other sites, other workspaces among them, may not use this workspace in your name. Open it in a tab of its own.',
    ],
  },
  signInFirst: { status: 401, title: 'Sign in first', lines: ['Open the workspace in a browser to sign in, then try again.'] },
  signInAway: { status: 503, title: 'Nobody can sign in just now', lines: ['Try again in a moment.'], again: 10 },
  undecided: { status: 503, title: 'Nobody can tell just now whether you may', lines: ['Try again in a moment.'], again: 10 },
  broken: { status: 500, title: 'Something went wrong here', lines: ['The cause is in the log, under the number below.'] },
  tooMany: { status: 429, title: 'Too many requests are under way', lines: ['Let some of them end, then try again.'], again: 10 },
  refused,
  notRunning,
  noAnswer,
} as const

type Refused = Extract<Judgement, { may: false }>

const REFUSALS: Record<Refused['why'], string> = {
  Ending: 'It is being terminated.',
  PortNotDeclared: 'This port of it is not declared.',
  SignInNeeded: 'It has to be known who you are.',
  NotShared: 'It is not shared with you.',
  ShareExpired: 'It was shared with you, and that has ended.',
}

/** The owner is named to those who have signed in, and to nobody else. */
function refused({ ref, rules }: RoutedWorkspace, { why }: Refused, session: Session | undefined): Notice {
  if (why === 'Ending') return { status: 410, title: 'This workspace is being terminated', lines: ['Nobody gets in any more.'] }
  const who = session ? `You are signed in as ${session.person.user}.` : ''
  const ask =
    session && rules.owner ? `Ask ${rules.owner}, whose it is, to share it with you.` : 'Ask its owner to share it with you.'
  return {
    status: 403,
    title: `You may not open the workspace ${ref.name}`,
    lines: [REFUSALS[why], ask, who].filter((line) => line !== ''),
  }
}

const AGAIN = 5
/** A start takes few seconds, and what is left of these when it is over is waited for in vain. */
const AGAIN_WHILE_STARTING = 2

/** `undefined`: it runs, or nobody can tell, and then it is worth a try. */
function notRunning({ ref: { name, namespace }, status, isWanted }: RoutedWorkspace, isOwner: boolean): Notice | undefined {
  const { actualState, step, failure, willStartAt, stoppedBecause } = status
  if (actualState === 'Running' || actualState === 'Unknown') return undefined
  if (actualState === 'Failed' || actualState === 'Error') {
    const details = isOwner && failure ? [`${failure.message}`, ...(failure.remedy ? [failure.remedy] : [])] : []
    return {
      status: 503,
      title: `The workspace ${name} could not start`,
      lines: [...details, isOwner ? `berth describe ${name} -n ${namespace} says more.` : 'Its owner can see why.'],
      again: 30,
    }
  }
  if ((actualState === 'Stopped' || actualState === 'Stopping') && !isWanted) {
    const when = willStartAt ? [`Its schedule starts it at ${willStartAt}.`] : []
    const how = isOwner
      ? 'Its files are as they were.'
      : `berth start ${name} -n ${namespace} starts it; its files are as they were.`
    const button = isOwner ? { label: 'Start it', action: '/.berth/start' } : undefined
    return {
      status: 503,
      title: `The workspace ${name} is stopped`,
      lines: [...(stoppedBecause ? [stoppedBecause] : []), ...when, how],
      button,
      again: 15,
    }
  }
  const doing = step ? [`Now: ${step.name}${step.container ? ` of ${step.container}` : ''}, since ${step.since}.`] : []
  return {
    status: 503,
    title: `The workspace ${name} is starting`,
    lines: [...doing, 'This page looks again by itself.'],
    again: AGAIN_WHILE_STARTING,
  }
}

/** The workspace runs, and whatever should answer does not. */
function noAnswer({ ref: { name } }: RoutedWorkspace, port: number, failure: Failure | undefined): Notice {
  const why =
    failure === undefined
      ? 'Where it runs is not known here yet, or it runs in a cluster that this proxy does not reach.'
      : `${failure.message[0]?.toUpperCase()}${failure.message.slice(1)} ${port}.`
  return {
    status: failure?.code === 'timeout' ? 504 : 502,
    title: `Nothing answers in the workspace ${name}`,
    lines: [why, 'Start what should answer there; this page looks again by itself.'],
    again: AGAIN,
  }
}
