import type { Command, Events, Group } from './devfile.ts'
import { attributesOf, envOf, oneOf, textsOf } from './fields.ts'
import type { Command as Part } from './parts.ts'
import { at, flagOf, textOf, type YamlTree } from './tree.ts'

export function buildCommand({ id, kind, tree, body }: Part): Command[] {
  const text = (field: string) => textOf(at(body, field))
  const head = { id, label: text('label'), group: groupOf(at(body, 'group')), attributes: attributesOf(tree) }
  const component = text('component') ?? ''
  if (kind === 'apply') return [{ ...head, kind, component }]
  if (kind === 'composite')
    return [{ ...head, kind, commands: textsOf(at(body, 'commands')), parallel: flagOf(at(body, 'parallel')) ?? false }]
  if (kind !== 'exec') return []
  const hotReload = flagOf(at(body, 'hotReloadCapable')) ?? false
  const commandLine = text('commandLine') ?? ''
  return [{ ...head, kind, commandLine, component, workingDir: text('workingDir'), env: envOf(at(body, 'env')), hotReload }]
}

const GROUPS = ['build', 'run', 'test', 'debug', 'deploy'] as const

function groupOf(tree: YamlTree | undefined): Group | undefined {
  const kind = oneOf(GROUPS, at(tree, 'kind'))
  return kind && { kind, isDefault: flagOf(at(tree, 'isDefault')) ?? false }
}

export function buildEvents(root: YamlTree, commands: readonly Part[]): Events {
  const ids = new Map(commands.map(({ id }) => [id.toLowerCase(), id]))
  const of = (event: string) => textsOf(at(root, 'events', event)).map((id) => ids.get(id.toLowerCase()) ?? id)
  return { preStart: of('preStart'), postStart: of('postStart'), preStop: of('preStop'), postStop: of('postStop') }
}
