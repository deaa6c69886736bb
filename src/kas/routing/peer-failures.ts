import { Failure, type Log } from '../../std/index.ts'

export interface EstrangedOptions {
  /** Each failure by its code. */
  onFailed: (code: string) => void
  log: Log
}

/**
 * A kas that refuses what this one shows it has another secret or another time, and it goes on until somebody mends that: it is told
 * once for each, and again when it has answered meanwhile. All else that fails between kas passes by itself.
 */
export function createPeerFailures({ onFailed, log }: EstrangedOptions) {
  const urls = new Set<string>()
  return {
    failed(url: string, thrown: unknown) {
      const failure = Failure.from(thrown)
      onFailed(failure.code)
      const isNews = isRefusal(failure) && !urls.has(url)
      if (isNews) urls.add(url)
      const remedy = isNews ? { remedy: MEND } : {}
      log[isNews ? 'warn' : 'debug']('Another kas did not answer', { kas: url, error: failure, ...remedy })
    },
    /** It believes us. */
    answered: (url: string) => void urls.delete(url),
    has: (url: string) => urls.has(url),
  }
}

/** Other kas that do not believe this one. */
export type PeerFailures = ReturnType<typeof createPeerFailures>

export const MEND = 'Give all kas the same --private-api-secret, and check that their clocks agree.'

const isRefusal = ({ code }: Failure): boolean => code === 'unauthorized' || code === 'forbidden'
