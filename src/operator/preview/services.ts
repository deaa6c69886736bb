import type { Cache } from '../../adapters/kube/index.ts'
import type {
  DeploymentTargetClaim,
  Environment,
  GitOpsDeployment,
  GitOpsDeploymentSet,
  GitProject,
  Index,
} from '../../api/index.ts'
import type { Canonical } from '../../engines/apply/index.ts'
import type { ControllerContext } from '../../engines/controller/index.ts'
import type { Repositories } from '../repository-names/index.ts'

export interface PreviewServices {
  context: ControllerContext
  environments: Cache<Environment>
  claims: Cache<DeploymentTargetClaim>
  deployments: Cache<GitOpsDeployment>
  sets: Cache<GitOpsDeploymentSet>
  projects: Cache<GitProject>
  repositories: Repositories
  canonical: Canonical
  /** By the Preview that they were made for. */
  byPreview: { environments: Index<Environment>; claims: Index<DeploymentTargetClaim> }
  /** What was not accepted, by the key of the Preview and the name of the environment. */
  refusals: Map<string, Map<string, PreviewRefusal>>
}

/** It is not tried again before `until`, milliseconds since 1970. */
export interface PreviewRefusal {
  reason: string
  message: string
  until: number
}

export const MANAGER = 'preview'
