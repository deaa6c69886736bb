import type { Kube } from '../adapters/kube/index.ts'
import {
  type BranchEnvironment,
  type BranchMarks,
  Environments,
  endMarks,
  keepMarks,
  markPatch,
  nameOf,
  type Preview,
  Previews,
  type Ref,
} from '../api/index.ts'
import { Failure } from '../std/index.ts'
import { html } from './html.ts'
import type { PageContent } from './page.ts'
import { previewPath } from './preview.ts'
import { shortOf } from './words.ts'

interface PreviewRequest {
  /** In the name of the person who does it. */
  kube: Kube
  ref: Ref
  form: URLSearchParams
}

/** By the last part of the path, as `berth preview`. The API server decides whether this person may. */
const ACTIONS: Readonly<Record<string, (preview: Preview, entry: BranchEnvironment) => BranchMarks>> = {
  keep: () => keepMarks(),
  delete: (preview, { commit }) => endMarks(preview, commit),
}

export const isPreviewAction = (word: string): boolean => Object.hasOwn(ACTIONS, word)

export async function runPreviewAction(word: string, { kube, ref, form }: PreviewRequest): Promise<void> {
  const preview = await kube.get(Previews, ref)
  // Another one of that name is not the one that somebody saw.
  if (!preview || preview.metadata.uid !== form.get('uid')) throw new Failure('not-found', 'the Preview that you saw is gone')
  const entry = entryOf(preview, form.get('environment') ?? '')
  if (!entry) throw new Failure('not-found', `${nameOf(preview)} has no environment of that branch any more`)
  if (entry.commit !== form.get('commit'))
    throw new Failure('conflict', `commit ${shortOf(entry.commit)} was pushed meanwhile`, { remedy: 'Look at it first' })
  const marks = ACTIONS[word]?.(preview, entry)
  const environment = { name: entry.name, namespace: preview.metadata.namespace }
  if (marks)
    await kube.patch(Environments, environment, markPatch(preview, entry, await kube.get(Environments, environment), marks))
}

/** By its name: a page shows what is hidden in the name of a branch, and a form would send that. */
const entryOf = ({ status }: Preview, wanted: string): BranchEnvironment | undefined =>
  status?.environments?.find(({ name }) => name === wanted)

/** The question before what cannot be taken back. */
export function endPage(preview: Preview, wanted: string): PageContent | undefined {
  const entry = entryOf(preview, wanted)
  if (!entry) return
  const { name, branch, commit } = entry
  return {
    title: `Delete the environment of ${branch}?`,
    content: html`<p>All that is in ${name} is deleted. The branch stays, and the next push to it makes a new environment. It has commit <code>${shortOf(commit)}</code> now.</p>
<div class="buttons"><form method="post" action="${previewPath(preview)}/delete">
<input type="hidden" name="uid" value="${preview.metadata.uid}"><input type="hidden" name="environment" value="${name}">
<input type="hidden" name="commit" value="${commit}"><button class="danger">Delete the environment</button></form>
<a class="button" href="${previewPath(preview)}">Leave it</a></div>`,
  }
}
