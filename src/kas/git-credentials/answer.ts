import { type Protocol, remoteUrl } from '../../adapters/git/index.ts'
import type { Answer, Counter, Question, Responder } from '../../adapters/http/index.ts'
import { gitAudienceOf, groupsOfUser, isDeleting, nameOf, type Workspace, Workspaces, withoutGit } from '../../api/index.ts'
import { Failure, minutes, seconds } from '../../std/index.ts'
import type { Develops } from '../develop.ts'
import { createPodProof, type ProofDesk, type ProvePod } from '../pod-proof.ts'
import type { Project, Projects } from '../project.ts'
import type { Prove } from '../strangers.ts'
import { advertisementOf } from './advertisement.ts'
import { type Ask, readAsk } from './ask.ts'
import { credentialFor, type SecretDesk, WITHHELD } from './secret.ts'

export interface CredentialsDesk extends Omit<ProofDesk, 'audienceOf'>, SecretDesk {
  projects: Pick<Projects, 'get'>
  develops: Develops
  protocols: readonly Protocol[]
  /** Slows down whoever makes tokens up. */
  prove: Prove
  /** Counts answers by status. */
  answered: Counter
}

/** Git forgets what it was told by then; the helper asks for each connection anyway. */
const LASTS = minutes(5)

/** Answers pods, and strangers alike whatever it is that they lack. */
export function answerPods(desk: CredentialsDesk): Responder {
  const { log } = desk
  const provePod = createPodProof({ ...desk, audienceOf: gitAudienceOf })
  const respond = async (question: Question): Promise<Answer> => {
    const ask = readAsk(question)
    if (!ask) return REFUSED
    try {
      const proved = await desk.prove(ask.token, question.peer, () => admit(desk, provePod, ask))
      return { status: 200, contentType: TYPE, text: advertisementOf(await answer(desk, ask, proved)) }
    } catch (thrown) {
      const failure = Failure.from(thrown)
      if (failure.reason === 'TooManyRequests') return hurry(failure.retryAfter ?? seconds(1))
      if (failure.reason === 'NotItsPod') {
        log.warn('A stranger asked for a Git credential', { peer: question.peer, workspace: nameOfAsk(ask) })
        return REFUSED
      }
      return told(failure, () => log.error('A Git credential could not be given', { workspace: nameOfAsk(ask), error: failure }))
    }
  }
  return async (question) => {
    const given = await respond(question)
    desk.answered.add({ status: String(given.status) })
    return given
  }
}

const TYPE = 'application/x-git-upload-pack-advertisement'
const REFUSED: Answer = { status: 403, text: 'No such workspace, or not the token of one of its pods.\n' }

const nameOfAsk = ({ workspace }: Ask): string => `${workspace.namespace}/${workspace.name}`

const hurry = (wait: number): Answer => ({
  status: 429,
  text: 'Too many requests.\n',
  headers: { 'retry-after': String(Math.ceil(wait / 1000)) },
})

interface Proved {
  workspace: Workspace
  pod: string
}

/** The Workspace is read anew each time: what has ended gets nothing any more. */
async function admit({ kube }: CredentialsDesk, provePod: ProvePod, { workspace: ref, token }: Ask): Promise<Proved> {
  const workspace = await kube.get(Workspaces, ref)
  if (!workspace || isDeleting(workspace) || workspace.spec.desiredState === 'Terminated')
    throw new Failure('forbidden', 'there is no such workspace', { reason: 'NotItsPod' })
  return { workspace, pod: await provePod({ workspace, token }) }
}

/** The credential for the workspace's own repository; nothing when none is needed. */
async function answer(desk: CredentialsDesk, { url }: Ask, { workspace, pod }: Proved): Promise<Record<string, string>> {
  const project = await projectOf(desk, workspace)
  if (!isSame(remoteUrl(project.url, desk.protocols), url))
    throw new Failure('forbidden', `${nameOf(workspace)} gets credentials for ${project.url} and for nothing else`, {
      reason: WITHHELD,
    })
  const credential = await credentialFor(desk, workspace, project)
  if (!credential) return {}
  desk.log.info('A Git credential was given', { workspace: nameOf(workspace), pod, project: project.path })
  return {
    username: credential.username ?? 'git',
    password: credential.password.reveal(),
    password_expiry_utc: String(Math.floor((desk.clock.now() + LASTS) / 1000)),
  }
}

async function projectOf({ projects, develops }: CredentialsDesk, { metadata, spec }: Workspace): Promise<Project> {
  const name = spec.project?.gitProject
  const project = name === undefined ? undefined : projects.get({ name, namespace: metadata.namespace })
  if (!project) throw new Failure('not-found', 'the GitProject of the workspace does not exist', { remedy: 'Create it' })
  const { owner } = spec
  if (owner !== undefined && (await develops({ name: owner, uid: '', groups: groupsOfUser(owner), extra: {} }, project)))
    return project
  throw new Failure(
    'forbidden',
    `${owner ?? 'nobody'}, the owner of the workspace, may not develop GitProject ${project.ref.name}`,
    {
      reason: WITHHELD,
      remedy: `Have the verb develop on gitprojects granted in namespace ${project.ref.namespace}, as the role edit has it`,
    },
  )
}

/** The same repository, with or without `.git`. */
function isSame(own: string, asked: string): boolean {
  if (!URL.canParse(asked)) return false
  const [is, wanted] = [new URL(own), new URL(asked)]
  return is.origin === wanted.origin && withoutGit(is.pathname) === withoutGit(wanted.pathname)
}

const STATUS: Partial<Record<Failure['code'], number>> = { invalid: 409, 'not-found': 404, unavailable: 503, timeout: 503 }

/** Whoever has come so far is the workspace itself: it is told what is wrong, unless that is ours. */
function told(failure: Failure, note: () => void): Answer {
  const status = failure.reason === WITHHELD ? 403 : STATUS[failure.code]
  if (status === undefined) {
    note()
    return { status: 500, text: 'Internal error; the cause is in the log.\n' }
  }
  const { message, remedy } = failure
  return { status, text: `${message}${remedy ? `. ${remedy}` : ''}\n` }
}
