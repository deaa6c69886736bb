import { Failure, isFailure } from '../../src/std/index.ts'

/** The words with which the API server refuses a write; fails when it does not refuse. */
export async function refusalOf(write: Promise<unknown>): Promise<string> {
  const outcome = await write.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (isFailure(outcome, 'invalid', 'forbidden')) return outcome.message
  if (outcome !== undefined) throw outcome
  throw new Failure('internal', 'the API server took what it should have refused')
}

/** Why it fails, by code, reason and text; fails itself when it succeeds, or when what is thrown is a fault of ours. */
export async function failureOf(work: () => Promise<unknown>): Promise<Failure> {
  try {
    await work()
  } catch (thrown) {
    if (isFailure(thrown)) return thrown
    throw thrown
  }
  throw new Failure('internal', 'it did not fail')
}
