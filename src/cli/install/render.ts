import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { BERTH_NAMESPACE } from '../../api/index.ts'
import { findKubectl } from '../local/cluster.ts'
import { runProgram } from '../local/program.ts'
import type { Shell } from '../shell.ts'
import { type ImageValues, overlayOf } from './overlay.ts'

type Surroundings = Pick<Shell, 'env' | 'cwd' | 'home' | 'signal'>

/** All of an installation as YAML, but for what needs its kinds first (`renderDefaults`). Done by `kubectl kustomize`, or kustomize. */
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

/**
 * The folders of Berth with another namespace in them: policies and settings name it within texts, where no transformer of kustomize looks.
 * Kinds stay as they are: the doctor compares them with those of this version.
 */
async function copyBases(home: string, into: string, namespace: string): Promise<void> {
  await cp(join(home, 'crds'), join(into, 'crds'), { recursive: true })
  for (const file of await readdir(join(home, 'deploy'), { recursive: true })) {
    if (!file.endsWith('.yaml')) continue
    const text = await readFile(join(home, 'deploy', file), 'utf8')
    const copy = join(into, 'deploy', file)
    await mkdir(dirname(copy), { recursive: true })
    await writeFile(copy, text.replaceAll(BERTH_NAMESPACE, namespace))
  }
}
