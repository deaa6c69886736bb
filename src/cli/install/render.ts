import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { BERTH_NAMESPACE } from '../../api/index.ts'
import { findKubectl } from '../local/cluster.ts'
import { runProgram } from '../local/program.ts'
import type { Shell } from '../shell.ts'
import { type ImageValues, overlayOf } from './overlay.ts'
import { shippedFiles } from './shipped.ts'

type Surroundings = Pick<Shell, 'env' | 'cwd' | 'home' | 'signal'>

/**
 * All of an installation as YAML, but for what needs its kinds first (`renderDefaults`), and for the list of it.
 * Done by `kubectl kustomize`, or kustomize.
 */
export async function renderInstallation(shell: Surroundings, values: ImageValues): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-install-'))
  try {
    await copyBases(shell.home, folder, values.namespace ?? BERTH_NAMESPACE)
    const { kustomization, settings } = overlayOf(values)
    await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization))
    await writeFile(join(folder, 'settings.json'), JSON.stringify(settings))
    return await buildWith(shell, folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** What an installation starts with: a class of targets, a tier, a class of workspaces. */
export const renderDefaults = (shell: Surroundings): Promise<string> => buildWith(shell, join(shell.home, 'deploy', 'defaults'))

async function buildWith(shell: Surroundings, folder: string): Promise<string> {
  const program = shell.env.BERTH_KUBECTL ?? (await findKubectl(shell))
  return runProgram(program, [isKustomize(program) ? 'build' : 'kustomize', folder], shell)
}

export const isKustomize = (program: string): boolean => basename(program) === 'kustomize'

async function copyBases(home: string, into: string, namespace: string): Promise<void> {
  for (const { file, text } of shippedFiles(home, namespace)) {
    const copy = join(into, file)
    await mkdir(dirname(copy), { recursive: true })
    await writeFile(copy, text)
  }
}
