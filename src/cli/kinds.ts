import { InvalidArgumentError } from 'commander'
import {
  Agents,
  apiVersionOf,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  Environments,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeploymentSets,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  GitProjects,
  type Kind,
  Previews,
  SpaceRequests,
  SpaceTiers,
  WorkspaceClasses,
  Workspaces,
} from '../api/index.ts'

/** What people call each kind, the plural of it, and the short names of its definition in crds/. */
const CALLED: readonly (readonly [kind: Kind, one: string, many: string, ...short: string[]])[] = [
  [Workspaces, 'workspace', 'workspaces', 'ws'],
  [DeploymentTargetClaims, 'claim', 'claims', 'dtc'],
  [DeploymentTargets, 'target', 'targets', 'dt'],
  [Environments, 'environment', 'environments', 'env'],
  [GitOpsDeployments, 'deployment', 'deployments', 'gitopsdepl'],
  [GitProjects, 'project', 'projects', 'gp'],
  [Agents, 'agent', 'agents', 'bagent'],
  [SpaceRequests, 'space', 'spaces', 'sr'],
  [GitOpsDeploymentSets, 'set', 'sets', 'gitopsset'],
  [Previews, 'preview', 'previews', 'prev'],
  [GitOpsDeploymentSyncRuns, 'syncrun', 'syncruns'],
  [GitOpsDeploymentManagedEnvironments, 'managedenvironment', 'managedenvironments', 'gdme'],
  [WorkspaceClasses, 'workspaceclass', 'workspaceclasses', 'wscls'],
  [DeploymentTargetClasses, 'targetclass', 'targetclasses', 'dtcls'],
  [SpaceTiers, 'tier', 'tiers'],
]

/** The words by which all kinds may be listed, for messages and completion. */
export const KIND_WORDS: readonly string[] = CALLED.map(([, , many]) => many)

/** The kind that a word means to people or to kubectl: `claim`, `claims`, `dtc`, `deploymenttargetclaims.appstudio.redhat.com`. */
export function kindCalled(word: string): Kind | undefined {
  const wanted = word.toLowerCase()
  const found = CALLED.find(([kind, ...names]) => [...names, ...namesInApi(kind)].includes(wanted))
  return found?.[0]
}

const namesInApi = (kind: Kind): string[] => {
  const one = kind.kind.toLowerCase()
  return [one, kind.plural, `${one}.${kind.group}`, `${kind.plural}.${kind.group}`]
}

/** In messages: `claim`. */
export const wordFor = (kind: Kind): string => CALLED.find(([each]) => each === kind)?.[1] ?? kind.kind

/** The plural of it: `claims`. */
export const wordForMany = (kind: Kind): string => CALLED.find(([each]) => each === kind)?.[2] ?? kind.plural

/** As `kubectl get -o name` prints it, and every verb understands it. */
export const pathOf = (kind: Kind, name: string): string => `${kind.kind.toLowerCase()}.${kind.group}/${name}`

/** Commander's parser for the name of an object of this kind, which may begin with the kind: `gitopsdeployment/shop`. */
export const nameOfKind =
  (kind: Kind) =>
  (text: string): string => {
    const [word = '', name = '', ...more] = text.split('/')
    if (!text.includes('/')) return text
    const called = kindCalled(word)
    if (called === kind && name !== '' && more.length === 0) return name
    const example = `${name || 'NAME'} or ${wordFor(kind)}/${name || 'NAME'}`
    throw new InvalidArgumentError(
      called === undefined || called === kind
        ? `Write it like ${example}; a namespace goes behind -n.`
        : `That is of kind ${called.kind} (${apiVersionOf(called)}), and ${kind.kind} is asked for. Write it like ${example}.`,
    )
  }
