import {
  byAge,
  type GitOpsDeployment,
  type GitOpsDeploymentSyncRun,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  indexBy,
  keyOf,
  keysBeside,
  promotionChainOf,
  type Ref,
} from '../api/index.ts'
import { objectRows } from './deployment-objects.ts'
import { chainPart, historyPart, runsPart, statePart } from './deployment-parts.ts'
import { dryRunPart } from './dry-run.ts'
import { html } from './html.ts'
import type { ListServices } from './object-list.ts'
import type { SignedInUser } from './ports.ts'
import { inList, type LiveView } from './view.ts'

const byDeployment = indexBy((run: GitOpsDeploymentSyncRun) => keysBeside(run, run.spec.gitopsDeploymentName))

/** A GitOpsDeployment with its objects, what a synchronisation would change, and what was synchronised before. */
export async function deploymentView(
  { shared, permissions }: ListServices,
  { person }: SignedInUser,
  ref: Ref & { namespace: string },
): Promise<LiveView | undefined> {
  const { name, namespace } = ref
  const may = (verb: string) => permissions.may(person, { verb, kind: GitOpsDeployments, ...ref })
  const mayRuns = (verb: string) => permissions.may(person, { verb, kind: GitOpsDeploymentSyncRuns, namespace })
  const cache = await shared.of(GitOpsDeployments)
  if (!(cache.get(ref) && (await may('get')))) return
  const runs = await shared.of(GitOpsDeploymentSyncRuns)
  const chainNow = () => {
    const deployment = cache.get(ref)
    return deployment ? promotionChainOf(deployment, cache.in(namespace)) : []
  }
  const namesInChain = () => [...new Set([name, ...chainNow().map(({ deployment }) => deployment.metadata.name)])]
  return {
    async fragments(now) {
      const [maySee, mayList, mayChange, maySeeRuns, mayRun] = await Promise.all([
        may('get'),
        permissions.may(person, { verb: 'list', kind: GitOpsDeployments, namespace }),
        may('patch'),
        mayRuns('list'),
        mayRuns('create'),
      ])
      const deployment = maySee ? cache.get(ref) : undefined
      if (!deployment) return [{ id: 'gone', list: 'parts', html: html`<p id="gone">It is not there any more.</p>` }]
      const [looks, syncs] = maySeeRuns ? partedRuns(runs.by(byDeployment, keyOf(ref)), deployment) : [[], []]
      const viewer = { mayChange, maySeeRuns, mayRun, now }
      const [first, ...more] = [statePart, historyPart].map((part) => part(deployment, viewer))
      const look = maySeeRuns ? dryRunPart(deployment, looks[0], viewer) : undefined
      const past = maySeeRuns ? [runsPart(syncs, viewer)] : []
      const chain = mayList ? chainPart(deployment, chainNow(), viewer) : undefined
      return [first, chain, look, ...objectRows(deployment), ...more, ...past].filter((part) => part !== undefined)
    },
    page: (fragments) => ({
      title: name,
      section: '/deployments',
      live: `/deployments/${namespace}/${name}`,
      content: html`<p class="facts">GitOpsDeployment in ${namespace}</p>
<div id="parts" class="parts">${inList(fragments, 'parts')}</div>
<section class="part" aria-labelledby="objects-title"><h2 id="objects-title">Objects</h2>
<ul id="objects" class="objects">${inList(fragments, 'objects')}</ul></section>
<div id="past" class="parts">${inList(fragments, 'past')}</div>`,
    }),
    watch: (listener) => [
      // Its own, and those of the others in its chain as it is when the page is opened.
      ...namesInChain().map((one) => cache.onChangeOf({ name: one, namespace }, listener)),
      runs.onChangeBy(byDeployment, keyOf(ref), listener),
      permissions.onChange(listener),
    ],
  }
}

/** Those that only look, and those that apply; each with the newest first. What was asked of a former one of that name tells nothing of this one. */
export function partedRuns(all: readonly GitOpsDeploymentSyncRun[], { metadata }: GitOpsDeployment) {
  const made = Date.parse(metadata.creationTimestamp ?? '')
  const own = all.filter((run) => !(Date.parse(run.metadata.creationTimestamp ?? '') < made))
  own.sort((a, b) => (timesOf(a) < timesOf(b) ? 1 : timesOf(a) > timesOf(b) ? -1 : byAge(b, a)))
  return [own.filter(({ spec }) => spec.dryRun), own.filter(({ spec }) => !spec.dryRun)] as const
}

/** Of those that were made in one second the one that is not over is the newer. */
const timesOf = ({ metadata, status }: GitOpsDeploymentSyncRun): string =>
  `${metadata.creationTimestamp} ${status?.completedAt ?? 'not yet'}`
