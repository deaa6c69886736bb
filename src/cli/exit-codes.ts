import type { Failure, FailureCode } from '../std/index.ts'

/** The shell learns these from `$?`. Scripts may rely on them; a new meaning gets a new number. */
export const exitCodes = {
  /** Done. Also: ended by Ctrl-C where that is how one ends it (`up`, `tour`, `operator`, `kas`). */
  ok: 0,
  /** It went wrong, and no number below says how. */
  failed: 1,
  /** The command line is wrong: unknown verb, option or value. */
  usage: 2,
  /** An object or a file that it was to work on is not there. */
  notFound: 3,
  /** The cluster refused: not logged in, or not allowed. */
  refused: 4,
  /** The cluster, or a program, does not answer. */
  unavailable: 5,
  /** It did not come to pass in time. */
  timeout: 6,
  /** An object, a file or a setting is not valid. */
  invalid: 7,
  /** `doctor` found something that does not work. */
  unhealthy: 8,
  /** `diff --exit-code` found something to do. */
  different: 9,
  /** Somebody was asked at the terminal whether to go on, and did not say so: nothing was changed. */
  declined: 10,
  /** Interrupted (Ctrl-C) before it was done. */
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

const OF_FAILURE: Partial<Record<FailureCode, ExitCode>> = {
  'not-found': exitCodes.notFound,
  forbidden: exitCodes.refused,
  unauthorized: exitCodes.refused,
  unavailable: exitCodes.unavailable,
  timeout: exitCodes.timeout,
  invalid: exitCodes.invalid,
  cancelled: exitCodes.interrupted,
}

/** The reason of a failure that is a person's choice. */
export const DECLINED = 'Declined'

export const exitCodeOf = ({ code, reason }: Failure): ExitCode =>
  reason === DECLINED ? exitCodes.declined : (OF_FAILURE[code] ?? exitCodes.failed)
