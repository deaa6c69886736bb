import { isAllowedToUs, type Kube, subjectOf, whoNeedsEntry } from '../../adapters/kube/index.ts'
import { RoleBindings, Roles } from '../../api/index.ts'
import type { Piece } from '../../engines/apply/index.ts'
import type { ControllerContext } from '../../engines/controller/index.ts'
import { Failure, pause, remembered, seconds, waitOf } from '../../std/index.ts'
import { piece, type Space } from './desired.ts'

/** Its rights in the namespaces that it makes (deploy/operator/space-keeper.yaml). */
const ROLE = 'berth-space-keeper'
const BINDING = 'berth-operator'
/** Stands for that role: nobody who is held to it has this in all namespaces. */
const SIGN = { group: Roles.group, resource: Roles.plural, verb: 'escalate' }
/** API servers hear of a binding in milliseconds. */
const PATIENCE = seconds(10)
const PACE = { base: 10, max: 500 }

export type NamespaceEntry = ReturnType<typeof ownEntry>

/** How the operator gets into the namespaces that it makes, where its account has no rights in others. */
export function ownEntry({ kube, clock }: Pick<ControllerContext, 'kube' | 'clock'>) {
  const whoAsks = remembered(
    (ours: Kube) => whoNeedsEntry(ours, SIGN),
    () => '',
    clock,
    { fresh: Number.POSITIVE_INFINITY, most: 1 },
  )
  return {
    /** The binding that gives it rights in this one; none, where it has them anyway. */
    async bindingFor(space: Space): Promise<Piece | undefined> {
      const user = await whoAsks(kube)
      if (user === undefined) return undefined
      const roleRef = { apiGroup: Roles.group, kind: 'ClusterRole', name: ROLE }
      return piece(space, RoleBindings, BINDING, { roleRef, subjects: [subjectOf(user)] })
    },
    /** Waits until the API server knows the rights. */
    async untilHeld(namespace: string): Promise<void> {
      const end = clock.now() + PATIENCE
      for (let attempt = 0; !(await isAllowedToUs(kube, { ...SIGN, namespace })); attempt++) {
        if (clock.now() > end)
          throw new Failure('unavailable', `the API server does not let the operator into namespace ${namespace}`, {
            remedy: `Look whether RoleBinding ${namespace}/${BINDING} and ClusterRole ${ROLE} are there`,
          })
        await pause(clock, waitOf(PACE, attempt))
      }
    },
  }
}
