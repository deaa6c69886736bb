import {
  conditionOf,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type Environment,
  Environments,
  type GitOpsDeployment,
  GitOpsDeployments,
} from '../api/index.ts'
import { AGENTS } from './agents.ts'
import { html } from './html.ts'
import { healthOf, type ListServices, type ObjectList, objectListView, troubleOf } from './object-list.ts'
import type { SignedInUser } from './ports.ts'
import { PREVIEWS } from './preview.ts'
import type { LiveView } from './view.ts'
import type { Tone } from './words.ts'

/** The list at that path, of those that are of one kind each. */
export async function kindView(services: ListServices, user: SignedInUser, { pathname }: URL): Promise<LiveView | undefined> {
  if (pathname === DEPLOYMENTS.path) return objectListView(DEPLOYMENTS, services, user)
  if (pathname === PREVIEWS.path) return objectListView(PREVIEWS, services, user)
  if (pathname === ENVIRONMENTS.path) return objectListView(ENVIRONMENTS, services, user)
  if (pathname === AGENTS.path) return objectListView(AGENTS, services, user)
  if (pathname === CLAIMS.path) return objectListView(CLAIMS, services, user)
  return undefined
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
    notes: troubleOf(status?.conditions),
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
      notes: troubleOf(status?.conditions),
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
      notes: troubleOf(status?.conditions),
    }
  },
}
