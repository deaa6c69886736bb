import {
  acquireNode,
  findNode,
  loadImages,
  type NodePrograms,
  nodesIn,
  type ProgressReport,
  whyNoNode,
} from '../../adapters/control-plane/index.ts'
import { Failure } from '../../std/index.ts'
import type { Shell } from '../shell.ts'

/** A real node where the machine can have one, or only where its programs are in the cache. */
export type NodeWish = 'if-possible' | 'if-cached'

interface NodeSearch {
  shell: Pick<Shell, 'env' | 'signal'>
  /** The folder of the installation. */
  dir: string
  report: ProgressReport
  node?: NodeWish | undefined
}

/** The programs of a real node; where one is wished for and cannot be had, a line says why. A folder keeps the kind of nodes that it has. */
export async function nodeFor({
  shell: { env, signal },
  dir,
  report,
  node: wish,
}: NodeSearch): Promise<NodePrograms | undefined> {
  const before = nodesIn(dir)
  if (before === 'simulated' && wish === 'if-possible')
    throw new Failure('invalid', `--node: the nodes in ${dir} are simulated`, {
      remedy: `Name another folder, or empty it with \`berth down --dir ${dir} --remove\`.`,
    })
  if (before === 'simulated' || !(wish || before)) return undefined
  const why = await whyNoNode()
  if (why && before === 'real')
    throw new Failure('unavailable', `${dir} has a real node: ${why}`, { remedy: 'Name another folder, or start it as before.' })
  if (why) report.line(`Pods are simulated: ${why}.`)
  else if (!before && wish === 'if-cached' && !findNode({ env }))
    report.line('Pods are simulated: `--node` makes a real node, whose programs take some minutes the first time.')
  else return acquireNode({ env, report, signal })
  return undefined
}

/** Gives the node of a running installation the images of these files. Simulated ones take none, which is said. */
export async function loadInto(
  { dir, hasNode }: { dir: string; hasNode: boolean },
  files: readonly string[],
  { shell: { env, signal }, report }: Pick<NodeSearch, 'shell' | 'report'>,
): Promise<void> {
  if (files.length > 0 && !hasNode) report.line('Images are not loaded: pods are simulated.')
  if (files.length === 0 || !hasNode) return
  const node = await acquireNode({ env, report, signal })
  for (const file of files) {
    report.line(`Loading ${file} into the node.`)
    await loadImages({ dir, node, file, env: { PATH: env.PATH }, signal }).catch((cause: unknown) => {
      const { code, message } = Failure.from(cause)
      throw new Failure(code === 'cancelled' ? code : 'invalid', `--load: ${message}`, {
        cause,
        remedy: 'It takes an OCI archive, or what `docker save` writes.',
      })
    })
  }
}
