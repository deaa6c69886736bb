import { Failure } from '../../std/index.ts'

/** The user can mend it: the request, or what is in its way. */
export const unableToProvision = (message: string, remedy: string): Failure =>
  new Failure('invalid', message, { reason: 'UnableToProvision', remedy })

/** The same with a reason of its own, which the claim says, too. */
export const unableBecause = (reason: string, message: string, remedy: string): Failure =>
  new Failure('invalid', message, { reason, remedy })
