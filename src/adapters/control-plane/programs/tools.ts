import { accessSync, constants, statSync } from 'node:fs'
import { arch } from 'node:os'
import { join } from 'node:path'
import type { Recipe } from './recipe.ts'

/** The programs that a control plane is made of, in the order in which they matter. */
export const TOOLS = ['etcd', 'kube-apiserver', 'kubectl', 'kube-controller-manager', 'kube-scheduler', 'kwok'] as const
export type Tool = (typeof TOOLS)[number]

/** A set of programs of one origin. */
export interface ControlPlaneTools {
  /** The path of each program; a missing one is not in the map. */
  paths: Partial<Record<Tool, string>>
  missing: Tool[]
}

/** Tells the person who waits. This room says what happens; the command line decides how that looks. */
export interface ProgressReport {
  /** A finished sentence. */
  line(text: string): void
  /** Tells how far a long work is. The total is counted, not guessed; it may be reached early when caches help. */
  progress(step: { what: string; done: number; total: number }): void
}

export const silentReport: ProgressReport = { line: () => undefined, progress: () => undefined }

/** The programs that are to be made, and how. */
export interface ToolBuild {
  recipe: Recipe
  /** The folder in which the programs are to be at the end. */
  into: string
  wanted: readonly Tool[]
  /** The caller's environment: PATH, HOME, proxies, GOPROXY, … */
  env: Record<string, string | undefined>
  report: ProgressReport
  signal?: AbortSignal | undefined
}

const ARCHITECTURES: Record<string, string> = { x64: 'amd64', ppc64: 'ppc64le' }

/** This machine's, by the name that Go, Debian and image registries have for it. */
export const ARCHITECTURE = ARCHITECTURES[arch()] ?? arch()

/** The price of a control plane without a program. The first three are not in the list: nothing goes without them. */
const COSTS: Partial<Record<Tool, string>> = {
  'kube-controller-manager': 'namespaces do not finish deleting, nothing is garbage-collected, Deployments make no pods',
  'kube-scheduler': 'pods get no node',
  kwok: 'nodes and pods do not become ready',
}

/** Go names a binary after the last part of its import path; for etcd that is `server`. */
const FILE_NAMES: Partial<Record<Tool, string[]>> = { etcd: ['etcd', 'server'] }

export function toolsIn(folder: string, wanted: readonly Tool[] = TOOLS): ControlPlaneTools {
  const paths: Partial<Record<Tool, string>> = {}
  for (const tool of wanted) {
    const found = (FILE_NAMES[tool] ?? [tool]).map((name) => join(folder, name)).find(isProgram)
    if (found) paths[tool] = found
  }
  return { paths, missing: wanted.filter((tool) => !paths[tool]) }
}

/** Enough for an API server, if not for everything. */
export const isUsable = ({ missing }: ControlPlaneTools): boolean => missing.every((tool) => COSTS[tool] !== undefined)

export const costOf = ({ missing }: ControlPlaneTools): string =>
  missing.map((tool) => `without ${tool} ${COSTS[tool] ?? 'there is no control plane'}`).join('; ')

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
