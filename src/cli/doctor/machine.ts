import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Shell } from '../shell.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const OLDEST_NODE = 20

/** The programs of this machine that Berth uses. */
export async function examineMachine(shell: Shell, nodeVersion: string): Promise<Finding[]> {
  const programs = [
    programFinding(shell, 'git', ['--version'], 'kas fetches with it: install git 2.30 or newer.', fail),
    programFinding(
      shell,
      'kubectl',
      ['version', '--client'],
      'kustomizations are rendered with it: install kubectl, or use the one that `berth up` keeps.',
      warn,
    ),
  ]
  return [nodeFinding(nodeVersion), ...(await Promise.all(programs))]
}

function nodeFinding(version: string): Finding {
  const major = Number.parseInt(version, 10)
  if (major >= OLDEST_NODE) return ok('node', `Node ${version}`)
  return fail('node', `Node ${version} is too old`, `Install Node ${OLDEST_NODE} or newer.`)
}

async function programFinding(
  shell: Shell,
  program: string,
  parameters: string[],
  remedy: string,
  otherwise: typeof fail,
): Promise<Finding> {
  try {
    const { stdout } = await promisify(execFile)(program, parameters, { env: { PATH: shell.env.PATH, HOME: shell.env.HOME } })
    return ok(program, stdout.trim().split('\n')[0] ?? program)
  } catch {
    return otherwise(program, `${program} is not in the PATH`, remedy)
  }
}
