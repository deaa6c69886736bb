import { selectorOf } from '../../adapters/kube/index.ts'
import type { GitOpsDeploymentSetSpec } from '../../api/index.ts'

/** A GitOpsDeployment of the set as it is now. */
export interface Member {
  readonly name: string
  /** By the template. */
  readonly labels: Record<string, string>
  /** It is as the template has it. */
  readonly isUpdated: boolean
  /** It was, and somebody has changed it since. */
  readonly isDrifted: boolean
  /** In effect and healthy, as it is. */
  readonly isReady: boolean
  /** It comes into effect when somebody says so, and nothing waits for it. */
  readonly isManual: boolean
  /** It cannot be written now: it was refused a moment ago, or is on its way out. */
  readonly isBlocked: boolean
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
  const writable = members.filter(({ isUpdated, isBlocked }) => !isUpdated && !isBlocked)
  if (!rollout) return { write: namesOf(writable), step: undefined, unready: [] }
  // What was changed by hand is no news, and is put back whatever the rollout waits for.
  const drifted = namesOf(writable.filter(({ isDrifted }) => isDrifted))
  for (const [at, { step, those }] of stepsOf(members, rollout.steps).entries()) {
    const outdated = those.filter(({ isUpdated, isDrifted }) => !isUpdated && !isDrifted)
    const onTheirWay = those.filter(({ isUpdated, isReady, isManual }) => isUpdated && !isReady && !isManual)
    if (outdated.length === 0 && onTheirWay.length === 0) continue
    const room = Math.max(mostAtOnce(step, those.length) - onTheirWay.length, 0)
    const next = outdated.filter(({ isBlocked }) => !isBlocked).slice(0, room)
    return { write: [...drifted, ...namesOf(next)], step: at, unready: namesOf(onTheirWay) }
  }
  return { write: drifted, step: undefined, unready: [] }
}

const namesOf = (members: readonly Member[]): string[] => members.map(({ name }) => name)

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
