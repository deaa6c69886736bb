import type { Kube } from '../../adapters/kube/index.ts'
import { Failure } from '../../std/index.ts'
import type { Beside } from '../local/beside.ts'
import type { Mark } from '../output.ts'

/** What an examination says. A `warn` or `fail` says what can be done about it. */
export interface Finding {
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

export const ok = (message: string): Finding => ({ mark: 'ok', message })
export const warn = (message: string, remedy: string): Finding => ({ mark: 'warn', message, remedy })
export const fail = (message: string, remedy: string): Finding => ({ mark: 'fail', message, remedy })

/** An examination that could not be made is a finding itself; the others go on. */
export async function examineAnyway(examine: Examination, patient: Patient): Promise<Finding[]> {
  try {
    return await examine(patient)
  } catch (thrown) {
    const { code, message, remedy } = Failure.from(thrown)
    const advice =
      code === 'forbidden'
        ? 'Ask for the right to read it, or run the doctor as an administrator.'
        : 'Mend this first, then run the doctor again.'
    return [fail(message, remedy ?? advice)]
  }
}
