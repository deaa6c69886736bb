import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { BERTH_NAMESPACE } from '../../api/index.ts'
import { findKubectl } from '../local/cluster.ts'
import { runProgram } from '../local/program.ts'
import type { Shell } from '../shell.ts'
import { type ImageValues, overlayOf } from './overlay.ts'

type Surroundings = Pick<Shell, 'env' | 'cwd' | 'home' | 'signal'>

/** All of an installation as YAML, but for what needs its kinds first (`renderDefaults`). Done by `kubectl kustomize`, or kustomize. */
export async function renderInstallation(shell: Surroundings, values: ImageValues): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'berth-install-')))
  try {
    const home = await realpath(shell.home)
    const { kustomization, settings } = overlayOf(values, (path) => relative(folder, join(home, path)))
    await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization))
    await writeFile(join(folder, 'settings.json'), JSON.stringify(settings))
    return inNamespace(await build(shell, folder), values.namespace ?? BERTH_NAMESPACE)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** What an installation starts with: a class of targets, a tier, a class of workspaces. */
export const renderDefaults = (shell: Surroundings): Promise<string> => build(shell, join(shell.home, 'deploy', 'defaults'))

async function build(shell: Surroundings, folder: string): Promise<string> {
  const program = shell.env.BERTH_KUBECTL ?? (await findKubectl(shell))
  const verb = basename(program) === 'kustomize' ? 'build' : 'kustomize'
  return runProgram(program, [verb, folder], shell)
}

/**
 * Policies and settings name the namespace within texts, where no transformer of kustomize looks. Kinds stay as they are: they speak of the usual one,
 * and the doctor compares them with those of this version.
 */
const inNamespace = (text: string, namespace: string): string =>
  text
    .split(/^---\n/m)
    .map((object) => (/^kind: CustomResourceDefinition$/m.test(object) ? object : object.replaceAll(BERTH_NAMESPACE, namespace)))
    .join('---\n')
