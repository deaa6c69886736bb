import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What leads to an API server: what reaches it takes longer. */
const CLUSTER = 'test/support/control-plane.ts'
/** What leads to cases of which a plain run takes some. */
const SAMPLE = 'test/support/sample.ts'
/** So many files share a process: few enough that one that crashes holds up few. */
const TOGETHER = 20
const TOGETHER_WITH_CLUSTER = 3
/** They start real nodes and wait for them most of the time: two at once, beside what is lighter. */
const ON_NODES = 'test/e2e/'
/**
 * The longest of them is the first, beside short ones: what both lanes want, such as the images of Berth, is made by then. The rest
 * comes behind these, by name.
 */
const NODES_FIRST = ['as-pods', 'node', 'node-policies', 'traces', 'up', 'documents', 'image', 'upgrade']

/** test/architecture/ reads imports by the compiler, which takes seconds; here too many cost only a process. */
const IMPORT = /^(?:import|export)\s[^;'"]*?from\s*'(\.[^']+)'|^import '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm

/** The files that take a sample of their cases in a plain run, and all of them in an exhaustive one. */
export const sampling = (files: string[]): string[] => files.filter(reaching(SAMPLE))

/**
 * What has a process of its own: it waits for others' limits of time, brings up control planes, or measures the memory of its
 * process. The longest is the first, for the run would end with it alone.
 */
export const ALONE = [
  'test/cli/up.test.ts',
  'test/operator/workspace/after-stop.test.ts',
  'test/kas/agent-configuration.test.ts',
  'test/hostile/paths.test.ts',
  'test/hostile/costly.test.ts',
  'test/kas/several.test.ts',
  'test/cli/tour.test.ts',
  'test/operator/bad-lines.test.ts',
  'test/adapters/control-plane/start.test.ts',
  'test/operator/gitops-deployment/waiting.test.ts',
  'test/operator/deployment-target/provisioned/sandbox.test.ts',
  'test/kas/kubernetes-api/slow-readers.test.ts',
]

/**
 * The test files by process, but for those on nodes: loading a file's modules often costs more than its tests. What is alone waits, what needs no cluster
 * keeps the processors busy, and files of a folder are alike: at any time there is some of each under way.
 */
export function processesOf(files: string[]): string[][] {
  const needsCluster = reaching(CLUSTER)
  const alone = ALONE.filter((file) => files.includes(file))
  const others = files.filter((file) => !ALONE.includes(file) && !file.startsWith(ON_NODES))
  const plain = others.filter((file) => !needsCluster(file))
  const clustered = chunks(others.filter(needsCluster), TOGETHER_WITH_CLUSTER)
  const half = Math.ceil(clustered.length / 2)
  return spread(chunks(alone, 1), chunks(plain, TOGETHER), clustered.slice(0, half), clustered.slice(half).reverse())
}

/** The files that start real nodes, in their order: each has a process of its own. */
export function onNodesOf(files: string[]): string[] {
  const first = NODES_FIRST.map((name) => `${ON_NODES}${name}.test.ts`)
  const mine = files.filter((file) => file.startsWith(ON_NODES))
  return [...first.filter((file) => mine.includes(file)), ...mine.filter((file) => !first.includes(file))]
}

/** One list of several, in which each of them is spread evenly from the beginning to the end. */
const spread = <T>(...lists: T[][]): T[] =>
  lists
    .flatMap((list) => list.map((item, n) => ({ item, at: n / list.length })))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)

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
