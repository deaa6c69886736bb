import type { Counter, Responder, ServedRequest, ServedResponse } from '../../adapters/http/index.ts'
import { keyOf, type Ref } from '../../api/index.ts'
import { type Clock, createLimiter, isFailure, type Limiter, type Log, type Rate, type Secret } from '../../std/index.ts'
import type { Credentials, Polls } from '../ports/ports.ts'
import type { Project, Projects } from '../projects/project.ts'
import { pushedRef } from './pushed-ref.ts'
import { rememberSecrets, type WebhookSecrets } from './secrets.ts'
import { isGenuine, isSigned } from './signature.ts'

export interface WebhookOptions {
  projects: Pick<Projects, 'get'>
  polls: Pick<Polls, 'poke'>
  credentials: Pick<Credentials, 'forWebhooks'>
  /** Counts answers by status. */
  answered: Counter
  clock: Clock
  log: Log
}

const PATH = /^\/webhooks\/([a-z0-9-]+)\/([a-z0-9.-]+)$/
const REFUSED: ServedResponse = { status: 401, text: 'No such GitProject, or not signed with its webhook secret.\n' }

/** All that proves nothing shares one limit, and by project a narrower one. Who knows a secret is never held up by who does not. */
const STRANGERS: Rate = { burst: 200, perSecond: 10 }
const STRANGERS_OF_PROJECT: Rate = { burst: 30, perSecond: 1 }
/**
 * Counted only for who knows the secret: nobody else can use up a project's share, or learn that it has one. What comes
 * beyond it is told late and together: no push is lost.
 */
const PER_PROJECT: Rate = { burst: 30, perSecond: 1 }

interface WebhookContext {
  options: WebhookOptions
  secrets: WebhookSecrets
  /** 429 when too much comes that proves nothing. */
  refuse(key?: string): ServedResponse | undefined
  perProject: Limiter
  delayed: DelayedPokes
}

/**
 * `POST /webhooks/<namespace>/<name>` says that something was pushed to that GitProject; what, is asked of the Git server
 * itself, so a forged body gains nothing. Wrong name and wrong signature get the same answer. Addresses tell nothing: behind
 * an ingress everybody has the same.
 */
export function receiveWebhooks(options: WebhookOptions): Responder {
  const { clock, credentials, polls, log } = options
  const strangers = createLimiter(STRANGERS, clock)
  const ofProject = createLimiter(STRANGERS_OF_PROJECT, clock)
  const context: WebhookContext = {
    options,
    secrets: rememberSecrets(credentials, clock, log),
    refuse: (key) => (key === undefined ? undefined : refuseHurry(ofProject, key)) ?? refuseHurry(strangers, ''),
    perProject: createLimiter(PER_PROJECT, clock),
    delayed: createDelayedPokes(clock, polls),
  }
  return async (request) => {
    const answer = await receive(context, request)
    options.answered.add({ status: String(answer.status) })
    return answer
  }
}

async function receive(context: WebhookContext, request: ServedRequest): Promise<ServedResponse> {
  const { options, refuse } = context
  const [, namespace, name] = PATH.exec(request.path) ?? []
  if (!namespace || !name) return refuse() ?? { status: 404, text: 'Served here: POST /webhooks/<namespace>/<name>\n' }
  if (request.method !== 'POST') return refuse() ?? { status: 405, text: 'Only POST is served here.\n' }
  const project = options.projects.get({ namespace, name })
  const key = keyOf({ namespace, name })
  if (!project?.webhookSecret || !isSigned(request)) return refuse(key) ?? REFUSED
  return (await refuseForged(context, project, request)) ?? wake(context, project, request)
}

/** Before anything of the body is read. A Secret that was changed counts at once, unless too many come with wrong proofs. */
async function refuseForged(
  { secrets, refuse }: WebhookContext,
  project: Project,
  request: ServedRequest,
): Promise<ServedResponse | undefined> {
  const key = keyOf(project.ref)
  const remembered = secrets.remembered(project)
  if (remembered) {
    if (isProved(request, await remembered)) return undefined
    const away = refuse(key)
    if (away) return away
  }
  if (isProved(request, await secrets.read(project))) return undefined
  return (remembered ? undefined : refuse(key)) ?? REFUSED
}

const isProved = (request: ServedRequest, secret: Secret<string> | undefined): boolean =>
  secret !== undefined && isGenuine(request, secret.reveal())

/** A push beyond the limit is told of a little later, and never dropped: a Git server does not say it again. */
function wake(
  { options: { polls }, perProject, delayed }: WebhookContext,
  { ref: project }: Project,
  request: ServedRequest,
): ServedResponse {
  try {
    const pushed = pushedRef(request)
    const wait = perProject(keyOf(project))
    if (wait === 0) return { status: 202, text: `${polls.poke(project, pushed)} polls woken.\n` }
    delayed.add(project, pushed, wait)
    return { status: 202, text: `Too many at once; polls are woken in ${wait} ms.\n` }
  } catch (thrown) {
    if (!isFailure(thrown, 'invalid')) throw thrown
    return { status: 400, text: `Not understood: ${thrown.message}.\n` }
  }
}

function refuseHurry(limiter: Limiter, key: string): ServedResponse | undefined {
  const wait = limiter(key)
  if (wait === 0) return undefined
  return {
    status: 429,
    text: 'Too many requests; polls go on meanwhile.\n',
    headers: { 'retry-after': String(Math.ceil(wait / 1000)) },
  }
}

/** Pushes that came too fast one after the other, to be told of together. */
type DelayedPokes = ReturnType<typeof createDelayedPokes>

/** One for each project that exists at most. Two refs are told of as if anything might have changed. */
function createDelayedPokes(clock: Clock, polls: Pick<Polls, 'poke'>) {
  const due = new Map<string, { pushed: string | undefined }>()
  return {
    /** In so many milliseconds, unless one is due already: that one tells of this push too. */
    add(project: Ref, pushed: string | undefined, wait: number): void {
      const key = keyOf(project)
      const known = due.get(key)
      if (known) {
        if (known.pushed !== pushed) known.pushed = undefined
        return
      }
      const poke = { pushed }
      due.set(key, poke)
      clock.after(wait, () => {
        due.delete(key)
        polls.poke(project, poke.pushed)
      })
    },
  }
}
