import type { GitProjectSpec, Workspace, WorkspaceClassSpec } from '../../../api/index.ts'
import { withoutEnd } from '../../../std/index.ts'

/** Settings of the operator for the way from workspaces to Git. */
export interface WorkspaceGitSettings {
  /** Where pods reach kas for credentials, such as `https://kas.berth-system.svc:8156`; without it they cannot. */
  kas?: string | undefined
  /** Certificate authority of kas, PEM. */
  kasCa?: string | undefined
  /** Certificate authorities of Git servers, PEM; those of the image without it. */
  gitCa?: string | undefined
}

/** Of the owner's Secret, what is copied into the target. */
export interface CopiedSecret {
  /** In base64. */
  data: Readonly<Record<string, string>>
  /** Changes when the Secret does. */
  version: string
}

/** All that the pod of a workspace is to know of Git. */
export interface GitPlan {
  /** Of the workspace. */
  uid: string
  url: URL
  /** Empty: the branch that the repository says. */
  ref: string
  /** Name of the folder of the clone. */
  folder: string
  userName: string
  userEmail: string
  /** Where this workspace asks kas; nothing where it does not. */
  kasUrl: string | undefined
  kasCa: string | undefined
  gitCa: string | undefined
  copied: CopiedSecret | undefined
}

/** The project as the GitProject says it, else as it was when that was last there. */
export type KnownProject = Pick<GitProjectSpec, 'url' | 'path' | 'defaultBranch'>

export function gitPlanOf(
  { metadata, spec }: Workspace,
  project: KnownProject,
  { settings, git, copied }: { settings: WorkspaceClassSpec; git: WorkspaceGitSettings; copied: CopiedSecret | undefined },
): GitPlan | undefined {
  // Nothing but these is ever handed to git, whatever a GitProject says.
  const url = URL.canParse(project.url) ? new URL(project.url) : undefined
  if (!url || !/^(https?|ssh):$/.test(url.protocol)) return undefined
  const { owner = '' } = spec
  const asksKas = git.kas !== undefined && spec.git?.delivery !== 'ByCopy' && url.protocol !== 'ssh:'
  return {
    uid: metadata.uid ?? '',
    url,
    ref: spec.project?.ref ?? project.defaultBranch ?? '',
    folder: folderOf(project.path),
    userName: spec.git?.userName ?? owner,
    userEmail: spec.git?.userEmail ?? addressOf(owner, settings.dnsZone),
    kasUrl: asksKas ? `${withoutEnd(git.kas ?? '', '/')}/git/${metadata.namespace}/${metadata.name}` : undefined,
    kasCa: git.kasCa,
    gitCa: git.gitCa,
    copied,
  }
}

const folderOf = (path: string): string => path.split('/').at(-1) || 'project'

/** Git wants an address. One that nobody can have been given is better than none. */
function addressOf(owner: string, zone: string | undefined): string {
  if (/^[^\s@<>]+@[^\s@<>]+$/.test(owner)) return owner
  return `${owner.replace(/[^A-Za-z0-9._-]+/g, '-') || 'nobody'}@noreply.${zone || 'invalid'}`
}
