import type { Answer, Counter, Question, Responder } from '../../adapters/http/index.ts'
import { keyOf } from '../../api/index.ts'
import { type Clock, isFailure, type Log } from '../../std/index.ts'
import type { Credentials, Polls } from '../ports.ts'
import type { Project, Projects } from '../project.ts'
import { pushedRef } from './pushed-ref.ts'
import { createLimiter, type Limiter, type Rate } from './rate.ts'
import { isGenuine, isSigned } from './signature.ts'

export interface WebhookDesk {
  projects: Projects
  polls: Polls
  credentials: Credentials
  /** Counts answers by status. */
  answered: Counter
  clock: Clock
  log: Log
}

const PATH = /^\/webhooks\/([a-z0-9-]+)\/([a-z0-9.-]+)$/
const REFUSED: Answer = { status: 401, text: 'No such GitProject, or not signed with its webhook secret.\n' }

/** A Git server tells of many projects from one address. */
const PER_ADDRESS: Rate = { burst: 200, perSecond: 10 }
/** Counted only for who knows the secret: nobody else can use up a project's share, or learn that it has one. */
const PER_PROJECT: Rate = { burst: 30, perSecond: 1 }

/**
 * `POST /webhooks/<namespace>/<name>` says that something was pushed to that GitProject; what, is asked of the Git server
 * itself, so a forged body gains nothing. Wrong name and wrong signature get the same answer.
 */
export function receiveWebhooks(desk: WebhookDesk): Responder {
  const perAddress = createLimiter(PER_ADDRESS, desk.clock)
  const perProject = createLimiter(PER_PROJECT, desk.clock)
  return async (question) => {
    const answer = refuseHurry(perAddress, question.peer) ?? (await receive(desk, perProject, question))
    desk.answered.add({ status: String(answer.status) })
    return answer
  }
}

async function receive(desk: WebhookDesk, perProject: Limiter, question: Question): Promise<Answer> {
  const [, namespace, name] = PATH.exec(question.path) ?? []
  if (!namespace || !name) return { status: 404, text: 'Served here: POST /webhooks/<namespace>/<name>\n' }
  if (question.method !== 'POST') return { status: 405, text: 'Only POST is served here.\n' }
  const project = desk.projects.get({ namespace, name })
  if (!project || !(await isProved(desk, project, question))) return REFUSED
  return refuseHurry(perProject, keyOf(project.ref)) ?? wake(desk, project, question)
}

/** Before anything of the body is read. */
async function isProved({ credentials, log }: WebhookDesk, project: Project, question: Question): Promise<boolean> {
  if (!project.webhookSecret || !isSigned(question)) return false
  try {
    return isGenuine(question, await credentials.forWebhooks(project))
  } catch (thrown) {
    if (!isFailure(thrown, 'invalid')) throw thrown
    log.warn('A webhook could not be checked', { project: keyOf(project.ref), error: thrown })
    return false
  }
}

function wake({ polls }: WebhookDesk, project: Project, question: Question): Answer {
  try {
    const woken = polls.poke(project.ref, pushedRef(question))
    return { status: 202, text: `${woken} polls woken.\n` }
  } catch (thrown) {
    if (!isFailure(thrown, 'invalid')) throw thrown
    return { status: 400, text: `Not understood: ${thrown.message}.\n` }
  }
}

function refuseHurry(limiter: Limiter, key: string): Answer | undefined {
  const wait = limiter(key)
  if (wait === 0) return undefined
  return {
    status: 429,
    text: 'Too many requests; polls go on meanwhile.\n',
    headers: { 'retry-after': String(Math.ceil(wait / 1000)) },
  }
}
