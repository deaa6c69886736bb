import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What leads to an API server; a test that reaches it gets a process of its own. */
const CLUSTER = 'test/support/control-plane.ts'
/** What leads to cases of which a plain run takes some. */
const SAMPLE = 'test/support/sample.ts'
/** So many files share a process: few enough that one that crashes holds up few. */
const TOGETHER = 20

/** test/architecture/ reads imports by the compiler, which takes seconds; here too many cost only a process. */
const IMPORT = /^(?:import|export)\s[^;'"]*?from\s*'(\.[^']+)'|^import '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm

/** The files that take a sample of their cases in a plain run, and all of them in an exhaustive one. */
export const sampling = (files: string[]): string[] => files.filter(reaching(SAMPLE))

/** The test files by process: loading a file's modules often costs more than its tests. */
export function processesOf(files: string[]): string[][] {
  const needsCluster = reaching(CLUSTER)
  const together = files.filter((file) => !needsCluster(file))
  return [...chunks(together, TOGETHER), ...files.filter(needsCluster).map((file) => [file])]
}

function chunks<T>(list: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, n) => list.slice(n * size, (n + 1) * size))
}

/** Whether a file imports another, by whatever way. Paths are seen from the working directory. */
function reaching(target: string): (file: string) => boolean {
  const known = new Map([[target, true]])
  const reaches = (file: string): boolean => {
    const answer = known.get(file)
    if (answer !== undefined) return answer
    known.set(file, false)
    const found = importsOf(file).some(reaches)
    known.set(file, found)
    return found
  }
  return reaches
}

function importsOf(file: string): string[] {
  if (!file.endsWith('.ts')) return []
  return [...readFileSync(file, 'utf8').matchAll(IMPORT)]
    .map(([, from, bare, lazy]) => from ?? bare ?? lazy ?? '')
    .map((path) => join(dirname(file), path))
}
