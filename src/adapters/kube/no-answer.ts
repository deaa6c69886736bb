import { Failure } from '../../std/index.ts'

/**
 * Why a stranger's server gave no answer, in our words: `within 8 s`, `(ECONNREFUSED)`. `undefined` when it did answer, only
 * not as was hoped. Of a network error only the code is shown: the sentence around it may quote the other side's certificate.
 */
export function whyNoAnswer(failure: Failure, patience: number): string | undefined {
  if (isAnswer(failure)) return undefined
  const isLate = failure.code === 'timeout' || failure.code === 'cancelled'
  return isLate ? `within ${patience / 1000} s` : `(${networkWord(failure)})`
}

/** A failure that comes from an HTTP answer has the answer as its cause, one from the network an Error. */
export const isAnswer = ({ cause }: Failure): boolean => cause !== undefined && !(cause instanceof Error)

function networkWord(failure: Failure): string {
  for (let at: unknown = failure; at instanceof Error; at = at.cause) {
    if (!(at instanceof Failure) && 'code' in at && typeof at.code === 'string') return at.code.slice(0, 64)
  }
  return 'no connection'
}
