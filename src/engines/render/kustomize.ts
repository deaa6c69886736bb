import { basename } from 'node:path'
import type { Renderer, RunConfined } from './confined.ts'
import type { SourceFile } from './source.ts'

/** Builds these files with kustomize. */
type Kustomize = (files: readonly SourceFile[], path: string, signal?: AbortSignal) => Promise<string>

/** The real kustomize (`kustomize build`, or `kubectl kustomize`). Its own load restriction keeps it below its root. */
export function createKustomize(path: string, run: RunConfined): Kustomize {
  const verb = basename(path) === 'kustomize' ? 'build' : 'kustomize'
  const program: Renderer = {
    path,
    name: 'kustomize',
    rendered: 'kustomization',
    suspect: 'anchors that multiply',
    isWordy: false,
    absent: {
      reason: 'KubectlNotFound',
      remedy: 'Give the operator the full path of kubectl or kustomize (--kubectl)',
    },
  }
  return (files, folder, signal) => run(program, { files, parameters: (at) => [verb, at(folder)], signal })
}
