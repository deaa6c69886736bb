import type { Kube } from '../../adapters/kube/index.ts'
import { Failure } from '../../std/index.ts'
import type { LocalPrograms } from '../local/local-programs.ts'
import { unlessForbidden } from '../options.ts'
import type { FindingMark } from '../output.ts'

/** The answer of an examination. A `warn` or `fail` says what can be done about it. */
export interface DoctorFinding {
  mark: FindingMark
  message: string
  remedy?: string
  /** The object that it is about, where there may be many alike. */
  object?: FoundObject
}

interface FoundObject {
  kind: string
  /** With the namespace. */
  name: string
  /** What is wrong with it, in a word. */
  reason: string
}

/** The examinations look at this. */
export interface CheckContext {
  kube: Kube
  /** The folder of Berth itself. */
  home: string
  /** The namespace in which its programs keep their Leases. */
  namespace: string
  /** That of the context of the kubeconfig: the person works there. */
  namespaceOfContext: string
  /** The programs that `berth up` runs for this cluster on this machine. */
  localPrograms: LocalPrograms | undefined
  now: number
}

export type Examination = (context: CheckContext) => Promise<DoctorFinding | DoctorFinding[]>

export const ok = (message: string): DoctorFinding => ({ mark: 'ok', message })
export const warn = (message: string, remedy: string): DoctorFinding => ({ mark: 'warn', message, remedy })
export const fail = (message: string, remedy: string): DoctorFinding => ({ mark: 'fail', message, remedy })

/** An examination that failed is a finding itself; the others go on. Nothing where the person may not look. */
export async function examineAnyway(examine: Examination, context: CheckContext): Promise<DoctorFinding[] | undefined> {
  try {
    return await unlessForbidden(async () => [await examine(context)].flat())
  } catch (thrown) {
    const { message, remedy } = Failure.from(thrown)
    return [fail(message, remedy ?? 'Mend this first, then run the doctor again.')]
  }
}
