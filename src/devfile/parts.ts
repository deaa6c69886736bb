import { type DevfileFindings, type ProblemText, pathsIn, problem } from './problem.ts'
import { at, flagOf, itemsOf, textOf, type YamlTree } from './tree.ts'

/** A devfile as the rules between its parts look at it. Shapes may be wrong: values that cannot be read are left out. */
export type DevfileParts = ReturnType<typeof partsOf>
export type ComponentPart = ReturnType<typeof componentPartOf>
export type CommandPart = ReturnType<typeof commandPartOf>

/** Without `isWhole` there is a parent that is not looked at: it may define what is missing here. */
export function partsOf(root: YamlTree, findings: DevfileFindings, isWhole: boolean) {
  const components = itemsOf(at(root, 'components')).map(componentPartOf)
  const commands = itemsOf(at(root, 'commands')).map(commandPartOf)
  return {
    root,
    components,
    commands,
    /** By lower-case id: references to commands do not look at case. */
    commandsById: new Map(commands.map((command) => [command.id.toLowerCase(), command])),
    componentsByName: new Map(components.map((component) => [component.name, component])),
    isWhole,
    findings,
    pathOf: pathsIn(root),
  }
}

const COMPONENT_KINDS = ['container', 'volume', 'kubernetes', 'openshift', 'image'] as const

function componentPartOf(tree: YamlTree) {
  const kind = COMPONENT_KINDS.find((each) =>
    each === 'volume' && tree.kind === 'map' ? tree.entries.has(each) : at(tree, each),
  )
  const name = textOf(at(tree, 'name')) ?? ''
  const body = kind && at(tree, kind)
  const endpoints = itemsOf(at(body, 'endpoints')).map((endpoint) => ({
    tree: endpoint,
    name: textOf(at(endpoint, 'name')),
    component: name,
  }))
  return { name, kind, tree, body, endpoints }
}

const COMMAND_KINDS = ['exec', 'apply', 'composite'] as const

function commandPartOf(tree: YamlTree) {
  const kind = COMMAND_KINDS.find((each) => at(tree, each))
  return { id: textOf(at(tree, 'id')) ?? '', kind, tree, body: kind && at(tree, kind) }
}

export const isDedicated = ({ body }: ComponentPart): boolean => flagOf(at(body, 'dedicatedPod')) ?? false

/** Notes each part whose name an earlier one has. */
export function checkUnique<T extends { tree: YamlTree; name: string | undefined }>(
  parts: DevfileParts,
  named: readonly T[],
  finding: (later: T, earlier: T) => ProblemText,
  field = 'name',
): void {
  const earlier = new Map<string, T>()
  for (const each of named) {
    if (!each.name) continue
    const other = earlier.get(each.name)
    if (other) problem(parts, { holder: each.tree, field }, finding(each, other))
    else earlier.set(each.name, each)
  }
}
