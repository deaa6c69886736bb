import type { Command } from 'commander'
import type { Kube } from '../../adapters/kube/index.ts'
import { chartsAt, type GitOpsDeploymentSpec, GitProjects } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { findObject, findProjectByPath, type ObjectOptions } from '../find-object.ts'

export interface RepositoryOptions {
  project?: string
  url?: string
  path?: string
  revision?: string
  chart?: string
}

/** For verbs that make a GitOpsDeployment. */
export const withSource = (command: Command): Command =>
  command
    .option('--project <project>', 'GitProject of this namespace to follow, by its name or its path')
    .option('--url <url>', 'instead: URL of the repository, that of a GitProject which grants access')
    .option('--path <folder>', 'directory in the repository (default: .)')
    .option(
      '--revision <revision>',
      'branch, tag, commit or ref (default: the default branch); of a chart its version, or a range',
    )
    .option('--chart <name>', 'instead of a path: a Helm chart that is published there')

type Source = GitOpsDeploymentSpec['source']

/** The source that a person names by these options. */
export async function sourceOf(kube: Kube, options: RepositoryOptions & ObjectOptions): Promise<Source> {
  if (options.chart !== undefined) return chartOf(kube, options, options.chart)
  const { path = '.', revision } = options
  return { ...(await repositoryOf(kube, options)), path, ...(revision !== undefined && { targetRevision: revision }) }
}

async function chartOf(kube: Kube, options: RepositoryOptions & ObjectOptions, name: string): Promise<Source> {
  const { path, revision: version } = options
  if (path !== undefined) throw mistaken('a published chart has no path.', 'Leave --path out.')
  const { repoURL, project } = await repositoryOf(kube, options)
  return {
    ...(project !== undefined && { project }),
    chart: { ...chartsAt(repoURL), name, ...(version !== undefined && { version }) },
  }
}

const mistaken = (message: string, remedy: string): Failure => new Failure('invalid', message, { remedy })

async function repositoryOf(
  kube: Kube,
  { project, url, namespace }: RepositoryOptions & ObjectOptions,
): Promise<{ repoURL: string; project?: string }> {
  if ((project === undefined) === (url === undefined))
    throw mistaken('a deployment follows one repository.', 'Name it with either --project or --url.')
  if (project === undefined) return { repoURL: url ?? '' }
  const found = project.includes('/')
    ? await findProjectByPath(kube, project, namespace)
    : await findObject(kube, GitProjects, { name: project, namespace }, '`berth get projects -A`')
  return { repoURL: found.spec.url, project: `${namespace}/${found.metadata.name}` }
}
