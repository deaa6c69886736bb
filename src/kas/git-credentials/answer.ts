import { type GitCredential, type Protocol, remoteUrl } from '../../adapters/git/index.ts'
import {
  type Counter,
  type HttpServer,
  type Responder,
  type ServedRequest,
  type ServedResponse,
  type ServeHttpOptions,
  serveHttp,
} from '../../adapters/http/index.ts'
import {
  annotations,
  gitAudienceOf,
  groupsOfUser,
  isDeleting,
  keyOf,
  labels,
  nameOf,
  type Ref,
  type Workspace,
  Workspaces,
  withoutGit,
  YES,
} from '../../api/index.ts'
import { Failure, minutes, type Secret, seconds } from '../../std/index.ts'
import type { Credentials } from '../ports/ports.ts'
import type { Develops } from '../projects/develop.ts'
import type { Project, Projects } from '../projects/project.ts'
import { createPodProof, type PodProofOptions, type ProvePod } from '../tokens/pod-proof.ts'
import { readSecret } from '../tokens/read-secret.ts'
import type { Prove } from '../tokens/strangers.ts'
import { bearerIn } from '../tokens/token.ts'
import { advertisementOf } from './advertisement.ts'

interface GitCredentialsServer extends Omit<PodProofOptions, 'audienceOf'>, Pick<ServeHttpOptions, 'address' | 'tls'> {
  projects: Pick<Projects, 'get'>
  credentials: Pick<Credentials, 'forGit'>
  develops: Develops
  protocols: readonly Protocol[]
  /** Slows down peers that make tokens up. */
  prove: Prove
  /** Counts answers by status. */
  answered: Counter
}

/** Listens for pods of workspaces. They have nothing to send but the request. */
export const serveGitCredentials = (given: GitCredentialsServer): Promise<HttpServer> =>
  serveHttp({ ...given, maxBytes: 1024, respond: answerPods(given) })

/** Git forgets what it was told by then; the helper asks for each connection anyway. */
const LASTS = minutes(5)

/** Answers pods, and strangers alike whatever it is that they lack. */
function answerPods(options: GitCredentialsServer): Responder {
  const { log } = options
  const provePod = createPodProof({ ...options, audienceOf: gitAudienceOf })
  const respond = async (request: ServedRequest): Promise<ServedResponse> => {
    const ask = readAsk(request)
    if (!ask) return REFUSED
    try {
      const proved = await options.prove(ask.token, request.peer, () => admit(options, provePod, ask))
      return { status: 200, contentType: TYPE, text: advertisementOf(await answer(options, ask, proved)) }
    } catch (thrown) {
      const failure = Failure.from(thrown)
      if (failure.reason === 'TooManyRequests') return hurry(failure.retryAfter ?? seconds(1))
      if (failure.reason === 'NotItsPod') {
        log.warn('A stranger asked for a Git credential', { peer: request.peer, workspace: keyOf(ask.workspace) })
        return REFUSED
      }
      return told(failure, () =>
        log.error('A Git credential could not be given', { workspace: keyOf(ask.workspace), error: failure }),
      )
    }
  }
  return async (request) => {
    const given = await respond(request)
    options.answered.add({ status: String(given.status) })
    return given
  }
}

const TYPE = 'application/x-git-upload-pack-advertisement'
const REFUSED: ServedResponse = { status: 403, text: 'No such workspace, or not the token of one of its pods.\n' }

const hurry = (wait: number): ServedResponse => ({
  status: 429,
  text: 'Too many requests.\n',
  headers: { 'retry-after': String(Math.ceil(wait / 1000)) },
})

/** The request of a pod, with the token that it shows. */
interface Ask {
  workspace: Ref & { namespace: string }
  token: Secret<string>
  /** The repository that Git wants to be let in to. */
  url: string
}

const PATH = /^\/git\/([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9-]{0,62})\/info\/refs$/

/** `GET /git/<namespace>/<workspace>/info/refs`; `undefined` when something of it is missing. */
function readAsk({ method, path, header }: ServedRequest): Ask | undefined {
  const [, namespace, name] = PATH.exec(path) ?? []
  const token = bearerIn(header('authorization'))
  const url = header('berth-git-url')
  if (method !== 'GET' || !namespace || !name || !token || !url) return undefined
  return { workspace: { namespace, name }, token, url }
}

interface Proved {
  workspace: Workspace
  pod: string
}

/** The Workspace is read anew each time: what has ended gets nothing any more. */
async function admit({ kube }: GitCredentialsServer, provePod: ProvePod, { workspace: ref, token }: Ask): Promise<Proved> {
  const workspace = await kube.get(Workspaces, ref)
  if (!workspace || isDeleting(workspace) || workspace.spec.desiredState === 'Terminated')
    throw new Failure('forbidden', 'there is no such workspace', { reason: 'NotItsPod' })
  return { workspace, pod: await provePod({ workspace, token }) }
}

/** The credential for the workspace's own repository; nothing when none is needed. */
async function answer(options: GitCredentialsServer, { url }: Ask, { workspace, pod }: Proved): Promise<Record<string, string>> {
  const project = await projectOf(options, workspace)
  if (!isSame(remoteUrl(project.url, options.protocols), url))
    throw new Failure('forbidden', `${nameOf(workspace)} gets credentials for ${project.url} and for nothing else`, {
      reason: WITHHELD,
    })
  const credential = await credentialFor(options, workspace, project)
  if (!credential) return {}
  options.log.info('A Git credential was given', { workspace: nameOf(workspace), pod, project: project.path })
  return {
    username: credential.username ?? 'git',
    password: credential.password.reveal(),
    password_expiry_utc: String(Math.floor((options.clock.now() + LASTS) / 1000)),
  }
}

/** The reason of failures that say: this pod does not get it. */
const WITHHELD = 'CredentialWithheld'

/** The owner's own credential where the workspace names one, else that of the project. */
async function credentialFor(
  { kube, credentials }: GitCredentialsServer,
  { metadata, spec }: Workspace,
  project: Project,
): Promise<GitCredential | undefined> {
  const name = spec.git?.credentialsSecretRef?.name
  if (name === undefined) return (await credentials.forGit(project)).credential
  const ref = { name, namespace: metadata.namespace }
  const secret = await readSecret(kube, ref)
  const isOpen = secret?.metadata.labels?.[labels.gitCredentials] === YES
  // Who may create a Workspace must not get at what belongs to somebody else in the namespace.
  if (!isOpen || !spec.owner || secret.metadata.annotations?.[annotations.gitOwner] !== spec.owner)
    throw new Failure('forbidden', `there is no Secret ${name} whose Git credentials are ${spec.owner}'s`, {
      reason: WITHHELD,
      remedy: `Label it ${labels.gitCredentials}=${YES} and annotate it ${annotations.gitOwner}=${spec.owner}`,
    })
  return (await credentials.forGit({ ...project, credentials: ref })).credential
}

async function projectOf({ projects, develops }: GitCredentialsServer, { metadata, spec }: Workspace): Promise<Project> {
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
      remedy: `Have the verb develop on gitprojects granted in namespace ${project.ref.namespace}, as the role edit has it, to this user by name: kas does not know the groups of an owner`,
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

/** A caller that has come so far is the workspace itself: it is told what is wrong, unless the fault is ours. */
function told(failure: Failure, note: () => void): ServedResponse {
  const status = failure.reason === WITHHELD ? 403 : STATUS[failure.code]
  if (status === undefined) {
    note()
    return { status: 500, text: 'Internal error; the cause is in the log.\n' }
  }
  const { message, remedy } = failure
  return { status, text: `${message}${remedy ? `. ${remedy}` : ''}\n` }
}
