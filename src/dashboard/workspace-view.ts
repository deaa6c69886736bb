import type { Cache } from '../adapters/kube/index.ts'
import { type Ref, type Workspace, Workspaces } from '../api/index.ts'
import type { Permissions } from '../engines/permissions/index.ts'
import { html } from './html.ts'
import type { SignedInUser } from './ports.ts'
import { type Fragment, inList, type LiveView } from './view.ts'
import { stateIn } from './words.ts'
import { isOwnedBy, pathOf } from './workspace-list.ts'
import { factsPart, nowPart, portsPart, remarksPart, stepsPart, timePart } from './workspace-parts.ts'
import { sizePart } from './workspace-size.ts'

/** Everything about one workspace, for those who own it or may get it. */
export async function workspaceView(
  { workspaces, permissions }: { workspaces: Cache<Workspace>; permissions: Permissions },
  { person }: SignedInUser,
  ref: Ref & { namespace: string },
): Promise<LiveView | undefined> {
  const may = (verb: string) => permissions.may(person, { verb, kind: Workspaces, ...ref })
  const first = workspaces.get(ref)
  // Logs and events are asked in the name of the person, for which owning is not enough.
  const mayGet = first !== undefined && (await may('get'))
  if (!(first && (mayGet || isOwnedBy(person, first)))) return
  return {
    async fragments(now) {
      const workspace = workspaces.get(ref)
      const verbs = ['get', 'patch', 'delete', 'administer']
      const [maySee = false, mayChange = false, mayRemove = false, mayAdminister = false] = await Promise.all(verbs.map(may))
      if (!(workspace && (maySee || isOwnedBy(person, workspace)))) return [GONE]
      const isOwn = !workspace.spec.owner || isOwnedBy(person, workspace)
      const shown = { mayChange, mayRemove, mayResize: mayChange && (isOwn || mayAdminister), now }
      const parts = [nowPart, timePart, stepsPart, portsPart, sizePart, remarksPart, factsPart].map((part) =>
        part(workspace, shown),
      )
      return parts.filter((part) => part !== undefined)
    },
    page: (fragments) => ({
      title: ref.name,
      section: '/',
      live: `/workspaces/${ref.namespace}/${ref.name}`,
      content: html`<p class="facts">Workspace in ${ref.namespace}</p>
<div id="parts" class="parts">${inList(fragments, 'parts')}</div>
${(mayGet ? LINKS : []).map(([path, words], at) => html`${at > 0 && ' · '}<a href="/workspaces/${ref.namespace}/${ref.name}/${path}">${words}</a>`)}`,
    }),
    watch: (listener) => [workspaces.onChangeOf(ref, listener), permissions.onChange(listener)],
  }
}

const LINKS = [
  ['logs', 'Logs'],
  ['events', 'Events'],
] as const

const GONE: Fragment = {
  id: 'gone',
  list: 'parts',
  say: 'The workspace is gone',
  html: html`<section id="gone" class="part"><h2>Gone</h2><p>This workspace is not there any more, or you may not see it any more.</p></section>`,
}

/** The question before what cannot be taken back. */
export const removalPage = (workspace: Workspace) => ({
  title: `Delete ${workspace.metadata.name}?`,
  content: html`<p>Everything in it is deleted, its files too. What was not pushed is lost. It is ${stateIn(workspace).word.toLowerCase()} now.</p>
<div class="buttons"><form method="post" action="${pathOf(workspace)}/delete">
<input type="hidden" name="uid" value="${workspace.metadata.uid}"><input type="hidden" name="from" value="list">
<button class="danger">Delete ${workspace.metadata.name} and its files</button></form>
<a class="button" href="${pathOf(workspace)}">Keep it</a></div>`,
})
