import type { Kube } from '../../adapters/kube/index.ts'
import { Failure } from '../../std/index.ts'
import type { Beside } from '../local/beside.ts'
import type { Mark } from '../output.ts'

/** One line of the doctor's. A `warn` or `fail` says what can be done about it. */
export interface Finding {
  check: string
  mark: Mark
  message: string
  remedy?: string
}

/** What the doctor looks at. */
export interface Patient {
  kube: Kube
  /** Where Berth itself lies. */
  home: string
  /** The namespace in which its programs keep their Leases. */
  namespace: string
  /** What `berth up` runs for this cluster on this machine. */
  beside: Beside | undefined
  now: number
}

export type Examination = (patient: Patient) => Promise<Finding[]>

export const ok = (check: string, message: string): Finding => ({ check, mark: 'ok', message })
export const warn = (check: string, message: string, remedy: string): Finding => ({ check, mark: 'warn', message, remedy })
export const fail = (check: string, message: string, remedy: string): Finding => ({ check, mark: 'fail', message, remedy })

/** An examination that could not be made is a finding itself; the others go on. */
export const guarded =
  (check: string, examine: Examination): Examination =>
  async (patient) => {
    try {
      return await examine(patient)
    } catch (thrown) {
      const failure = Failure.from(thrown)
      const remedy =
        failure.remedy ??
        (failure.code === 'forbidden'
          ? 'Ask for the right to read it, or run the doctor as an administrator.'
          : 'Mend this first, then run the doctor again.')
      return [fail(check, failure.message, remedy)]
    }
  }
