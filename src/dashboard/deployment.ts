import type { Kube } from '../adapters/kube/index.ts'
import { annotations, type GitOpsDeployment, GitOpsDeployments, type Ref, refOf } from '../api/index.ts'
import { Failure } from '../std/index.ts'
import { type Html, html } from './html.ts'
import { healthOf, type ListServices, troubleOf } from './object-list.ts'
import type { SignedInUser } from './ports.ts'
import { type Fragment, inList, type LiveView, sectionOf } from './view.ts'
import { badge, type Moment, since } from './words.ts'

/** A GitOpsDeployment with the tree of its objects. */
export async function deploymentView(
  { shared, permissions }: ListServices,
  { person }: SignedInUser,
  ref: Ref & { namespace: string },
): Promise<LiveView | undefined> {
  const cache = await shared.of(GitOpsDeployments)
  const { name, namespace } = ref
  const may = (verb: string) => permissions.may(person, { verb, kind: GitOpsDeployments, ...ref })
  if (!(cache.get(ref) && (await may('get')))) return
  return {
    async fragments(now) {
      const [maySee, mayChange] = await Promise.all([may('get'), may('patch')])
      const deployment = maySee ? cache.get(ref) : undefined
      if (!deployment) return [{ id: 'gone', list: 'parts', html: html`<p id="gone">It is not there any more.</p>` }]
      return [statePart(deployment, mayChange, now), ...treeParts(deployment), historyPart(deployment, now)]
    },
    page: (fragments) => ({
      title: name,
      section: '/deployments',
      live: `/deployments/${namespace}/${name}`,
      content: html`<p class="facts">GitOpsDeployment in ${namespace}</p><div id="parts" class="parts">${inList(fragments, 'parts')}</div>`,
    }),
    watch: (listener) => [cache.onChangeOf(ref, listener), permissions.onChange(listener)],
  }
}

function statePart({ metadata, spec, status = {} }: GitOpsDeployment, mayChange: boolean, now: Moment): Fragment {
  const health = healthOf(status.health?.status)
  const maySync = mayChange && spec.type !== 'manual' && !spec.suspend
  const trouble = troubleOf(status.conditions)
  const section = sectionOf(
    'now',
    'State',
    html`<p>${badge(health)} ${status.sync?.status ?? 'Unknown'}${status.sync?.revision && html`, commit ${status.sync.revision.slice(0, 12)}`}${status.lastSyncTime && html`, synchronised ${since(status.lastSyncTime, now)} ago`}</p>
${trouble && html`<p class="wrong">${trouble}</p>`}
${status.pendingPrune && html`<p>${status.pendingPrune.count} deletions wait: ${status.pendingPrune.reason}. <code>berth sync ${metadata.name} -n ${metadata.namespace} --confirm-prune</code> shows them.</p>`}
<p class="facts">${spec.source.repoURL}, ${spec.source.path}</p>
${maySync && html`<form method="post" action="/deployments/${metadata.namespace}/${metadata.name}/sync" data-quiet><input type="hidden" name="uid" value="${metadata.uid}"><button class="main" id="sync">Synchronise now</button></form>`}`,
  )
  return { ...section, say: `${metadata.name} is ${health.word.toLowerCase()}` }
}

type Resource = NonNullable<NonNullable<GitOpsDeployment['status']>['resources']>[number]

/** By namespace, a part each: a part that has not changed is not sent again. */
function treeParts({ status }: GitOpsDeployment): Fragment[] {
  return [...Map.groupBy(status?.resources ?? [], ({ namespace = '' }) => namespace)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([namespace, resources]) => {
      const title = namespace === '' ? 'Objects of the cluster' : `Objects in ${namespace}`
      return sectionOf(`tree-${namespace}`, title, html`<ul class="lines">${resources.sort(byKind).map(itemOf)}</ul>`)
    })
}

const keyOf = ({ kind, group = '', name }: Resource): string => `${kind} ${group} ${name}`
const byKind = (a: Resource, b: Resource): number => (keyOf(a) < keyOf(b) ? -1 : 1)

function itemOf({ kind, group, name, status, drift = [], health, message = health?.message }: Resource): Html {
  const notes = [...(drift.length > 0 ? [`differs in ${drift.join(', ')}`] : []), ...(message === undefined ? [] : [message])]
  return html`<li><strong>${group ? `${kind}.${group}` : kind}</strong> ${name}: ${health ? badge(healthOf(health.status)) : ''} ${status ?? 'Unknown'}${notes.length > 0 && html`<ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`}</li>`
}

function historyPart({ status }: GitOpsDeployment, now: Moment): Fragment {
  const history = (status?.history ?? []).map(
    ({ revision, at }) => html`<li>${revision.slice(0, 12)}, ${since(at, now)} ago</li>`,
  )
  const list = history.length > 0 ? html`<ol class="lines">${history}</ol>` : html`<p>Nothing yet.</p>`
  return sectionOf('history', 'Synchronised before', list)
}

/** As `berth sync` does it for those that follow their repository. */
export async function synchronise(kube: Kube, ref: Ref, uid: string, now: number): Promise<void> {
  const deployment = await kube.get(GitOpsDeployments, ref)
  if (!deployment || deployment.metadata.uid !== uid) throw new Failure('not-found', 'the deployment that you saw is gone')
  await kube.patch(GitOpsDeployments, refOf(deployment), {
    metadata: { uid, annotations: { [annotations.sync]: new Date(now).toISOString() } },
  })
}
