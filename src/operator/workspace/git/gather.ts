import type { Kube } from '../../../adapters/kube/index.ts'
import {
  annotations,
  type GitProject,
  labels,
  type Ref,
  Secrets,
  type Workspace,
  type WorkspaceClassSpec,
  YES,
} from '../../../api/index.ts'
import { type CopiedSecret, type GitPlan, gitPlanOf, type KnownProject, type WorkspaceGitSettings } from './plan.ts'

export interface GitServices {
  kube: Pick<Kube, 'get'>
  project(ref: Ref): GitProject | undefined
  settings: WorkspaceGitSettings
}

/** Findings about the project of a workspace. */
export interface GitFindings {
  name: string
  isThere: boolean
  /** As the status keeps it, so that a running workspace outlives its GitProject. */
  known: KnownProject | undefined
  /** Nothing while there is no project that could be cloned. */
  git: GitPlan | undefined
  /** Why the owner's Secret is of no use. */
  trouble: string | undefined
}

/** Nothing for a workspace without a project. */
export async function gatherGit(
  workspace: Workspace,
  settings: WorkspaceClassSpec,
  services: GitServices,
): Promise<GitFindings | undefined> {
  const { metadata, spec, status } = workspace
  if (!spec.project) return undefined
  const name = spec.project.gitProject
  const live = services.project({ name, namespace: metadata.namespace })
  const known = live ? knownFrom(live) : status?.project
  const secret = await ownersSecret(workspace, services)
  const git = known && gitPlanOf(workspace, known, { settings, git: services.settings, copied: secret?.copied })
  return { name, isThere: live !== undefined, known, git, trouble: secret?.trouble }
}

const knownFrom = ({ spec: { url, path, defaultBranch } }: GitProject): KnownProject => ({
  url,
  path,
  ...(defaultBranch !== undefined && { defaultBranch }),
})

const OF_SSH = ['ssh-privatekey', 'known_hosts']
const OF_HTTP = ['username', 'password', 'token']

/** Only what is needed in the target goes there. A Secret that is gone, or not the owner's any more, leaves an empty copy. */
async function ownersSecret(
  { metadata, spec }: Workspace,
  { kube }: GitServices,
): Promise<{ copied: CopiedSecret; trouble: string | undefined } | undefined> {
  const name = spec.git?.credentialsSecretRef?.name
  if (name === undefined) return undefined
  const found = await kube.get(Secrets, { name, namespace: metadata.namespace })
  const isOpen = found?.metadata.labels?.[labels.gitCredentials] === YES
  const isOwn = spec.owner !== undefined && found?.metadata.annotations?.[annotations.gitOwner] === spec.owner
  if (!found || !isOpen || !isOwn) {
    // The same words for a Secret that is missing and one that is somebody else's.
    const trouble = `spec.git.credentialsSecretRef: there is no Secret ${name} labelled ${labels.gitCredentials}=${YES} and annotated ${annotations.gitOwner}=${spec.owner} in this namespace`
    return { copied: { data: {}, version: 'none' }, trouble }
  }
  const keys = spec.git?.delivery === 'ByCopy' ? [...OF_SSH, ...OF_HTTP] : OF_SSH
  const data = Object.fromEntries(keys.flatMap((key) => (found.data?.[key] === undefined ? [] : [[key, found.data[key]]])))
  return { copied: { data, version: `${found.metadata.uid}/${found.metadata.resourceVersion}` }, trouble: undefined }
}
