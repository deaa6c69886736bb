import { checkEnv } from './component-rules.ts'
import { type Command, checkUnique, type Parts, problem, spotOf, warning } from './parts.ts'
import { at, flagOf, itemsOf, textOf, type YamlTree } from './tree.ts'

/** What commands and events refer to must be there, and be of the right kind. */
export function checkCommands(parts: Parts): void {
  checkUnique(
    parts,
    parts.commands.map(({ id, tree, path }) => ({
      name: id.toLowerCase(),
      spot: spotOf(at(tree, 'id'), tree),
      path: `${path}.id`,
    })),
    (id) => ({ rule: 'unique-command', message: `two commands have the id "${id}"`, remedy: 'rename one of them' }),
  )
  for (const command of parts.commands) {
    if (command.kind === 'exec') checkExec(parts, command)
    if (command.kind === 'apply') checkApply(parts, command)
    if (command.kind === 'composite') checkMembers(parts, command)
  }
  checkCycles(parts)
  checkGroups(parts)
  checkEvents(parts)
}

function checkExec(parts: Parts, { id, body, path }: Command): void {
  const target = at(body, 'component')
  const name = textOf(target)
  checkEnv(parts, at(body, 'env'), `${path}.exec.env`)
  if (!target || name === undefined) return
  const component = parts.componentsByName.get(name)
  if (component?.kind === 'container' || (!component && !parts.isWhole)) return
  problem(parts, target, `${path}.exec.component`, {
    rule: 'exec-component',
    message: component
      ? `command "${id}" runs in "${name}", which is a component of kind ${component.kind ?? 'none'}`
      : `command "${id}" runs in "${name}", but no component is called so`,
    remedy: 'name a container component',
  })
}

const APPLICABLE = ['container', 'kubernetes', 'openshift', 'image']

function checkApply(parts: Parts, { id, body, path }: Command): void {
  const target = at(body, 'component')
  const name = textOf(target)
  if (!target || name === undefined) return
  const component = parts.componentsByName.get(name)
  if ((component?.kind && APPLICABLE.includes(component.kind)) || (!component && !parts.isWhole)) return
  problem(parts, target, `${path}.apply.component`, {
    rule: 'apply-component',
    message: component
      ? `command "${id}" applies "${name}", which is a component of kind ${component.kind ?? 'none'}`
      : `command "${id}" applies "${name}", but no component is called so`,
    remedy: `name a component of kind ${APPLICABLE.join(', ')}`,
  })
}

function checkMembers(parts: Parts, { id, body, path }: Command): void {
  itemsOf(at(body, 'commands')).forEach((member, i) => {
    const name = textOf(member)
    if (name === undefined || parts.commandsById.has(name.toLowerCase()) || !parts.isWhole) return
    problem(parts, member, `${path}.composite.commands[${i}]`, {
      rule: 'composite-member',
      message: `command "${id}" consists of "${name}", but no command has that id`,
      remedy: 'add the command, or leave it out',
    })
  })
}

const membersOf = ({ body, kind }: Command): readonly YamlTree[] => (kind === 'composite' ? itemsOf(at(body, 'commands')) : [])

/** Each command is walked once, whatever the number of ways to it: what was walked without coming back is clean. */
function checkCycles(parts: Parts): void {
  const clean = new Set<Command>()
  const walk = (command: Command, way: readonly Command[]): void => {
    if (clean.has(command)) return
    const before = [...way, command]
    for (const [i, member] of membersOf(command).entries()) {
      const next = stepOf(parts, member)
      if (!next) continue
      if (before.includes(next)) tellRing(parts, { command, member, i }, [...before.slice(before.indexOf(next)), next])
      else walk(next, before)
    }
    clean.add(command)
  }
  for (const command of parts.commands) walk(command, [])
}

function tellRing(
  parts: Parts,
  { command, member, i }: { command: Command; member: YamlTree; i: number },
  ring: Command[],
): void {
  const ids = ring.map(({ id }) => id)
  problem(parts, member, `${command.path}.composite.commands[${i}]`, {
    rule: 'composite-cycle',
    message:
      ids.length === 2 ? `command "${ids[0]}" refers to itself` : `commands refer to one another in a ring: ${ids.join(' → ')}`,
    remedy: 'leave one of them out',
  })
}

function checkGroups(parts: Parts): void {
  const groups = new Map<string, Command[]>()
  for (const command of parts.commands) {
    const kind = textOf(at(command.body, 'group', 'kind'))
    if (kind !== undefined) groups.set(kind, [...(groups.get(kind) ?? []), command])
  }
  for (const [kind, members] of groups) {
    const defaults = members.filter(({ body }) => flagOf(at(body, 'group', 'isDefault')))
    for (const each of defaults.slice(1))
      problem(parts, spotOf(at(each.body, 'group', 'isDefault'), each.tree), `${each.path}.${each.kind}.group.isDefault`, {
        rule: 'group-default',
        message: `"${defaults[0]?.id}" is the default of group ${kind} already`,
        remedy: 'let one command be the default',
      })
    const [, second] = members
    if (second && defaults.length === 0)
      warning(parts, spotOf(at(second.body, 'group'), second.tree), `${second.path}.${second.kind}.group`, {
        rule: 'group-without-default',
        message: `there are ${members.length} commands of group ${kind} and none is its default`,
        remedy: 'set isDefault: true at one of them',
      })
  }
}

const EVENTS = { preStart: 'apply', postStart: 'exec', preStop: 'exec', postStop: 'apply' } as const

function checkEvents(parts: Parts): void {
  for (const [event, kind] of Object.entries(EVENTS)) {
    itemsOf(at(parts.root, 'events', event)).forEach((item, i) => {
      const id = textOf(item)
      if (id !== undefined) checkEvent(parts, { item, id, event, kind, path: `events.${event}[${i}]` })
    })
  }
}

interface Bound {
  item: YamlTree
  id: string
  event: string
  kind: 'apply' | 'exec'
  path: string
}

/** A composite is looked into one level deep: what begins and ends a workspace is a plain list of steps. */
function checkEvent(parts: Parts, { item, id, event, kind, path }: Bound): void {
  const command = parts.commandsById.get(id.toLowerCase())
  if (!command) {
    if (parts.isWhole)
      problem(parts, item, path, {
        rule: 'event-command',
        message: `no command has the id "${id}"`,
        remedy: 'add the command, or leave it out',
      })
    return
  }
  const steps = command.kind === 'composite' ? membersOf(command).map((member) => stepOf(parts, member)) : [command]
  const wrong = steps.find((step) => step && step.kind !== kind)
  if (!wrong) return
  const what = wrong === command ? `"${id}"` : `"${wrong.id}" in "${id}"`
  problem(parts, item, path, {
    rule: 'event-kind',
    message: `${what} is a command of kind ${wrong.kind ?? 'none'}; ${event} takes ${kind} commands and composites of them`,
    remedy: `bind an ${kind} command`,
  })
}

const stepOf = ({ commandsById }: Parts, member: YamlTree): Command | undefined =>
  commandsById.get(textOf(member)?.toLowerCase() ?? '')
