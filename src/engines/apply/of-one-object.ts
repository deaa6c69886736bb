import { type Failure, isFailure } from '../../std/index.ts'

/** Whether a write failed by what is wrong with that object, or with how many there are; all else is wrong with the API server. */
export const isOfOneObject = (thrown: unknown): thrown is Failure =>
  isFailure(thrown, 'invalid', 'conflict', 'already-exists', 'forbidden', 'not-found', 'too-large')
