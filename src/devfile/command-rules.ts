import { checkEnv } from './component-rules.ts'
import { type CommandPart, checkUnique, type DevfileParts } from './parts.ts'
import { problem, warning } from './problem.ts'
import { at, flagOf, itemsOf, textOf, type YamlTree } from './tree.ts'

/** Components and commands that commands and events refer to must be there, and be of the right kind. */
export function checkCommands(parts: DevfileParts): void {
  checkUnique(
    parts,
    parts.commands.map(({ id, tree }) => ({ name: id.toLowerCase(), tree })),
    ({ name }) => ({ rule: 'unique-command', message: `two commands have the id "${name}"`, remedy: 'rename one of them' }),
    'id',
  )
  for (const command of parts.commands) {
    checkEnv(parts, at(command.tree, 'exec', 'env'))
    if (command.kind === 'exec') checkComponentOf(parts, command, 'runs in', ['container'])
    if (command.kind === 'apply') checkComponentOf(parts, command, 'applies', ['container', 'kubernetes', 'openshift', 'image'])
    if (command.kind === 'composite') checkMembers(parts, command)
  }
  checkCycles(parts)
  checkGroups(parts)
  checkEvents(parts)
}

function checkComponentOf(parts: DevfileParts, { id, kind, body }: CommandPart, does: string, kinds: readonly string[]): void {
  const target = at(body, 'component')
  const name = textOf(target)
  if (!target || name === undefined) return
  const component = parts.componentsByName.get(name)
  if ((component?.kind && kinds.includes(component.kind)) || (!component && !parts.isWhole)) return
  const why = component ? `which is a component of kind ${component.kind ?? 'none'}` : 'but no component is called so'
  problem(parts, target, {
    rule: `${kind}-component`,
    message: `command "${id}" ${does} "${name}", ${why}`,
    remedy: kinds.length === 1 ? `name a ${kinds[0]} component` : `name a component of kind ${kinds.join(', ')}`,
  })
}

function checkMembers(parts: DevfileParts, command: CommandPart): void {
  for (const member of membersOf(command)) {
    const name = textOf(member)
    if (name === undefined || parts.commandsById.has(name.toLowerCase()) || !parts.isWhole) continue
    problem(parts, member, {
      rule: 'composite-member',
      message: `command "${command.id}" consists of "${name}", but no command has that id`,
      remedy: 'add the command, or leave it out',
    })
  }
}

const membersOf = ({ body, kind }: CommandPart): readonly YamlTree[] =>
  kind === 'composite' ? itemsOf(at(body, 'commands')) : []

/** Each command is walked once, whatever the number of ways to it: what was walked without coming back is clean. */
function checkCycles(parts: DevfileParts): void {
  const clean = new Set<CommandPart>()
  const walk = (command: CommandPart, way: readonly CommandPart[]): void => {
    if (clean.has(command)) return
    const before = [...way, command]
    for (const member of membersOf(command)) {
      const next = memberCommand(parts, member)
      if (!next) continue
      if (before.includes(next)) reportCycle(parts, member, [...before.slice(before.indexOf(next)), next])
      else walk(next, before)
    }
    clean.add(command)
  }
  for (const command of parts.commands) walk(command, [])
}

function reportCycle(parts: DevfileParts, member: YamlTree, cycle: readonly CommandPart[]): void {
  const ids = cycle.map(({ id }) => id)
  problem(parts, member, {
    rule: 'composite-cycle',
    message:
      ids.length === 2 ? `command "${ids[0]}" refers to itself` : `commands refer to one another in a ring: ${ids.join(' → ')}`,
    remedy: 'leave one of them out',
  })
}

function checkGroups(parts: DevfileParts): void {
  const groups = Map.groupBy(parts.commands, ({ body }) => textOf(at(body, 'group', 'kind')))
  groups.delete(undefined)
  for (const [kind, members] of groups) {
    const defaults = members.filter(({ body }) => flagOf(at(body, 'group', 'isDefault')))
    for (const { tree, body } of defaults.slice(1))
      problem(parts, at(body, 'group', 'isDefault') ?? tree, {
        rule: 'group-default',
        message: `"${defaults[0]?.id}" is the default of group ${kind} already`,
        remedy: 'let one command be the default',
      })
    const [, second] = members
    if (second && defaults.length === 0)
      warning(parts, at(second.body, 'group') ?? second.tree, {
        rule: 'group-without-default',
        message: `there are ${members.length} commands of group ${kind} and none is its default`,
        remedy: 'set isDefault: true at one of them',
      })
  }
}

const EVENTS = { preStart: 'apply', postStart: 'exec', preStop: 'exec', postStop: 'apply' } as const

/** Each is done in its turn, and looked at for each container: composites would multiply what little text there is. */
const MOST_STEPS = 1000

function checkEvents(parts: DevfileParts): void {
  for (const [event, kind] of Object.entries(EVENTS)) {
    const tree = at(parts.root, 'events', event)
    const steps = itemsOf(tree).reduce((sum, item) => sum + stepsIn(memberCommand(parts, item)), 0)
    if (tree && steps > MOST_STEPS)
      problem(parts, tree, {
        rule: 'size',
        message: `there are ${steps} commands, and at most ${MOST_STEPS} are run at one event`,
        remedy: 'leave some out, or write a script that runs them',
      })
    else for (const item of itemsOf(tree)) checkEvent(parts, item, event, kind)
  }
}

const stepsIn = (command: CommandPart | undefined): number => (command?.kind === 'composite' ? membersOf(command).length : 1)

/** A composite is looked into one level deep: a workspace begins and ends with a plain list of steps. */
function checkEvent(parts: DevfileParts, item: YamlTree, event: string, kind: 'apply' | 'exec'): void {
  const id = textOf(item)
  if (id === undefined) return
  const command = memberCommand(parts, item)
  if (!command) {
    if (parts.isWhole)
      problem(parts, item, {
        rule: 'event-command',
        message: `no command has the id "${id}"`,
        remedy: 'add the command, or leave it out',
      })
    return
  }
  const steps = command.kind === 'composite' ? membersOf(command).map((member) => memberCommand(parts, member)) : [command]
  const wrong = steps.find((step) => step && step.kind !== kind)
  if (!wrong) return
  const what = wrong === command ? `"${id}"` : `"${wrong.id}" in "${id}"`
  problem(parts, item, {
    rule: 'event-kind',
    message: `${what} is a command of kind ${wrong.kind ?? 'none'}; ${event} takes ${kind} commands and composites of them`,
    remedy: `bind an ${kind} command`,
  })
}

const memberCommand = ({ commandsById }: DevfileParts, member: YamlTree): CommandPart | undefined =>
  commandsById.get(textOf(member)?.toLowerCase() ?? '')
