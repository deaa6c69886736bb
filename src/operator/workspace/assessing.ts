import type { Deployment, Pod, Workspace } from '../../api/index.ts'
import { type Assessment, assess } from './actual-state/index.ts'
import { MAIN, type Plan, partOf, partOfDeployment, partsOf } from './desired/index.ts'
import type { Connection } from './target-watch.ts'

interface Seen {
  /** Of its main pod. */
  deployment: Deployment | undefined
  pods: readonly Pod[]
  connection: Connection
  now: number
}

/** A pod beside the main one; nothing where its Deployment is not seen yet. */
interface Beside {
  part: string
  deployment: Deployment | undefined
}

type Place = Pick<Plan, 'workspace' | 'devfile' | 'namespace'>

/** The state of a workspace: that of its main pod, and once that is where it should be, of those beside it. */
export function assessed({ workspace, devfile, namespace }: Place, seen: Seen): Assessment {
  const [, ...others] = partsOf(workspace, devfile)
  const beside = others.map(({ part, name }) => ({ part, deployment: seen.connection.deployments.get({ name, namespace }) }))
  return looked(workspace, seen, beside)
}

/** The same of what there is, whatever it should be: `others` are its Deployments beside the main one. */
export const assessedAsItIs = (workspace: Workspace, seen: Seen, others: readonly Deployment[]): Assessment =>
  looked(
    workspace,
    seen,
    others.map((deployment) => ({ part: partOfDeployment(deployment), deployment })),
  )

function looked(workspace: Workspace, seen: Seen, beside: readonly Beside[]): Assessment {
  const assessment = worstOf(workspace, seen, beside)
  if (!assessment.needsLook) seen.connection.closer.turnAway(workspace.metadata.uid ?? '')
  return assessment
}

function worstOf(workspace: Workspace, seen: Seen, beside: readonly Beside[]): Assessment {
  const main = ofPart(workspace, seen, { part: MAIN, deployment: seen.deployment })
  if (main.state !== 'Running' && main.state !== 'Stopped') return main
  const late = beside.map((each) => ofPart(workspace, seen, each)).find(({ state }) => state !== main.state)
  // One whose Deployment is not seen yet is on its way.
  return late?.state === 'Unknown' ? { ...late, state: main.state === 'Running' ? 'Starting' : 'Stopping' } : (late ?? main)
}

/** A start that takes long is looked at more closely; then what is seen there is evidence, too. */
function ofPart({ metadata, status }: Workspace, { pods: all, connection, now }: Seen, { part, deployment }: Beside): Assessment {
  const { uid = '' } = metadata
  const pods = all.filter((pod) => partOf(pod) === part)
  const evidence = { now, deployment, pods, before: status }
  const first = assess(evidence)
  return first.needsLook ? assess({ ...evidence, ...connection.closer.at(uid, pods) }) : first
}
