import type { GitOpsDeploymentSetSpec } from '../../api/index.ts'
import { type ClusterDestination, HERE } from './argo-application.ts'
import type { Environments } from './made.ts'

type Generators = GitOpsDeploymentSetSpec['generators']

/** Environments in the place of clusters. */
interface Placed {
  generators: Generators
  destination: ClusterDestination
  /** The names of environments that somebody has to make. */
  made: string[]
}

const VARIABLE = /^\$\{(\w+)\}$/
/** The variable that stands for the cluster, and that a list gets beside the address. */
const environmentFor = (name: string): string => `${name}_environment`

/**
 * Lists of Argo CD have the address of a cluster in each element, and ours the name of an Environment. Nothing where the cluster is
 * made of something else.
 */
export function withEnvironments(
  generators: Generators,
  destination: ClusterDestination,
  environments: Environments,
): Placed | undefined {
  const { cluster, isHere } = destination
  const [, name] = VARIABLE.exec(cluster) ?? []
  if (isHere || name === 'environment' || !cluster.includes('${')) return { generators, destination, made: [] }
  if (name === undefined) return undefined
  const made = new Set<string>()
  let isFound = false
  const placed = <T extends Generators[number]>(generator: T): T => {
    if (!generator.list) return generator
    const elements = generator.list.elements.map((element) => {
      const address = element[name]
      if (address === undefined) return element
      isFound = true
      const environment = HERE.includes(address) ? 'in-cluster' : environments.named(address)
      made.add(environment)
      return { ...element, [environmentFor(name)]: environment }
    })
    return { ...generator, list: { elements } }
  }
  const all = generators.map((each) => (each.product ? { ...each, product: each.product.map(placed) } : placed(each)))
  if (!isFound) return undefined
  return { generators: all, destination: { ...destination, cluster: `\${${environmentFor(name)}}` }, made: [...made].sort() }
}
