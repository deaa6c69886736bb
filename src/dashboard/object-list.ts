import {
  type Condition,
  conditionOf,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type Environment,
  Environments,
  type GitOpsDeployment,
  GitOpsDeployments,
  type Kind,
  type KubeObject,
} from '../api/index.ts'
import type { Permissions } from '../engines/permissions/index.ts'
import { type Child, type Html, html } from './html.ts'
import type { SignedInUser } from './ports.ts'
import type { SharedCaches } from './shared-caches.ts'
import { emptyRow, type Fragment, factsLine, inList, type LiveView, moreRow } from './view.ts'
import { badge, type Moment, since, type Tone } from './words.ts'

/** A list of objects of one kind, as the roles of the cluster let somebody list them. */
interface ObjectList<T extends KubeObject> {
  kind: Kind<T>
  path: string
  title: string
  none: string
  row: (object: T, now: Moment) => ObjectRow
}

interface ObjectRow {
  title: Child
  state: { word: string; tone: Tone }
  facts: readonly Child[]
  note?: Child
}

const MOST = 300

export interface ListServices {
  shared: SharedCaches
  permissions: Permissions
}

export async function kindView(services: ListServices, user: SignedInUser, { pathname }: URL): Promise<LiveView | undefined> {
  if (pathname === DEPLOYMENTS.path) return viewOf(DEPLOYMENTS, services, user)
  if (pathname === ENVIRONMENTS.path) return viewOf(ENVIRONMENTS, services, user)
  if (pathname === CLAIMS.path) return viewOf(CLAIMS, services, user)
  return undefined
}

async function viewOf<T extends KubeObject>(
  section: ObjectList<T>,
  { shared, permissions }: ListServices,
  { person }: SignedInUser,
): Promise<LiveView> {
  const { kind, path, title, none } = section
  const cache = await shared.of(kind)
  return {
    async fragments(now) {
      const all = [...cache.all()]
      const namespaces = [...new Set(all.map(({ metadata }) => metadata.namespace ?? ''))]
      const seen = await permissions.where(person, { verb: 'list', kind }, namespaces)
      const shown = all.filter(({ metadata }) => seen.has(metadata.namespace ?? '')).sort(byPlace)
      const rows = shown.slice(0, MOST).map((object) => rowOf(section, object, now))
      if (shown.length > MOST) rows.push(moreRow('rows', `And ${shown.length - MOST} more.`))
      return rows.length > 0 ? rows : [emptyRow('rows', none)]
    },
    page: (fragments) => ({
      title,
      section: path,
      live: path,
      content: html`<ul id="rows" class="cards">${inList(fragments, 'rows')}</ul>`,
    }),
    watch: (listener) => [cache.onChange(listener), permissions.onChange(listener)],
  }
}

const placeOf = ({ metadata: { name, namespace } }: KubeObject): string => `${namespace} ${name}`
const byPlace = (a: KubeObject, b: KubeObject): number => (placeOf(a) < placeOf(b) ? -1 : 1)

function rowOf<T extends KubeObject>({ row }: ObjectList<T>, object: T, now: Moment): Fragment {
  const { uid = '', name, namespace, creationTimestamp } = object.metadata
  const { title, state, facts, note } = row(object, now)
  const id = `row-${uid}`
  const made = creationTimestamp && html`made ${since(creationTimestamp, now)} ago`
  return {
    id,
    list: 'rows',
    say: `${name} is ${state.word.toLowerCase()}`,
    html: html`<li id="${id}" class="card ${state.tone}"><div class="what"><h2>${title}</h2> ${badge(state)}
${factsLine([namespace, ...facts, made])}${note && html`<p class="note">${note}</p>`}</div></li>`,
  }
}

const HEALTH: Readonly<Record<string, Tone>> = {
  Healthy: 'good',
  Progressing: 'busy',
  Degraded: 'bad',
  Missing: 'bad',
  Suspended: 'off',
}

export const healthOf = (word: string | undefined): { word: string; tone: Tone } => ({
  word: word ?? 'Unknown',
  tone: HEALTH[word ?? ''] ?? 'busy',
})

/** Says what is wrong in the words of the object itself. */
export function troubleOf(conditions: readonly Condition[] | undefined): Html | undefined {
  const ready = conditionOf(conditions, 'Ready')
  return ready && ready.status !== 'True' ? html`${ready.reason}: ${ready.message}` : undefined
}

const DEPLOYMENTS: ObjectList<GitOpsDeployment> = {
  kind: GitOpsDeployments,
  path: '/deployments',
  title: 'Deployments',
  none: 'There is no GitOpsDeployment in a namespace in which you may list them.',
  row: ({ metadata, spec, status }) => ({
    title: html`<a href="/deployments/${metadata.namespace}/${metadata.name}">${metadata.name}</a>`,
    state: healthOf(status?.health?.status),
    facts: [
      spec.destination?.environment && `in ${spec.destination.environment}`,
      status?.sync?.status ?? 'Unknown',
      status?.sync?.revision && `commit ${status.sync.revision.slice(0, 12)}`,
      spec.suspend && 'suspended',
    ],
    note: troubleOf(status?.conditions),
  }),
}

const ENVIRONMENTS: ObjectList<Environment> = {
  kind: Environments,
  path: '/environments',
  title: 'Environments',
  none: 'There is no Environment in a namespace in which you may list them.',
  row: ({ metadata, spec, status }) => {
    const isReady = conditionOf(status?.conditions, 'Ready')?.status === 'True'
    return {
      title: spec.displayName || metadata.name,
      state: isReady ? { word: 'Ready', tone: 'good' } : { word: 'Not ready', tone: 'busy' },
      facts: [
        metadata.name,
        spec.configuration?.target && `claim ${spec.configuration.target.deploymentTargetClaim.claimName}`,
        status?.target && `target ${status.target}`,
      ],
      note: troubleOf(status?.conditions),
    }
  },
}

const PHASES: Readonly<Record<string, Tone>> = { Bound: 'good', Lost: 'bad' }

const CLAIMS: ObjectList<DeploymentTargetClaim> = {
  kind: DeploymentTargetClaims,
  path: '/claims',
  title: 'Claims',
  none: 'There is no DeploymentTargetClaim in a namespace in which you may list them.',
  row: ({ metadata, spec, status }) => {
    const phase = status?.phase ?? 'Pending'
    return {
      title: metadata.name,
      state: { word: phase, tone: PHASES[phase] ?? 'busy' },
      facts: [`class ${spec.deploymentTargetClassName}`, status?.target && `target ${status.target.name}`],
      note: troubleOf(status?.conditions),
    }
  },
}
