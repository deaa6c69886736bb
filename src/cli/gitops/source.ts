import type { Command } from 'commander'
import type { Kube } from '../../adapters/kube/index.ts'
import { type GitOpsDeploymentSpec, GitProjects } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { findObject, findProjectByPath, type ObjectOptions } from '../find-object.ts'

export interface RepositoryOptions {
  project?: string
  url?: string
  path: string
  revision?: string
}

/** For verbs that make a GitOpsDeployment. */
export const withSource = (command: Command): Command =>
  command
    .option('--project <project>', 'GitProject of this namespace to follow, by its name or its path')
    .option('--url <url>', 'instead: URL of the repository, that of a GitProject which grants access')
    .option('--path <folder>', 'directory in the repository', '.')
    .option('--revision <revision>', 'branch, tag, commit or ref (default: the default branch)')

/** The source that a person names by these options. */
export async function sourceOf(kube: Kube, options: RepositoryOptions & ObjectOptions): Promise<GitOpsDeploymentSpec['source']> {
  const { path, revision } = options
  return { ...(await repositoryOf(kube, options)), path, ...(revision !== undefined && { targetRevision: revision }) }
}

async function repositoryOf(
  kube: Kube,
  { project, url, namespace }: RepositoryOptions & ObjectOptions,
): Promise<{ repoURL: string; project?: string }> {
  if ((project === undefined) === (url === undefined))
    throw new Failure('invalid', 'a deployment follows one repository.', { remedy: 'Name it with either --project or --url.' })
  if (project === undefined) return { repoURL: url ?? '' }
  const found = project.includes('/')
    ? await findProjectByPath(kube, project, namespace)
    : await findObject(kube, GitProjects, { name: project, namespace }, '`berth get projects -A`')
  return { repoURL: found.spec.url, project: `${namespace}/${found.metadata.name}` }
}
