import { createHash, createHmac } from 'node:crypto'
import type { Letter } from '../../../adapters/http/index.ts'
import { type CoreSecret, isInRegistry, sourceUrl, withoutGit } from '../../../api/index.ts'
import { Failure, withoutEnd } from '../../../std/index.ts'
import { CHATS } from './chats.ts'
import { type Contents, contentsOf } from './contents.ts'
import { type Facts, factsOf, isGood, type Told } from './facts.ts'
import type { Notification } from './news.ts'
import { bodyFrom } from './template.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** The text for one receiver, with what its Secret says. A Secret that lacks something is an `invalid` failure that names the key. */
export function letterFor({ kind, template }: Pick<Notification, 'kind' | 'template'>, told: Told, secret: CoreSecret): Letter {
  const [facts, contents] = [factsOf(told), contentsOf(secret)]
  switch (kind) {
    case 'Webhook':
      return template ? fromTemplate(template, told, contents) : webhook(told, facts, contents)
    case 'Slack':
    case 'Teams':
    case 'Mattermost':
      return {
        url: contents.needUrl('url'),
        headers: JSON_TYPE,
        body: JSON.stringify(CHATS[kind](facts, isGood(told.result))),
      }
    default:
      return commitStatus(kind, told, contents)
  }
}

/** What was added later comes last, and only where it is known. */
function webhook(told: Told, facts: Facts, contents: Contents): Letter {
  const { deployment, repository, revision, path, result, reason, message, at, author, subject } = facts
  const about = { ...(author && { author }), ...(subject && { subject }) }
  const body = JSON.stringify({ deployment, repository, revision, path, result, reason, message, at, ...about })
  const signature = signatureOf(body, contents.need('secret'))
  return { url: contents.needUrl('url'), headers: { ...JSON_TYPE, ...deliveryOf(told), ...signature }, body }
}

/** For a service that knows nothing of Berth: it is signed only for who can check that. */
function fromTemplate(template: NonNullable<Notification['template']>, told: Told, contents: Contents): Letter {
  const body = bodyFrom(template, factsOf(told))
  const signature = contents.has('secret') ? signatureOf(body, contents.need('secret')) : {}
  const type = { 'content-type': template.contentType ?? 'application/json' }
  const headers = { ...contents.headers('headers'), ...type, ...deliveryOf(told), ...signature }
  return { url: contents.needUrl('url'), headers, body }
}

/** Signed as GitHub signs: the receiver computes the same from the body, byte for byte, and compares in constant time. */
const signatureOf = (body: string, secret: string) => ({
  'x-berth-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
})

/** The same for the same news, so that a receiver can tell what it has heard already. */
function deliveryOf({ deployment, commit, result, since }: Told) {
  const isTurn = result === 'Degraded' || (result === 'Recovered' && since !== undefined)
  const what = `${deployment.metadata.uid} ${commit.revision} ${result}${isTurn ? ` ${since}` : ''}`
  return { 'x-berth-event': 'outcome', 'x-berth-delivery': createHash('sha256').update(what).digest('hex').slice(0, 32) }
}

type Host = 'GitHub' | 'GitLab' | 'Gitea'

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

function commitStatus(kind: Host, told: Told, contents: Contents): Letter {
  const { deployment, commit, result } = told
  const { source } = deployment.spec
  if (source.chart || isInRegistry(sourceUrl(source)))
    throw new Failure('invalid', 'spec.source is published, and has no commits that could have a status', {
      remedy: 'Take this notification out, or name somebody else',
    })
  const place = placeOf(sourceUrl(source))
  const { path, headers } = HOSTS[kind](place, commit.revision, contents.word('token'))
  const api = withoutEnd(contents.url('url')?.href ?? APIS[kind](place.origin), '/')
  const failed = kind === 'GitLab' ? 'failed' : 'failure'
  const { deployment: title, message } = factsOf(told)
  const body = {
    state: isGood(result) ? 'success' : failed,
    context: `berth/${title}`,
    description: message.length > LONGEST ? `${message.slice(0, LONGEST - 1)}…` : message,
  }
  return { url: new URL(api + path), headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) }
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
