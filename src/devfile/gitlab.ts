import { type Component, type Parts, problem, spotOf } from './parts.ts'
import { LARGEST, tooLarge } from './read.ts'
import { at, dataOf, entriesOf, flagOf, isThere, itemsOf, textOf, type YamlSpot, type YamlTree } from './tree.ts'

const VERSION = '2.2.0'
const EDITOR = 'gl/inject-editor'
const PREFIX = 'gl-'
const VOLUME_NAME_LIMIT = 28
const EXEC_OPTIONS = ['commandLine', 'component', 'label', 'hotReloadCapable', 'workingDir']

/**
 * GitLab's restrictions on top of the schema, with its own messages, so that what people find about them helps here too.
 * Source: ee/lib/remote_development/devfile_operations/restrictions_enforcer.rb, in its order, and doc/user/workspace.
 */
export function checkGitLab(parts: Parts): undefined {
  checkSize(parts)
  checkVersion(parts)
  checkRoot(parts)
  checkComponents(parts)
  for (const component of parts.components) {
    checkContainer(parts, component)
    checkEndpoints(parts, component)
  }
  for (const [i, command] of itemsOf(at(parts.root, 'commands')).entries()) checkCommand(parts, command, `commands[${i}]`)
  checkType(parts, 'commands', 'list', "'Commands' must be an Array")
  checkEvents(parts)
  checkVariables(parts)
}

const say = (parts: Parts, spot: YamlSpot, path: string, message: string): undefined =>
  problem(parts, spot, path, { rule: 'gitlab', message })

const isReserved = (text: string | undefined, prefix = PREFIX): boolean => text?.toLowerCase().startsWith(prefix) ?? false

/** A value that is there and of another kind. */
function checkType({ root, ...parts }: Parts, field: string, kind: YamlTree['kind'], message: string): undefined {
  const tree = at(root, field)
  if (tree && tree.kind !== kind) say({ root, ...parts }, tree, field, message)
}

/** Its size as JSON: comments and indentation do not count. */
function checkSize(parts: Parts): undefined {
  const bytes = Buffer.byteLength(JSON.stringify(dataOf(parts.root)))
  if (bytes <= LARGEST) return
  say(parts, parts.root, '', tooLarge(bytes).message)
}

/** As RubyGems reads a version. */
const VERSION_FORM = /^\s*([0-9]+(\.[0-9a-zA-Z]+)*(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?\s*)?$/

function checkVersion(parts: Parts): undefined {
  const tree = at(parts.root, 'schemaVersion')
  const spot = spotOf(tree, parts.root)
  if (tree && (tree.kind !== 'scalar' || typeof tree.value !== 'string'))
    return say(parts, spot, 'schemaVersion', "'schemaVersion' must be a String")
  const version = textOf(tree) ?? ''
  if (!VERSION_FORM.test(version)) say(parts, spot, 'schemaVersion', `Invalid 'schemaVersion' '${version}'`)
  if (version !== VERSION)
    say(parts, spot, 'schemaVersion', `'schemaVersion' '${version}' is not supported, it must be '${VERSION}'`)
}

const NOT_SUPPORTED = {
  parent: "Inheriting from 'parent' is not yet supported",
  starterProjects: "'starterProjects' is not yet supported",
  projects: "'projects' is not yet supported",
}

function checkRoot(parts: Parts): undefined {
  for (const [field, message] of Object.entries(NOT_SUPPORTED)) {
    const entry = entriesOf(parts.root).get(field)
    if (entry) say(parts, entry.key, field, message)
  }
  checkType(parts, 'attributes', 'map', "'Attributes' must be a Hash")
  const overrides = at(parts.root, 'attributes', 'pod-overrides')
  if (overrides) say(parts, overrides, 'attributes.pod-overrides', "Attribute 'pod-overrides' is not yet supported")
}

/** What counts as true in its language: all but `false` and nothing. */
const isTruthy = (tree: YamlTree | undefined): tree is YamlTree => isThere(tree) && flagOf(tree) !== false

function checkComponents(parts: Parts): undefined {
  const { root, components } = parts
  const list = at(root, 'components')
  const spot = spotOf(list, root)
  if (list && list.kind !== 'list') return say(parts, spot, 'components', "'Components' must be an Array")
  if (components.length === 0) return say(parts, spot, 'components', 'No components present in devfile')
  const odd = components.find(({ tree }) => tree.kind !== 'map')
  if (odd) say(parts, odd.tree, odd.path, "Each element in 'components' must be a Hash")
  for (const component of components) if (component.tree.kind === 'map') checkComponent(parts, component)
  const marked = components.filter(({ tree }) => isTruthy(at(tree, 'attributes', EDITOR)))
  if (marked.length === 0) say(parts, spot, 'components', `No component has '${EDITOR}' attribute`)
  const [, second] = marked
  if (second) {
    const names = `[${marked.map(({ name }) => JSON.stringify(name)).join(', ')}]`
    const mark = at(second.tree, 'attributes', EDITOR)
    say(
      parts,
      spotOf(mark, second.tree),
      `${second.path}.attributes.${EDITOR}`,
      `Multiple components '${names}' have '${EDITOR}' attribute`,
    )
  }
}

function checkComponent(parts: Parts, { tree, path }: Component): undefined {
  const written = at(tree, 'name')
  const name = textOf(written) ?? ''
  if (!written) say(parts, tree, `${path}.name`, "A component must have a 'name'")
  else if (written.kind !== 'scalar' || typeof written.value !== 'string')
    say(parts, written, `${path}.name`, "'Component name' must be a String")
  else {
    if (isReserved(name)) say(parts, written, `${path}.name`, `Component name '${name}' must not start with '${PREFIX}'`)
    if (entriesOf(tree).has('volume') && name.length >= VOLUME_NAME_LIMIT)
      say(parts, written, `${path}.name`, `Volume's name must be less than ${VOLUME_NAME_LIMIT} characters`)
  }
  const attributes = at(tree, 'attributes')
  if (attributes && attributes.kind !== 'map')
    say(parts, attributes, `${path}.attributes`, `'attributes' for component '${name}' must be a Hash`)
  for (const key of ['container-overrides', 'pod-overrides']) {
    const found = at(attributes, key)
    if (isTruthy(found)) say(parts, found, `${path}.attributes.${key}`, `Attribute '${key}' is not yet supported`)
  }
  for (const kind of ['kubernetes', 'openshift', 'image']) {
    const found = at(tree, kind)
    if (isTruthy(found)) say(parts, found, `${path}.${kind}`, `Component type '${kind}' is not yet supported`)
  }
}

function checkContainer(parts: Parts, { tree, name, path }: Component): undefined {
  const container = at(tree, 'container')
  if (!container) return
  if (container.kind !== 'map')
    return say(parts, container, `${path}.container`, `'container' in component '${name}' must be a Hash`)
  for (const field of ['dedicatedPod', 'sourceMapping', 'mountSources']) {
    const found = at(container, field)
    if (isTruthy(found))
      say(parts, found, `${path}.container.${field}`, `Property '${field}' of component '${name}' is not yet supported`)
  }
  const override = at(tree, 'attributes', 'overrideCommand')
  const wanted = override ? flagOf(override) : isTruthy(at(tree, 'attributes', EDITOR))
  const here = `${path}.attributes.overrideCommand`
  if (override && wanted === undefined)
    return say(parts, override, here, `Property 'overrideCommand' of component '${name}' must be a boolean (true or false)`)
  const runs = itemsOf(at(container, 'command')).length + itemsOf(at(container, 'args')).length > 0
  if (wanted && runs)
    say(
      parts,
      spotOf(override, spotTree(container)),
      here,
      `Properties 'command', 'args' for component '${name}' can only be specified when the 'overrideCommand' attribute is set to false`,
    )
}

/** The command is what has to go, or the arguments where there is none. */
const spotTree = (container: YamlTree): YamlTree => at(container, 'command') ?? at(container, 'args') ?? container

function checkEndpoints(parts: Parts, { name, tree, path }: Component): undefined {
  const endpoints = at(tree, 'container', 'endpoints')
  if (endpoints && endpoints.kind !== 'list')
    return say(parts, endpoints, `${path}.container.endpoints`, "'Endpoints' must be an Array")
  for (const [i, endpoint] of itemsOf(endpoints).entries()) {
    const written = at(endpoint, 'name')
    const text = textOf(written)
    if (written && isReserved(text))
      say(
        parts,
        written,
        `${path}.container.endpoints[${i}].name`,
        `Endpoint name '${text}' of component '${name}' must not start with '${PREFIX}'`,
      )
  }
}

function checkCommand(parts: Parts, command: YamlTree, path: string): undefined {
  if (command.kind !== 'map') return say(parts, command, path, "'command' must be a Hash")
  const written = at(command, 'id')
  const id = textOf(written) ?? ''
  if (written && isReserved(id)) say(parts, written, `${path}.id`, `Command id '${id}' must not start with '${PREFIX}'`)
  const kind = ['exec', 'apply'].find((each) => entriesOf(at(command, each)).size > 0)
  const body = kind && at(command, kind)
  if (!kind || !body)
    return say(parts, command, path, `Command '${id}' must have one of the supported command types: exec, apply`)
  const component = at(body, 'component')
  const target = textOf(component)
  if (!component || !target) say(parts, body, `${path}.${kind}`, `'${kind}' command '${id}' must specify a 'component'`)
  else if (isReserved(target))
    say(
      parts,
      component,
      `${path}.${kind}.component`,
      `Component name '${target}' for command id '${id}' must not start with '${PREFIX}'`,
    )
  const label = at(body, 'label')
  if (label && isReserved(textOf(label)))
    say(parts, label, `${path}.${kind}.label`, `Label '${textOf(label)}' for command id '${id}' must not start with '${PREFIX}'`)
  if (kind === 'exec') checkExec(parts, body, id, `${path}.exec`)
}

function checkExec(parts: Parts, exec: YamlTree, id: string, path: string): undefined {
  const others = [...entriesOf(exec).keys()].filter((key) => !EXEC_OPTIONS.includes(key))
  if (others.length > 0) {
    const supported = `Only '${EXEC_OPTIONS.join(', ')}' are supported.`
    const spot = entriesOf(exec).get(others[0] ?? '')?.key ?? exec
    say(parts, spot, path, `Unsupported options '${others.join(', ')}' for exec command '${id}'. ${supported}`)
  }
  const reload = at(exec, 'hotReloadCapable')
  if (reload && flagOf(reload) !== false)
    say(
      parts,
      reload,
      `${path}.hotReloadCapable`,
      `Property 'hotReloadCapable' for exec command '${id}' must be false when specified`,
    )
}

function checkEvents(parts: Parts): undefined {
  checkType(parts, 'events', 'map', "'Events' must be a Hash")
  for (const [type, { key, value }] of entriesOf(at(parts.root, 'events'))) {
    if (type !== 'preStart' && type !== 'postStart' && itemsOf(value).length > 0)
      say(parts, key, `events.${type}`, `Event type '${type}' is not yet supported`)
    for (const [i, item] of itemsOf(value).entries()) {
      const path = `events.${type}[${i}]`
      const name = textOf(item) ?? ''
      if (isReserved(name)) say(parts, item, path, `Event '${name}' of type '${type}' must not start with '${PREFIX}'`)
      if (type === 'postStart') checkPostStart(parts, item, name, path)
    }
  }
}

function checkPostStart(parts: Parts, item: YamlTree, name: string, path: string): undefined {
  const command = parts.commandsById.get(name)
  if (!command) return say(parts, item, path, `PostStart event references command '${name}' which has no command definition.`)
  if (!at(command.tree, 'exec'))
    say(
      parts,
      item,
      path,
      `PostStart event references command '${name}' which is not an exec command. Only exec commands are supported in postStart events`,
    )
}

function checkVariables(parts: Parts): undefined {
  checkType(parts, 'variables', 'map', "'Variables' must be a Hash")
  for (const [name, { key }] of entriesOf(at(parts.root, 'variables')))
    for (const prefix of [PREFIX, 'gl_'])
      if (isReserved(name, prefix))
        say(parts, key, `variables.${name}`, `Variable name '${name}' must not start with '${prefix}'`)
}
