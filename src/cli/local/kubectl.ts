import { resolve } from 'node:path'
import type { Shell } from '../shell.ts'
import { which } from '../which.ts'
import { runProgram } from './program.ts'

/** The whole path of the kubectl in the PATH. It fails where there is none, or one that does not run. */
export async function findKubectl({ env, cwd, signal }: Pick<Shell, 'env' | 'cwd' | 'signal'>): Promise<string> {
  const kubectl = resolve(cwd, which('kubectl', env.PATH, cwd))
  await runProgram(kubectl, ['version', '--client'], { env, signal })
  return kubectl
}
