import {
  type AnyObject,
  type GitOpsDeployment,
  type GitOpsDeploymentSet,
  GitOpsDeploymentSets,
  GitOpsDeployments,
  type GitProject,
  GitProjects,
  type Kind,
  type KubeObject,
  type Ref,
} from '../../api/index.ts'
import type { Remark } from './fields.ts'

/** An object as it was given, with the file it stands in. */
export interface ForeignObject {
  object: AnyObject
  /** `apps.yaml`, or `cluster` */
  file: string
}

/** What came of one object of another program. */
export interface Imported {
  /** `Application argocd/shop` */
  title: string
  file: string
  /** What Berth has in its place; nothing where there is no match for all of it. */
  made: readonly KubeObject[]
  remarks: readonly Remark[]
  /** A cluster has it: its labels and owners say who has applied it. */
  isLive: boolean
  /** What has become of it, where nothing was made of it alone. */
  becomes?: string
  /** Berth has nothing that does the same. */
  isLost?: true
  /** The other program has it suspended: nobody lets it go on but a person. */
  rests?: boolean
  /** How the other program lets go of it. */
  release?: LettingGo
  /** Titles of what it has made itself. */
  has?: readonly string[]
}

/** The commands by which the other program stops, and by which its object goes without what it has applied. */
export interface LettingGo {
  /** The title of the one that has applied this object itself, and would put back what is changed of it. */
  parent?: string | undefined
  stop: readonly string[]
  /** Once more, for all, before the first of them goes: somebody may have changed it. */
  part: readonly string[]
  remove: readonly string[]
}

/** What a person has chosen. */
export interface ImportChoices {
  /** The namespace of what is made where nothing else says one. */
  into?: string | undefined
}

/** All that is made of what was given. */
export interface ImportResult {
  projects: readonly GitProject[]
  deployments: readonly GitOpsDeployment[]
  sets: readonly GitOpsDeploymentSet[]
}

export function madeOf(imported: readonly Imported[]): ImportResult {
  // Several may share a project.
  const all = [...new Set(imported.flatMap(({ made }) => made))]
  return {
    projects: all.filter(isOf(GitProjects)),
    deployments: all.filter(isOf(GitOpsDeployments)),
    sets: all.filter(isOf(GitOpsDeploymentSets)),
  }
}

const isOf =
  <T extends KubeObject>({ kind }: Kind<T>) =>
  (object: KubeObject): object is T =>
    object.kind === kind

/** Only a cluster gives a uid. */
export const isLive = ({ metadata }: AnyObject): boolean => metadata.uid !== undefined

export const titleOf = (kind: string, { name, namespace }: Ref): string => `${kind} ${namespace}/${name}`
