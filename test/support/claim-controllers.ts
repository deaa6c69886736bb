import type { Controller, ControllerContext } from '../../src/engines/controller/index.ts'
import { targetLifecycle } from '../../src/operator/deployment-target/lifecycle/index.ts'
import { sandboxTargets } from '../../src/operator/deployment-target/provisioned/index.ts'
import { sandboxReclaim } from '../../src/operator/deployment-target/reclaim/index.ts'
import { claimBinding } from '../../src/operator/deployment-target-claim/binding/index.ts'
import { sandboxProvisioning } from '../../src/operator/deployment-target-claim/provisioning/index.ts'
import { spaceRequests } from '../../src/operator/space-request/index.ts'

/** Everybody who takes part in the life of a provisioned claim, under the names of their roles. */
export const CLAIM_CONTROLLERS: Readonly<Record<string, (context: ControllerContext) => Controller>> = {
  'claim-binding': claimBinding,
  'target-lifecycle': targetLifecycle,
  'devsandbox-provisioner': sandboxProvisioning,
  'devsandbox-targets': sandboxTargets,
  'devsandbox-reclaim': sandboxReclaim,
  'space-request': spaceRequests,
}

export const claimControllers = (context: ControllerContext): Controller[] =>
  Object.values(CLAIM_CONTROLLERS).map((make) => make(context))
