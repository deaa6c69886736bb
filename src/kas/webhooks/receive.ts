import type { Answer, Responder } from '../../adapters/http/index.ts'
import { isFailure, type Log } from '../../std/index.ts'
import type { Credentials, Polls } from '../ports.ts'
import type { Projects } from '../project.ts'
import { isGenuine, isSigned } from './signature.ts'

export interface WebhookDesk {
  projects: Projects
  polls: Polls
  credentials: Credentials
  log: Log
}

const PATH = /^\/webhooks\/([a-z0-9-]+)\/([a-z0-9.-]+)$/
const REFUSED: Answer = { status: 401, text: 'No such GitProject, or not signed with its webhook secret.\n' }

/**
 * `POST /webhooks/<namespace>/<name>` says that something was pushed to that GitProject; what, is asked of the Git server
 * itself, so a forged body gains nothing. Wrong name and wrong signature get the same answer.
 */
export const receiveWebhooks =
  ({ projects, polls, credentials, log }: WebhookDesk): Responder =>
  async (question) => {
    const [, namespace, name] = PATH.exec(question.path) ?? []
    if (!namespace || !name) return { status: 404, text: 'Served here: POST /webhooks/<namespace>/<name>\n' }
    if (question.method !== 'POST') return { status: 405, text: 'Only POST is served here.\n' }
    const project = projects.get({ namespace, name })
    if (!project?.webhookSecret || !isSigned(question)) return REFUSED
    try {
      if (!isGenuine(question, await credentials.forWebhooks(project))) return REFUSED
    } catch (thrown) {
      if (!isFailure(thrown, 'invalid')) throw thrown
      log.warn('A webhook could not be checked', { project: `${namespace}/${name}`, error: thrown })
      return REFUSED
    }
    const woken = polls.poke(project.ref)
    return { status: 202, text: `${woken} polls woken.\n` }
  }
