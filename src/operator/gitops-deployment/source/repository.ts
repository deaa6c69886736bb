import {
  conditionOf,
  type GitOpsDeployment,
  type GitOpsDeploymentSpec,
  type GitProject,
  mayAccountRead,
  sourceChart,
  sourcePath,
  sourceUrl,
} from '../../../api/index.ts'
import { folderOf, valueFileIn } from '../../../engines/render/index.ts'
import { type GitRef, gitRefFrom } from '../../../rpc/index.ts'
import { Failure, redactUrls } from '../../../std/index.ts'
import { byRepository, type SyncCaches, sameRepository } from '../watch/caches.ts'
import type { Wish } from './following.ts'

type Source = GitOpsDeploymentSpec['source']

/**
 * The GitProject of the URL: the one that is named, or one of the own namespace, or one that is granted. Whether it may be read, kas decides.
 * Who has followed one of another namespace does not come to follow a third one's, which could choose another branch, without a word; nor
 * does who follows one for the first time get the one of two that a stranger was quick to grant.
 */
export function projectOf(
  deployment: GitOpsDeployment,
  { projects, requireWhole }: Pick<SyncCaches, 'projects' | 'requireWhole'>,
): GitProject {
  const { namespace = '' } = deployment.metadata
  const { source, serviceAccountName } = deployment.spec
  const account = { namespace, name: serviceAccountName || 'default' }
  const all = projects.by(byRepository.projects, sameRepository(sourceUrl(source)))
  const readable = all.filter((project) => mayAccountRead(project, account))
  const found = readable.filter((project) => gives(project, source))
  const wrong = found.length === 0 ? mistyped(deployment, readable) : undefined
  if (wrong) throw wrong
  if (source.project)
    return found.find((project) => nameOfProject(project) === source.project) ?? missing(deployment, source.project)
  const home = homeOf(deployment)
  const rank = (project?: GitProject) => (project ? (isOf(namespace, project) ? 0 : home && isOf(home, project) ? 1 : 2) : 2)
  const [best] = found.sort((a, b) => rank(a) - rank(b) || (ageOf(a) < ageOf(b) ? -1 : 1))
  if (home && rank(best) === 2) requireWhole(home)
  if (!best) return missing(deployment)
  if (home !== undefined && rank(best) === 2) throw changed(deployment, best)
  const rival = rank(best) === 2 ? found.find((project) => project.metadata.namespace !== best.metadata.namespace) : undefined
  if (rival) throw ambiguous(deployment, [best, rival])
  return best
}

/** Charts on a web server are another thing than a repository of Git at the same URL. */
const gives = ({ spec }: GitProject, { chart }: Source): boolean => (spec.type === 'helm') === (chart?.repository !== undefined)

const fieldOf = ({ chart }: Source): string =>
  chart ? `spec.source.chart.${chart.oci === undefined ? 'repository' : 'oci'}` : 'spec.source.repoURL'

/** As `spec.source.project` names it. */
export const nameOfProject = ({ metadata }: GitProject): string => `${metadata.namespace}/${metadata.name}`

/** As kas has seen it last. */
export const isEmpty = ({ status }: GitProject): boolean => conditionOf(status?.conditions, 'Ready')?.reason === 'RepositoryEmpty'

export const nothingPushed = (project: GitProject): Failure =>
  new Failure('not-found', `nothing has been pushed to GitProject ${nameOfProject(project)} yet`, {
    reason: 'RepositoryEmpty',
    remedy: 'Push a commit to it; `berth poke` has kas look at once',
  })

const isOf = (namespace: string, { metadata }: GitProject): boolean => metadata.namespace === namespace

/** The namespace of the project that it followed, if that was one of the same URL. */
function homeOf({ spec, status }: GitOpsDeployment): string | undefined {
  const { repoURL = '', project } = status?.reconciledState?.source ?? {}
  return sameRepository(repoURL) === sameRepository(redactUrls(sourceUrl(spec.source))) ? project?.split('/')[0] : undefined
}

/** What is at the URL is of another type than the source wants. */
function mistyped({ spec: { source } }: GitOpsDeployment, others: readonly GitProject[]): Failure | undefined {
  const [other] = others
  if (!other) return undefined
  const isHelm = other.spec.type === 'helm'
  return new Failure(
    'invalid',
    `${fieldOf(source)}: GitProject ${nameOfProject(other)} of that url is ${isHelm ? 'a repository of Helm charts' : 'none of Helm charts'}`,
    {
      reason: 'GitProjectNotFound',
      remedy: isHelm
        ? 'Write spec.source.chart in place of repoURL and path'
        : 'Set its spec.type to helm, if it has charts, or write spec.source.repoURL and path',
    },
  )
}

function missing({ metadata: { namespace }, spec: { source, serviceAccountName } }: GitOpsDeployment, named?: string): never {
  const account = `${namespace}/${serviceAccountName || 'default'}`
  const kind = source.chart?.repository === undefined ? '' : ' of type helm'
  const which = `no GitProject${named === undefined ? '' : ` ${named}`}${kind}`
  throw new Failure(
    'invalid',
    `${fieldOf(source)} ${redactUrls(sourceUrl(source))} belongs to ${which} that service account ${account} may read`,
    {
      reason: 'GitProjectNotFound',
      remedy: `Create a GitProject with this url${kind} in namespace ${namespace}, or let its owner add the account to spec.grants.serviceAccounts`,
    },
  )
}

function changed({ status }: GitOpsDeployment, other: GitProject): Failure {
  const before = status?.reconciledState?.source.project
  return new Failure(
    'invalid',
    `GitProject ${before}, which it followed, is not there any more or grants it no access; ${nameOfProject(other)} has the same url`,
    { reason: 'GitProjectChanged', remedy: `To follow that one, write spec.source.project: ${nameOfProject(other)}` },
  )
}

function ambiguous({ spec }: GitOpsDeployment, projects: readonly GitProject[]): Failure {
  const [first, second] = projects.map(nameOfProject)
  return new Failure(
    'invalid',
    `${fieldOf(spec.source)} ${redactUrls(sourceUrl(spec.source))} is the url of GitProject ${first} and of ${second}, which both grant access`,
    { reason: 'GitProjectAmbiguous', remedy: 'Write spec.source.project: the one whose namespace you know and trust' },
  )
}

/** The oldest wins, as at kas: a project that is added later changes nothing for what works. */
const ageOf = ({ metadata }: GitProject): string => `${metadata.creationTimestamp} ${metadata.name}`

/** The revision that a source follows, or another one of it. */
export function revisionOf(source: Partial<Source>, revisionID?: string): GitRef {
  const chart = sourceChart(source, revisionID)
  if (chart !== undefined) return { kind: 'chart', name: chart }
  const { targetRevision, semver } = revisionID ? { targetRevision: revisionID } : source
  return semver?.trim() ? { kind: 'semver', name: semver.trim() } : gitRefFrom(targetRevision)
}

/** For a run, the revision is the one that the run names. */
export function wishOf(deployment: GitOpsDeployment, project: GitProject, revisionID?: string): Wish {
  const { source, serviceAccountName } = deployment.spec
  return {
    projectId: project.spec.path,
    projectUid: project.metadata.uid,
    namespace: deployment.metadata.namespace ?? '',
    serviceAccount: serviceAccountName || 'default',
    revision: revisionOf(source, revisionID || undefined),
    path: sourcePath(source),
    also: source.helm?.valueFiles?.map((file) => valueFileIn(folderOf(sourcePath(source)), file)),
  }
}
