import { conditionOf, type GitOpsDeployment, sourcePath, sourceUrl } from '../../../api/index.ts'
import { beginningOf, harmless, redactUrls } from '../../../std/index.ts'
import type { CommitNews, Result } from './news.ts'

/** What one receiver is told, whatever the way it goes. */
export interface Told extends Pick<CommitNews, 'commit' | 'since'> {
  deployment: GitOpsDeployment
  result: Result
  /** RFC 3339. */
  at: string
}

/** The names that templates know. */
export const FACTS = [
  'deployment',
  'namespace',
  'name',
  'repository',
  'revision',
  'path',
  'result',
  'reason',
  'message',
  'author',
  'subject',
  'at',
  'summary',
] as const

export type Facts = Record<(typeof FACTS)[number], string>

export function factsOf({ deployment, commit, result, at }: Told): Facts {
  const { namespace = '', name } = deployment.metadata
  const { source } = deployment.spec
  return {
    deployment: `${namespace}/${name}`,
    namespace,
    name,
    repository: redactUrls(sourceUrl(source)),
    revision: commit.revision,
    path: sourcePath(source),
    result: result.toLowerCase(),
    ...reasonOf(deployment, result),
    author: commit.author ?? '',
    subject: commit.subject ?? '',
    at,
    summary: `${namespace}/${name}: ${result}`,
  }
}

/** Objects that are ill say so themselves: beside them, the deployment may wait for something else. */
function reasonOf({ status }: GitOpsDeployment, result: Result): { reason: string; message: string } {
  const { reason = '', message = '' } = conditionOf(status?.conditions, 'Ready') ?? {}
  return result === 'Degraded' ? { reason: result, message: status?.health?.message ?? message } : { reason, message }
}

/** A chat is no log. */
const MOST = 600

/** The lines of a message for people; the last names the commit. */
export function linesOf({ summary, message, revision, author, subject }: Facts): {
  title: string
  text: string
  commit: string
} {
  const commit = [revision.slice(0, 12), subject, author && `(${author})`].filter(Boolean).join(' ')
  return { title: summary, text: beginningOf(harmless(beginningOf(message)), MOST).toWellFormed(), commit }
}

export const isGood = (result: Result): boolean => result === 'Succeeded' || result === 'Recovered'
