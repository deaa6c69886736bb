import type { ComponentPart, DevfileParts } from './parts.ts'
import { type ProblemPlace, problem } from './problem.ts'
import { LARGEST, tooLarge } from './read.ts'
import { at, dataOf, entriesOf, flagOf, isThere, itemsOf, textOf, type YamlTree } from './tree.ts'

const VERSION = '2.2.0'
const EDITOR = 'gl/inject-editor'
const PREFIX = 'gl-'
const VOLUME_NAME_LIMIT = 28
const EXEC_OPTIONS = ['commandLine', 'component', 'label', 'hotReloadCapable', 'workingDir']

/**
 * GitLab's restrictions on top of the schema, with its own messages, so that what people find about them helps here too.
 * Source: ee/lib/remote_development/devfile_operations/restrictions_enforcer.rb, in its order, and doc/user/workspace.
 */
export function checkGitLab(parts: DevfileParts): undefined {
  checkSize(parts)
  checkVersion(parts)
  checkRoot(parts)
  checkComponents(parts)
  for (const component of parts.components) {
    checkContainer(parts, component)
    checkEndpoints(parts, component)
  }
  for (const command of itemsOf(at(parts.root, 'commands'))) checkCommand(parts, command)
  checkType(parts, 'commands', 'list', "'Commands' must be an Array")
  checkEvents(parts)
  checkVariables(parts)
}

const say = (parts: DevfileParts, place: ProblemPlace, message: string): undefined =>
  problem(parts, place, { rule: 'gitlab', message })

/** Names that begin so are GitLab's own. `what` names it in the message, with its value. */
function refusePrefix(parts: DevfileParts, tree: YamlTree | undefined, what: string): undefined {
  if (tree && isReserved(textOf(tree))) say(parts, tree, `${what} must not start with '${PREFIX}'`)
}

const isReserved = (text: string | undefined, prefix = PREFIX): boolean => text?.toLowerCase().startsWith(prefix) ?? false

/** A field that is there and of another kind. */
function checkType(parts: DevfileParts, field: string, kind: YamlTree['kind'], message: string): undefined {
  const tree = at(parts.root, field)
  if (tree && tree.kind !== kind) say(parts, tree, message)
}

function refuseFields(
  parts: DevfileParts,
  holder: YamlTree | undefined,
  fields: readonly string[],
  message: (field: string) => string,
): void {
  for (const field of fields) {
    const found = at(holder, field)
    if (isTruthy(found)) say(parts, found, message(field))
  }
}

/** Ruby counts everything as true but `false` and nothing. */
const isTruthy = (tree: YamlTree | undefined): tree is YamlTree => isThere(tree) && flagOf(tree) !== false

/** The size of the devfile as JSON: comments and indentation do not count. */
function checkSize(parts: DevfileParts): undefined {
  const bytes = Buffer.byteLength(JSON.stringify(dataOf(parts.root)))
  if (bytes > LARGEST) say(parts, parts.root, tooLarge(bytes).message)
}

/** As RubyGems reads a version. */
const VERSION_FORM = /^\s*([0-9]+(\.[0-9a-zA-Z]+)*(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?\s*)?$/

const isText = (tree: YamlTree): boolean => tree.kind === 'scalar' && typeof tree.value === 'string'

function checkVersion(parts: DevfileParts): undefined {
  const tree = at(parts.root, 'schemaVersion')
  const place = { holder: parts.root, field: 'schemaVersion' }
  if (tree && !isText(tree)) return say(parts, place, "'schemaVersion' must be a String")
  const version = textOf(tree) ?? ''
  if (!VERSION_FORM.test(version)) say(parts, place, `Invalid 'schemaVersion' '${version}'`)
  if (version !== VERSION) say(parts, place, `'schemaVersion' '${version}' is not supported, it must be '${VERSION}'`)
}

const NOT_SUPPORTED = {
  parent: "Inheriting from 'parent' is not yet supported",
  starterProjects: "'starterProjects' is not yet supported",
  projects: "'projects' is not yet supported",
}

function checkRoot(parts: DevfileParts): undefined {
  for (const [field, message] of Object.entries(NOT_SUPPORTED)) {
    const entry = entriesOf(parts.root).get(field)
    if (entry) say(parts, { holder: parts.root, field, spot: entry.key }, message)
  }
  checkType(parts, 'attributes', 'map', "'Attributes' must be a Hash")
  const overrides = at(parts.root, 'attributes', 'pod-overrides')
  if (overrides) say(parts, overrides, "Attribute 'pod-overrides' is not yet supported")
}

function checkComponents(parts: DevfileParts): undefined {
  const { root, components } = parts
  const list = at(root, 'components')
  const place = { holder: root, field: 'components' }
  if (list && list.kind !== 'list') return say(parts, place, "'Components' must be an Array")
  if (components.length === 0) return say(parts, place, 'No components present in devfile')
  const odd = components.find(({ tree }) => tree.kind !== 'map')
  if (odd) say(parts, odd.tree, "Each element in 'components' must be a Hash")
  for (const component of components) if (component.tree.kind === 'map') checkComponent(parts, component)
  const marked = components.filter(({ tree }) => isTruthy(at(tree, 'attributes', EDITOR)))
  if (marked.length === 0) say(parts, place, `No component has '${EDITOR}' attribute`)
  const [, second] = marked
  if (!second) return
  const names = `[${marked.map(({ name }) => JSON.stringify(name)).join(', ')}]`
  const mark = at(second.tree, 'attributes', EDITOR) ?? second.tree
  say(parts, mark, `Multiple components '${names}' have '${EDITOR}' attribute`)
}

function checkComponent(parts: DevfileParts, { tree, name }: ComponentPart): undefined {
  const written = at(tree, 'name')
  if (!written) say(parts, { holder: tree, field: 'name' }, "A component must have a 'name'")
  else if (isText(written)) {
    refusePrefix(parts, written, `Component name '${name}'`)
    if (entriesOf(tree).has('volume') && name.length >= VOLUME_NAME_LIMIT)
      say(parts, written, `Volume's name must be less than ${VOLUME_NAME_LIMIT} characters`)
  } else say(parts, written, "'Component name' must be a String")
  const attributes = at(tree, 'attributes')
  if (attributes && attributes.kind !== 'map') say(parts, attributes, `'attributes' for component '${name}' must be a Hash`)
  const overrides = ['container-overrides', 'pod-overrides']
  refuseFields(parts, attributes, overrides, (key) => `Attribute '${key}' is not yet supported`)
  refuseFields(parts, tree, ['kubernetes', 'openshift', 'image'], (kind) => `Component type '${kind}' is not yet supported`)
}

function checkContainer(parts: DevfileParts, { tree, name }: ComponentPart): undefined {
  const container = at(tree, 'container')
  if (!container) return
  if (container.kind !== 'map') return say(parts, container, `'container' in component '${name}' must be a Hash`)
  const fields = ['dedicatedPod', 'sourceMapping', 'mountSources']
  refuseFields(parts, container, fields, (field) => `Property '${field}' of component '${name}' is not yet supported`)
  const override = at(tree, 'attributes', 'overrideCommand')
  const wanted = override ? flagOf(override) : isTruthy(at(tree, 'attributes', EDITOR))
  if (override && wanted === undefined)
    return say(parts, override, `Property 'overrideCommand' of component '${name}' must be a boolean (true or false)`)
  const runs = itemsOf(at(container, 'command')).length + itemsOf(at(container, 'args')).length > 0
  if (!(wanted && runs)) return
  // The command is what has to go, or the arguments where there is none.
  const spot = override ?? at(container, 'command') ?? at(container, 'args')
  say(
    parts,
    { holder: tree, field: 'attributes.overrideCommand', spot },
    `Properties 'command', 'args' for component '${name}' can only be specified when the 'overrideCommand' attribute is set to false`,
  )
}

function checkEndpoints(parts: DevfileParts, { name, tree }: ComponentPart): undefined {
  const endpoints = at(tree, 'container', 'endpoints')
  if (endpoints && endpoints.kind !== 'list') return say(parts, endpoints, "'Endpoints' must be an Array")
  for (const endpoint of itemsOf(endpoints)) {
    const written = at(endpoint, 'name')
    refusePrefix(parts, written, `Endpoint name '${textOf(written)}' of component '${name}'`)
  }
}

function checkCommand(parts: DevfileParts, command: YamlTree): undefined {
  if (command.kind !== 'map') return say(parts, command, "'command' must be a Hash")
  const id = textOf(at(command, 'id')) ?? ''
  refusePrefix(parts, at(command, 'id'), `Command id '${id}'`)
  const kind = ['exec', 'apply'].find((each) => entriesOf(at(command, each)).size > 0)
  const body = kind && at(command, kind)
  if (!body) return say(parts, command, `Command '${id}' must have one of the supported command types: exec, apply`)
  const [component, label] = [at(body, 'component'), at(body, 'label')]
  if (!textOf(component)) say(parts, body, `'${kind}' command '${id}' must specify a 'component'`)
  refusePrefix(parts, component, `Component name '${textOf(component)}' for command id '${id}'`)
  refusePrefix(parts, label, `Label '${textOf(label)}' for command id '${id}'`)
  if (kind === 'exec') checkExec(parts, command, body, id)
}

function checkExec(parts: DevfileParts, command: YamlTree, exec: YamlTree, id: string): undefined {
  const others = [...entriesOf(exec)].filter(([key]) => !EXEC_OPTIONS.includes(key))
  const [first] = others
  if (first) {
    const supported = `Only '${EXEC_OPTIONS.join(', ')}' are supported.`
    const names = others.map(([key]) => key).join(', ')
    const place = { holder: command, field: 'exec', spot: first[1].key }
    say(parts, place, `Unsupported options '${names}' for exec command '${id}'. ${supported}`)
  }
  const message = `Property 'hotReloadCapable' for exec command '${id}' must be false when specified`
  refuseFields(parts, exec, ['hotReloadCapable'], () => message)
}

function checkEvents(parts: DevfileParts): undefined {
  checkType(parts, 'events', 'map', "'Events' must be a Hash")
  const events = at(parts.root, 'events')
  if (!events) return
  for (const [type, { key, value }] of entriesOf(events)) {
    if (type !== 'preStart' && type !== 'postStart' && itemsOf(value).length > 0)
      say(parts, { holder: events, field: type, spot: key }, `Event type '${type}' is not yet supported`)
    for (const item of itemsOf(value)) {
      const name = textOf(item) ?? ''
      refusePrefix(parts, item, `Event '${name}' of type '${type}'`)
      if (type === 'postStart') checkPostStart(parts, item, name)
    }
  }
}

function checkPostStart(parts: DevfileParts, item: YamlTree, name: string): undefined {
  const command = parts.commandsById.get(name)
  if (!command) return say(parts, item, `PostStart event references command '${name}' which has no command definition.`)
  if (!at(command.tree, 'exec'))
    say(
      parts,
      item,
      `PostStart event references command '${name}' which is not an exec command. Only exec commands are supported in postStart events`,
    )
}

function checkVariables(parts: DevfileParts): undefined {
  checkType(parts, 'variables', 'map', "'Variables' must be a Hash")
  const variables = at(parts.root, 'variables')
  if (!variables) return
  for (const [name, { key }] of entriesOf(variables))
    for (const prefix of [PREFIX, 'gl_'])
      if (isReserved(name, prefix))
        say(parts, { holder: variables, field: name, spot: key }, `Variable name '${name}' must not start with '${prefix}'`)
}
