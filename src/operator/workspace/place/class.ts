import { BlockList } from 'node:net'
import type { Cache } from '../../../adapters/kube/index.ts'
import {
  DEFAULT_CLASS,
  indexBy,
  notTrue,
  type Statement,
  type Workspace,
  type WorkspaceClass,
  type WorkspaceClassSpec,
} from '../../../api/index.ts'
import { withPresetImage } from '../desired/index.ts'
import { classObstacle, type Obstacle } from './obstacle.ts'

/** The settings of a workspace: those of its class when it was created, or when it was upgraded on purpose. */
export interface ChosenClass {
  name: string
  generation: number
  settings: WorkspaceClassSpec
  /** The wish to be upgraded that this answers. */
  upgradedAt?: string
}

/** What a class that does not say it gets from its operator. */
export interface ClassDefaults {
  /** Has a shell and git. */
  image: string
  /** Where Berth's programs are, and with them the proxy. */
  namespace: string
}

export const classNameOf = ({ spec }: Workspace): string => spec.workspaceClassName ?? DEFAULT_CLASS

export const byClass = indexBy((workspace: Workspace) => [classNameOf(workspace)])

/** The frozen settings. A workspace without any has no place in its class yet. */
export function frozenClass(
  { spec, status }: Workspace,
  found: WorkspaceClass | undefined,
  defaults: ClassDefaults,
): ChosenClass | undefined {
  const { name, generation = 0, settings, upgradedAt } = status?.class ?? {}
  if (name === undefined || !settings) return undefined
  const frozen = { name, generation, settings, ...(upgradedAt && { upgradedAt }) }
  if (!spec.upgradedAt || spec.upgradedAt === upgradedAt || found?.metadata.name !== name) return frozen
  const chosen = chosenFrom(found, defaults)
  return { ...chosen, settings: whereItIs(chosen.settings, settings), upgradedAt: spec.upgradedAt }
}

/** The defaults are frozen too: no newer operator lets pods begin anew. */
export function chosenFrom({ metadata, spec }: WorkspaceClass, { image, namespace }: ClassDefaults): ChosenClass {
  const editor = withPresetImage(spec.editor, image)
  return {
    name: metadata.name,
    generation: metadata.generation ?? 0,
    settings: {
      ...spec,
      projectCloner: { image, ...spec.projectCloner },
      proxy: { namespace, ...spec.proxy },
      ...(editor && { editor }),
    },
  }
}

/** An upgrade moves nothing: the volume with the files is where it is. */
function whereItIs(now: WorkspaceClassSpec, before: WorkspaceClassSpec): WorkspaceClassSpec {
  const { sharedNamespace = '', deploymentTargetClassName = '', storage } = before
  const storageClassName = storage?.storageClassName ?? ''
  return { ...now, sharedNamespace, deploymentTargetClassName, storage: { ...now.storage, storageClassName } }
}

/** The class that takes a new workspace, or why it does not. */
export function openClass(workspace: Workspace, classes: Cache<WorkspaceClass>): WorkspaceClass | Obstacle {
  const name = classNameOf(workspace)
  const named = `WorkspaceClass ${name}`
  const found = classes.get({ name })
  if (!found) {
    const remedy = 'Create it, or make the workspace again with another in spec.workspaceClassName.'
    return classObstacle('ClassNotFound', { message: `there is no ${named}`, remedy, waitingFor: named })
  }
  if (found.spec.enabled === false) {
    const remedy = 'Use another class, or set its spec.enabled to true.'
    return classObstacle('ClassDisabled', { message: `${named} takes no new workspaces`, remedy, waitingFor: named })
  }
  const [mistake] = mistakesIn(found.spec)
  if (mistake)
    return classObstacle('ClassInvalid', { message: `${named}: ${mistake}`, remedy: 'Correct the class.', waitingFor: named })
  return found
}

/** Mistakes that the API server does not look for, because it would cost it too much. */
export function mistakesIn({ networkPolicy }: WorkspaceClassSpec): string[] {
  return (networkPolicy?.egress ?? []).flatMap(({ allow, except = [] }, index) =>
    except
      .filter((range) => !isWithin(range, allow))
      .map(
        (range) => `spec.networkPolicy.egress[${index}].except: ${range} is not a part of ${allow}, and every cluster refuses it`,
      ),
  )
}

/** True where one address range is a part of the other, and smaller. */
function isWithin(range: string, whole: string): boolean {
  const [address = '', bits] = range.split('/')
  const [base = '', wholeBits] = whole.split('/')
  const family = (text: string) => (text.includes(':') ? 'ipv6' : 'ipv4')
  if (family(address) !== family(base) || Number(bits) <= Number(wholeBits)) return false
  const list = new BlockList()
  list.addSubnet(base, Number(wholeBits), family(base))
  return list.check(address, family(address))
}

/** Said while the class is not as the workspace has it: it goes on with what it has. */
export function onClass({ metadata }: Workspace, chosen: ChosenClass, found: WorkspaceClass | undefined): Statement[] {
  if (!found) {
    const message = `WorkspaceClass ${chosen.name} is gone. The workspace keeps the settings that it has; nothing is to be done.`
    return [notTrue('ClassCurrent', 'ClassGone', message)]
  }
  if (found.metadata.generation === chosen.generation) return []
  const command = `berth restart ${metadata.name} -n ${metadata.namespace} --upgrade`
  const message = `WorkspaceClass ${chosen.name} has changed since the workspace took its settings. Take over the new ones with: ${command}`
  return [notTrue('ClassCurrent', 'ClassChanged', message)]
}

/** True for one that takes a place in the quotas of its class. */
export const counts = ({ spec, metadata }: Workspace): boolean =>
  spec.desiredState !== 'Terminated' && metadata.deletionTimestamp === undefined
