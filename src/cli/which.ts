import { accessSync, constants } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { Failure } from '../std/index.ts'
import type { Shell } from './shell.ts'

/** The program's whole path, as the shell would find it: the operator runs it with an empty PATH. */
export function which(
  program: string,
  path: string | undefined,
  cwd: string,
  remedy = 'Install it, or name its file with --kubectl.',
): string {
  if (isAbsolute(program)) return program
  if (program.includes('/')) return resolve(cwd, program)
  const found = (path ?? '')
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find(isExecutable)
  if (found) return found
  throw new Failure('not-found', `there is no program "${program}" in PATH`, { remedy })
}

interface RenderPrograms {
  kubectl: string
  helm: string
}

/** The settings of a program that renders, with whole paths. Where there is no helm, who needs it is told so: most never do. */
export const withRenderPrograms = <T extends RenderPrograms>(config: T, { env, cwd }: Pick<Shell, 'env' | 'cwd'>): T => ({
  ...config,
  kubectl: which(config.kubectl, env.PATH, cwd),
  helm: whichIfAny(config.helm, env.PATH, cwd),
})

function whichIfAny(program: string, path: string | undefined, cwd: string): string {
  try {
    return which(program, path, cwd)
  } catch {
    // It may be that nobody ever asks for it.
    return program
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
