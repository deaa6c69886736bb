import type { Deployment, Pod } from '../../api/index.ts'
import { type Assessment, assess } from './actual-state/index.ts'
import { MAIN, type Plan, partOf, partsOf } from './desired/index.ts'
import type { Connection } from './target-watch.ts'

interface Seen {
  deployment: Deployment
  pods: readonly Pod[]
  connection: Connection
  now: number
}

/** The state of a workspace: that of its main pod, and once that is where it should be, of those beside it. */
export function assessed(plan: Place, seen: Seen): Assessment {
  const assessment = worstOf(plan, seen)
  if (!assessment.needsLook) seen.connection.closer.turnAway(plan.workspace.metadata.uid ?? '')
  return assessment
}

type Place = Pick<Plan, 'workspace' | 'devfile' | 'namespace'>

function worstOf(plan: Place, seen: Seen): Assessment {
  const { workspace, devfile, namespace } = plan
  const main = ofPart(plan, seen, MAIN, seen.deployment)
  if (main.state !== 'Running' && main.state !== 'Stopped') return main
  const others = partsOf(workspace, devfile)
    .slice(1)
    .map(({ part, name }) => ofPart(plan, seen, part, seen.connection.deployments.get({ name, namespace })))
  const late = others.find(({ state }) => state !== main.state)
  // One whose Deployment is not seen yet is on its way.
  return late?.state === 'Unknown' ? { ...late, state: main.state === 'Running' ? 'Starting' : 'Stopping' } : (late ?? main)
}

/** A start that takes long is looked at more closely; then what is seen there is evidence, too. */
function ofPart(
  { workspace: { metadata, status } }: Pick<Plan, 'workspace'>,
  { pods: all, connection, now }: Seen,
  part: string,
  deployment: Deployment | undefined,
): Assessment {
  const { uid = '' } = metadata
  const pods = all.filter((pod) => partOf(pod) === part)
  const evidence = { now, deployment, pods, before: status }
  const first = assess(evidence)
  return first.needsLook ? assess({ ...evidence, ...connection.closer.at(uid, pods) }) : first
}
