import { Failure } from '../../std/index.ts'

/**
 * Why a stranger's server gave no answer, in our words: `within 8 s`, `(ECONNREFUSED)`. `undefined` when it did answer, only
 * not as was hoped.
 */
export function whyNoAnswer(failure: Failure, patience: number): string | undefined {
  if (isAnswer(failure)) return undefined
  const isLate = failure.code === 'timeout' || failure.code === 'cancelled'
  return isLate ? `within ${patience / 1000} s` : `(${networkCodeOf(failure) ?? 'no connection'})`
}

/** A failure that comes from an HTTP answer has the answer as its cause, one from the network an Error. */
export const isAnswer = ({ cause }: Failure): boolean => cause !== undefined && !(cause instanceof Error)

interface Asked {
  server: string
  about: string
  /** Without it, a network error is told by its code: the sentence around it may quote the other side's certificate. */
  isQuoted: boolean
}

/** Of a request that got no answer. Whoever hung up, or the gate, says so itself. */
export function unreachable(thrown: unknown, { server, about, isQuoted }: Asked): Failure {
  const failure = Failure.from(thrown)
  if (failure.code === 'cancelled' || failure.code === 'invalid') return failure
  if (failure.code === 'too-large')
    return new Failure('too-large', failure.message, { object: about, ...(failure.reason && { reason: failure.reason }) })
  const code = failure.code === 'internal' ? 'unavailable' : failure.code
  const { message, remedy } = troubleWith(server, failure, isQuoted)
  return new Failure(code, message, { object: about, cause: thrown, ...(remedy && { remedy }) })
}

/** OpenSSL's names for a certificate that is not taken, and Node's for one of another host. Alerts say CERTIFICATE: they are about ours. */
const NOT_TRUSTED = /(^|_)CERT(_|$)|LEAF_SIGNATURE|INVALID_CA/
const NO_TLS = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/

function troubleWith(server: string, failure: Failure, isQuoted: boolean): { message: string; remedy?: string } {
  const code = networkCodeOf(failure) ?? ''
  const why = isQuoted ? failure.message : code || 'no connection'
  if (NOT_TRUSTED.test(code))
    return {
      message: `the certificate of ${server} is not trusted: ${why}`,
      remedy: 'Correct certificate-authority-data of the cluster in the kubeconfig, or its server.',
    }
  if (NO_TLS.test(code))
    return {
      message: `${server} does not speak TLS`,
      remedy: 'Correct the server in the kubeconfig: its port may be that of another program, or it may be http://.',
    }
  if (failure.code === 'timeout') return { message: `${server} did not answer in time` }
  return { message: `${server} did not answer: ${why}` }
}

function networkCodeOf(failure: Failure): string | undefined {
  for (let at: unknown = failure; at instanceof Error; at = at.cause) {
    if (!(at instanceof Failure) && 'code' in at && typeof at.code === 'string') return at.code.slice(0, 64)
  }
  return undefined
}
