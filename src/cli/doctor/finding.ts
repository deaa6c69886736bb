import type { Kube } from '../../adapters/kube/index.ts'
import { Failure } from '../../std/index.ts'
import type { LocalPrograms } from '../local/local-programs.ts'
import type { FindingMark } from '../output.ts'

/** The answer of an examination. A `warn` or `fail` says what can be done about it. */
export interface DoctorFinding {
  mark: FindingMark
  message: string
  remedy?: string
}

/** The examinations look at this. */
export interface CheckContext {
  kube: Kube
  /** The folder of Berth itself. */
  home: string
  /** The namespace in which its programs keep their Leases. */
  namespace: string
  /** The programs that `berth up` runs for this cluster on this machine. */
  localPrograms: LocalPrograms | undefined
  now: number
}

export type Examination = (context: CheckContext) => Promise<DoctorFinding | DoctorFinding[]>

export const ok = (message: string): DoctorFinding => ({ mark: 'ok', message })
export const warn = (message: string, remedy: string): DoctorFinding => ({ mark: 'warn', message, remedy })
export const fail = (message: string, remedy: string): DoctorFinding => ({ mark: 'fail', message, remedy })

/** An examination that could not be made is a finding itself; the others go on. */
export async function examineAnyway(examine: Examination, context: CheckContext): ReturnType<Examination> {
  try {
    return await examine(context)
  } catch (thrown) {
    const { code, message, remedy } = Failure.from(thrown)
    const advice =
      code === 'forbidden'
        ? 'Ask for the right to read it, or run the doctor as an administrator.'
        : 'Mend this first, then run the doctor again.'
    return fail(message, remedy ?? advice)
  }
}
