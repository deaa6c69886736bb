import type { Controller, Workshop } from '../engines/controller/index.ts'
import type { Config } from './config.ts'
import { targetLifecycle } from './deployment-target/lifecycle/index.ts'
import { claimBinding } from './deployment-target-claim/binding/index.ts'

/** Every controller of the operator, in the order of a claim's life. This list is the only place where rooms meet. */
export const controllersOf = (workshop: Workshop, _config: Config): Controller[] => [
  claimBinding(workshop),
  targetLifecycle(workshop),
]
