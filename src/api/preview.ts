import { Failure, harmlessLine } from '../std/index.ts'
import type { PreviewStatus } from './generated/preview.ts'
import type { Environment, Preview } from './kinds.ts'
import { nameOf } from './kube-object.ts'
import { annotations, FOREVER, labels } from './labels.ts'

/** The environment of a branch, as its Preview tells of it. */
export type BranchEnvironment = NonNullable<PreviewStatus['environments']>[number]

/** Annotations that a person writes on the Environment of a branch; null takes one away. */
export type BranchMarks = Readonly<Record<string, string | null>>

/** Keeps it until a time, or as long as there is the branch. Who keeps it has thought better of an end that the operator has not seen yet. */
export const keepMarks = (until: string = FOREVER): BranchMarks => ({
  [annotations.previewKeep]: until,
  [annotations.previewExpire]: null,
})

/** Ends it at that commit, whatever kept it. */
export function endMarks(preview: Preview, commit: string): BranchMarks {
  if (preview.spec.suspend) {
    throw new Failure('conflict', `${nameOf(preview)} is suspended, so nothing would be removed.`, {
      remedy: 'Set its spec.suspend to false first.',
    })
  }
  return { [annotations.previewExpire]: commit, [annotations.previewKeep]: null }
}

/** In messages. */
export const branchTitle = (preview: Preview, { name, branch }: BranchEnvironment): string =>
  harmlessLine(`Environment ${preview.metadata.namespace}/${name} of branch ${branch}`)

/** The patch that writes the marks on what was found under the name of its Environment, which has to be of that branch. */
export function markPatch(preview: Preview, entry: BranchEnvironment, found: Environment | undefined, marks: BranchMarks) {
  const { name, namespace } = preview.metadata
  if (!found) {
    throw new Failure('not-found', `${branchTitle(preview, entry)} is not there yet, or not any more.`, {
      remedy: `See with \`berth preview list ${name} -n ${namespace}\` what it waits for.`,
    })
  }
  const { uid, labels: { [labels.preview]: owner } = {}, annotations: { [annotations.branch]: branch } = {} } = found.metadata
  if (owner !== name || branch !== entry.branch) {
    throw new Failure(
      'conflict',
      `${nameOf(found)} is not of branch ${entry.branch} of ${nameOf(preview)}: its label ${labels.preview} is ${said(owner)}, its annotation ${annotations.branch} ${said(branch)}.`,
      { remedy: 'Delete it, if it is not needed, so that the Preview can make its own.' },
    )
  }
  return { metadata: { uid, annotations: marks } }
}

const said = (value: string | undefined): string => (value === undefined ? 'not set' : `"${value}"`)
