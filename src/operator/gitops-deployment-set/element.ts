import type { GitOpsDeploymentSetSpec } from '../../api/index.ts'

/** What there is one GitOpsDeployment of for: values by the names of variables. */
export interface Element {
  readonly values: ReadonlyMap<string, string>
  /** What gave it, in the words of a message. */
  readonly from: string
}

/** Each is a GitOpsDeployment, with its files, watches and passes. */
export const MOST_ELEMENTS = 1000

export type Generator = GitOpsDeploymentSetSpec['generators'][number]
export type Simple = Omit<Generator, 'product'>
