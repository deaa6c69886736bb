import { selectorOf } from '../../adapters/kube/index.ts'
import type { GitOpsDeploymentSetSpec } from '../../api/index.ts'

/** A GitOpsDeployment of the set as it is now. */
export interface Member {
  readonly name: string
  /** By the template. */
  readonly labels: Record<string, string>
  /** It is as the template has it. */
  readonly isUpdated: boolean
  /** In effect and healthy, as it is. */
  readonly isReady: boolean
}

export interface Plan {
  /** Those to make or change now, by their names. */
  readonly write: readonly string[]
  /** The step that is under way, from 0 on; `undefined` when all are done. */
  readonly step: number | undefined
  /** Those that the next ones wait for. */
  readonly unready: readonly string[]
}

type Step = NonNullable<GitOpsDeploymentSetSpec['rollout']>['steps'][number]

/** What can be made and changed now. Pure. Throws `invalid` with the field of a selector that cannot be read. */
export function planOf(members: readonly Member[], rollout: GitOpsDeploymentSetSpec['rollout']): Plan {
  if (!rollout) {
    const write = members.filter(({ isUpdated }) => !isUpdated).map(({ name }) => name)
    return { write, step: undefined, unready: [] }
  }
  for (const [at, { step, those }] of stepsOf(members, rollout.steps).entries()) {
    const outdated = those.filter(({ isUpdated }) => !isUpdated)
    const onTheirWay = those.filter(({ isUpdated, isReady }) => isUpdated && !isReady)
    if (outdated.length === 0 && onTheirWay.length === 0) continue
    const room = Math.max(mostAtOnce(step, those.length) - onTheirWay.length, 0)
    return { write: outdated.slice(0, room).map(({ name }) => name), step: at, unready: onTheirWay.map(({ name }) => name) }
  }
  return { write: [], step: undefined, unready: [] }
}

/** The first step that names one has it, and one more step those that none does. */
function stepsOf(members: readonly Member[], steps: readonly Step[]): { step: Step; those: Member[] }[] {
  const selects = steps.map(({ labelSelector }, at) => selectorOf(labelSelector, `spec.rollout.steps[${at}].labelSelector`))
  const byStep = Map.groupBy(members, ({ labels }) => {
    const at = selects.findIndex((select) => select(labels))
    return at < 0 ? steps.length : at
  })
  return [...steps, {}].map((step, at) => ({ step, those: byStep.get(at) ?? [] }))
}

/** A share of few is one at least: else nothing would ever move. */
function mostAtOnce({ maxAtOnce }: Step, all: number): number {
  if (maxAtOnce === undefined) return all
  if (typeof maxAtOnce === 'number') return maxAtOnce
  return Math.max(Math.floor((all * Number.parseInt(maxAtOnce, 10)) / 100), 1)
}

/** From so many on a share says something. */
const FEW = 10

/** Why those for which there is no element any more stay for now; `undefined`: they may go. */
export function holdOf(
  leaving: number,
  all: number,
  { maxPercent = 50, allowEmpty = false }: NonNullable<GitOpsDeploymentSetSpec['removal']>,
): string | undefined {
  if (leaving === 0) return undefined
  if (leaving === all && !allowEmpty)
    return `there is no element any more, and with that all ${all} GitOpsDeployments would go. If that is meant, set spec.removal.allowEmpty to true`
  if (all >= FEW && leaving * 100 > all * maxPercent && !(leaving === all && allowEmpty))
    return `${leaving} of ${all} GitOpsDeployments would go at once, which is more than ${maxPercent}%. If that is meant, set spec.removal.maxPercent to 100`
  return undefined
}
