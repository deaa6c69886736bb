import { Failure, type Log } from '../../std/index.ts'

export interface EstrangedOptions {
  /** Each failure by its code. */
  onFailed: (code: string) => void
  log: Log
}

/** Other kas that do not believe this one. */
export interface Estranged {
  failed(url: string, thrown: unknown): void
  /** It believes us. */
  answered(url: string): void
  has(url: string): boolean
}

/**
 * A kas that refuses what this one shows it has another secret or another time, and it goes on until somebody mends that: it is told
 * once for each, and again when it has answered meanwhile. All else that fails between kas passes by itself.
 */
export function createEstranged({ onFailed, log }: EstrangedOptions): Estranged {
  const urls = new Set<string>()
  return {
    failed(url, thrown) {
      const failure = Failure.from(thrown)
      onFailed(failure.code)
      const isNews = isRefusal(failure) && !urls.has(url)
      if (isNews) urls.add(url)
      const remedy = isNews ? { remedy: MEND } : {}
      log[isNews ? 'warn' : 'debug']('Another kas did not answer', { kas: url, error: failure, ...remedy })
    },
    answered: (url) => void urls.delete(url),
    has: (url) => urls.has(url),
  }
}

export const MEND = 'Give all kas the same --private-api-secret, and check that their clocks agree.'

const isRefusal = ({ code }: Failure): boolean => code === 'unauthorized' || code === 'forbidden'
