import { createHash, createHmac } from 'node:crypto'
import type { Letter } from '../../../adapters/http/index.ts'
import { type CoreSecret, conditionOf, type GitOpsDeployment, textIn, withoutGit } from '../../../api/index.ts'
import { Failure, redactUrls, withoutEnd } from '../../../std/index.ts'
import type { CommitOutcome } from '../status/outcome.ts'

export type Notification = NonNullable<GitOpsDeployment['spec']['notifications']>[number]

/** A message, whatever the way it goes. */
interface News {
  deployment: GitOpsDeployment
  outcome: CommitOutcome
  /** RFC 3339. */
  at: string
}

/** The text for one receiver, with what its Secret says. A Secret that lacks something is an `invalid` failure that names the key. */
export function letterFor(kind: Notification['kind'], news: News, secret: CoreSecret): Letter {
  const contents = contentsOf(secret)
  return kind === 'Webhook' ? webhook(news, contents) : commitStatus(kind, news, contents)
}

/** Signed as GitHub signs: the receiver computes the same from the body, byte for byte, and compares in constant time. */
function webhook({ deployment, outcome, at }: News, contents: Contents): Letter {
  const { source } = deployment.spec
  const { revision } = outcome
  const body = JSON.stringify({
    deployment: titleOf(deployment),
    repository: redactUrls(source.repoURL),
    revision,
    path: source.path,
    result: outcome.result.toLowerCase(),
    ...reasonOf(deployment),
    at,
  })
  const signature = createHmac('sha256', contents.need('secret')).update(body).digest('hex')
  const delivery = createHash('sha256').update(`${deployment.metadata.uid} ${revision} ${outcome.result}`).digest('hex')
  return {
    url: contents.url('url') ?? missing('url'),
    headers: {
      'content-type': 'application/json',
      'x-berth-event': 'outcome',
      // The same for the same news, so that a receiver can tell what it has heard already.
      'x-berth-delivery': delivery.slice(0, 32),
      'x-berth-signature-256': `sha256=${signature}`,
    },
    body,
  }
}

type Host = Exclude<Notification['kind'], 'Webhook'>

/** How each kind of Git host takes the status of a commit. */
const HOSTS: Record<Host, (place: Place, revision: string, token: string) => { path: string; headers: Record<string, string> }> =
  {
    // https://docs.github.com/en/rest/commits/statuses
    GitHub: ({ project }, revision, token) => ({
      path: `/repos/${project}/statuses/${revision}`,
      headers: { accept: 'application/vnd.github+json', authorization: `Bearer ${token}` },
    }),
    // https://docs.gitlab.com/api/commits/#set-commit-pipeline-status
    GitLab: ({ project }, revision, token) => ({
      path: `/projects/${encodeURIComponent(project)}/statuses/${revision}`,
      headers: { 'private-token': token },
    }),
    // https://docs.gitea.com/api/#tag/repository/operation/repoCreateStatus
    Gitea: ({ project }, revision, token) => ({
      path: `/repos/${project}/statuses/${revision}`,
      headers: { authorization: `token ${token}` },
    }),
  }

const APIS: Record<Host, (origin: string) => string> = {
  GitHub: (origin) => (origin === 'https://github.com' ? 'https://api.github.com' : `${origin}/api/v3`),
  GitLab: (origin) => `${origin}/api/v4`,
  Gitea: (origin) => `${origin}/api/v1`,
}

/** The shortest that one of them takes. */
const LONGEST = 140

function commitStatus(kind: Host, { deployment, outcome }: News, contents: Contents): Letter {
  const place = placeOf(deployment.spec.source.repoURL)
  const { path, headers } = HOSTS[kind](place, outcome.revision, contents.word('token'))
  const api = withoutEnd(contents.url('url')?.href ?? APIS[kind](place.origin), '/')
  const failed = kind === 'GitLab' ? 'failed' : 'failure'
  const { message } = reasonOf(deployment)
  const body = {
    state: outcome.result === 'Succeeded' ? 'success' : failed,
    context: `berth/${titleOf(deployment)}`,
    description: message.length > LONGEST ? `${message.slice(0, LONGEST - 1)}…` : message,
  }
  return { url: new URL(api + path), headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

const titleOf = ({ metadata }: GitOpsDeployment): string => `${metadata.namespace}/${metadata.name}`

function reasonOf({ status }: GitOpsDeployment): { reason: string; message: string } {
  const { reason = '', message = '' } = conditionOf(status?.conditions, 'Ready') ?? {}
  return { reason, message }
}

interface Place {
  /** Of its web site; that of an SSH URL is guessed to have the same host. */
  origin: string
  /** `team-a/shop`, encoded as in a URL. */
  project: string
}

/** Where a repository is: `https://host/team-a/shop.git`, `ssh://git@host:2222/team-a/shop`, `git@host:team-a/shop.git`. */
export function placeOf(repoURL: string): Place {
  const short = /^[^/@]+@([^:/]+):(.+)$/.exec(repoURL)
  const text = short ? `ssh://${short[1]}/${short[2]}` : repoURL
  if (!URL.canParse(text))
    throw new Failure('invalid', 'spec.source.repoURL names no Git host', { remedy: 'Set the key url in the Secret' })
  const { protocol, host, hostname, pathname } = new URL(text)
  const origin = protocol === 'ssh:' ? `https://${hostname}` : `${protocol}//${host}`
  return { origin, project: withoutGit(pathname.replace(/^\/+/, '')) }
}

interface Contents {
  need(key: string): string
  /** A value that fits into a header. */
  word(key: string): string
  url(key: string): URL | undefined
}

function contentsOf(secret: CoreSecret): Contents {
  const read = (key: string) => (textIn(secret, key) ?? '').trim()
  const need = (key: string) => read(key) || missing(key)
  return {
    need,
    word(key) {
      const text = need(key)
      if (/^[!-~]+$/.test(text)) return text
      throw new Failure('invalid', `its key ${key} has spaces, line breaks or letters that no token has`, {
        remedy: 'Write the token anew',
      })
    },
    url(key) {
      const text = read(key)
      if (text === '') return
      if (URL.canParse(text)) return new URL(text)
      throw new Failure('invalid', `its key ${key} is no URL`, { remedy: 'Write it like https://hooks.example.com/berth' })
    },
  }
}

function missing(key: string): never {
  throw new Failure('invalid', `it has no key ${key}`, { remedy: `Add the key ${key}` })
}
