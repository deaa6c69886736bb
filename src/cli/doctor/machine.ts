import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Shell } from '../shell.ts'
import { type DoctorFinding, fail, ok, warn } from './finding.ts'

const OLDEST_NODE = 20

export function examineNode(version: string): DoctorFinding {
  if (Number.parseInt(version, 10) >= OLDEST_NODE) return ok(`Node ${version}`)
  return fail(`Node ${version} is too old`, `Install Node ${OLDEST_NODE} or newer.`)
}

export const examineGit = (shell: Shell): Promise<DoctorFinding> =>
  examineProgram(shell, ['git', '--version'], fail, 'kas fetches with it: install git 2.30 or newer.')

export const examineKubectl = (shell: Shell): Promise<DoctorFinding> =>
  examineProgram(
    shell,
    ['kubectl', 'version', '--client'],
    warn,
    'kustomizations are rendered with it: install kubectl, or use the one that `berth up` keeps.',
  )

async function examineProgram(
  { env: { PATH, HOME } }: Shell,
  [program, ...parameters]: [string, ...string[]],
  otherwise: typeof fail,
  remedy: string,
): Promise<DoctorFinding> {
  try {
    const { stdout } = await promisify(execFile)(program, parameters, { env: { PATH, HOME } })
    return ok(stdout.trim().split('\n')[0] ?? program)
  } catch {
    return otherwise(`${program} is not in the PATH`, remedy)
  }
}
