import { type Finding, type Findings, problemAt } from './problem.ts'
import { at, flagOf, isThere, itemsOf, textOf, type YamlSpot, type YamlTree } from './tree.ts'

/** A devfile as the rules between its parts look at it. Shapes may be wrong: what cannot be read is left out. */
export interface Parts {
  root: YamlTree
  components: Component[]
  commands: Command[]
  /** By lower-case id: references to commands do not look at case. */
  commandsById: ReadonlyMap<string, Command>
  componentsByName: ReadonlyMap<string, Component>
  /** A parent that is not looked at may define what is missing here. */
  isWhole: boolean
  findings: Findings
}

export const KINDS = ['container', 'volume', 'kubernetes', 'openshift', 'image'] as const
export type ComponentKind = (typeof KINDS)[number]

export interface Component {
  name: string
  kind: ComponentKind | undefined
  tree: YamlTree
  body: YamlTree | undefined
  path: string
  endpoints: { tree: YamlTree; name: string | undefined; path: string }[]
}

export const COMMAND_KINDS = ['exec', 'apply', 'composite'] as const
export type CommandKind = (typeof COMMAND_KINDS)[number]

export interface Command {
  id: string
  kind: CommandKind | undefined
  tree: YamlTree
  body: YamlTree | undefined
  path: string
}

export function partsOf(root: YamlTree, findings: Findings, isWhole: boolean): Parts {
  const components = itemsOf(at(root, 'components')).map(componentOf)
  const commands = itemsOf(at(root, 'commands')).map(commandOf)
  return {
    root,
    components,
    commands,
    commandsById: new Map(commands.map((command) => [command.id.toLowerCase(), command])),
    componentsByName: new Map(components.map((component) => [component.name, component])),
    isWhole,
    findings,
  }
}

function componentOf(tree: YamlTree, i: number): Component {
  const path = `components[${i}]`
  const kind = KINDS.find((each) => (each === 'volume' && tree.kind === 'map' ? tree.entries.has(each) : at(tree, each)))
  const body = kind && at(tree, kind)
  const endpoints = itemsOf(at(body, 'endpoints')).map((endpoint, n) => ({
    tree: endpoint,
    name: textOf(at(endpoint, 'name')),
    path: `${path}.${kind}.endpoints[${n}]`,
  }))
  return { name: textOf(at(tree, 'name')) ?? '', kind, tree, body, path, endpoints }
}

function commandOf(tree: YamlTree, i: number): Command {
  const kind = COMMAND_KINDS.find((each) => at(tree, each))
  return { id: textOf(at(tree, 'id')) ?? '', kind, tree, body: kind && at(tree, kind), path: `commands[${i}]` }
}

export const isDedicated = ({ body }: Component): boolean => flagOf(at(body, 'dedicatedPod')) ?? false

export const problem = ({ findings }: Parts, spot: YamlSpot, path: string, finding: Finding): undefined =>
  void findings.problems.push(problemAt(spot, path, finding))

export const warning = ({ findings }: Parts, spot: YamlSpot, path: string, finding: Finding): void =>
  void findings.warnings.push(problemAt(spot, path, finding))

/** Notes each part whose name another one has already. */
export function checkUnique(
  parts: Parts,
  named: readonly { name: string | undefined; spot: YamlSpot; path: string }[],
  finding: (name: string) => Finding,
): void {
  const seen = new Set<string>()
  for (const { name, spot, path } of named) {
    if (!name) continue
    if (seen.has(name)) problem(parts, spot, path, finding(name))
    seen.add(name)
  }
}

/** The value where it is, else what should have it. */
export const spotOf = (value: YamlTree | undefined, holder: YamlTree): YamlSpot => (isThere(value) ? value : holder)
