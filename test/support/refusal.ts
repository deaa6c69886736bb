import { Failure, isFailure, type Log, type LogFields } from '../../src/std/index.ts'

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

/** A log that keeps what the loop tells of requests that the API server refused. */
export function listeningForRefusals(): { log: Log; refusals: string[] } {
  const refusals: string[] = []
  const listen = (message: string, fields: LogFields = {}) => {
    const text = fields.failure instanceof Error ? fields.failure.message : ''
    // "Operation cannot be fulfilled" is a lost race, not a refusal.
    if (/cannot (?!be fulfilled)|orbidden/.test(text)) refusals.push(`${message}: ${text}`)
  }
  const log: Log = { debug: () => undefined, info: listen, warn: listen, error: listen, with: () => log }
  return { log, refusals }
}
