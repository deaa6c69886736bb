import type { Cache } from '../../adapters/kube/index.ts'
import type { Environment, GitOpsDeployment, GitProject, Index } from '../../api/index.ts'
import type { ControllerContext } from '../../engines/controller/index.ts'
import type { Repositories } from '../repository-names/index.ts'
import type { WantedDeployment } from './desired.ts'
import type { Unready } from './status.ts'

/** What is remembered of a set, so that a look costs little. */
export interface SetMemory {
  readonly desired: ReadonlyMap<string, WantedDeployment>
  /** Those that were found as they should be, and in which version. */
  readonly verified: Map<string, string>
  /** Those that were not accepted, by what they were to be; not tried again before `until`. */
  readonly refused: Map<string, Refusal>
  /** What it was made of. */
  readonly from: MadeOf
}

export interface Refusal extends Unready {
  mark: string
  until: number
}

/** The same texts, and the very same lists. */
export interface MadeOf {
  readonly version: string
  readonly names: readonly (readonly string[])[]
}

export interface SetServices {
  context: ControllerContext
  deployments: Cache<GitOpsDeployment>
  environments: Cache<Environment>
  projects: Cache<GitProject>
  repositories: Repositories
  bySet: Index<GitOpsDeployment>
  memories: Map<string, SetMemory>
}

export const MANAGER = 'gitops-deployment-set'
