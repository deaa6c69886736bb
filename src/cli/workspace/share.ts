import { createHash, randomBytes } from 'node:crypto'
import { nameOf, refOf, type Workspace, type WorkspaceSpec, Workspaces } from '../../api/index.ts'
import { Failure, systemClock, timestamp } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { actionVerb } from '../verb.ts'
import { commandFor, lengthOfTime, onWorkspace, refuseTerminated, type WorkspaceContext, withWorkspace } from './workspace.ts'

interface Options extends ObjectOptions {
  port: string
  user?: string
  group?: string
  as?: string
  for: string
  remove?: string
}

type Share = NonNullable<WorkspaceSpec['shares']>[number]

export const verb = actionVerb({
  description:
    'Let somebody else reach a port of a workspace: a user, a group, or whoever has a link. A link is printed once; only its digest is kept. What is open ends when it is taken back.',
  examples: [
    ['berth share web -n team-a --port app --for 2h', 'a link for whoever has signed in'],
    ['berth share web -n team-a --user grace@example.com', 'for a colleague'],
    ['berth share web -n team-a --remove link-3fa9', 'and no longer'],
  ],
  options: (command) =>
    withWorkspace(command)
      .option('-p, --port <name>', 'name of the port', 'app')
      .option('--user <name>', 'for that user, as the API server calls them')
      .option('--group <name>', 'for that group')
      .option('--as <name>', 'what the share is called, so that it can be taken back')
      .option('--for <duration>', 'how long it lasts', '8h')
      .option('--remove <name>', 'take that share back instead'),
  run: onWorkspace((context, options: Options) => (options.remove ? takeBack(context, options.remove) : share(context, options))),
})

async function share(context: WorkspaceContext, options: Options): Promise<void> {
  const { shell, workspace } = context
  refuseTerminated(workspace)
  const { port, user, group } = options
  if (user !== undefined && group !== undefined)
    throw new Failure('invalid', 'Both --user and --group are given.', { remedy: 'Share with one of them at a time.' })
  const length = lengthOfTime('--for', options.for, '2h or 30m')
  const url = urlOf(workspace, port)
  const token = user === undefined && group === undefined ? randomBytes(32).toString('base64url') : undefined
  const linkDigest = token && createHash('sha256').update(token).digest('hex')
  const name = options.as ?? `${linkDigest ? 'link' : 'share'}-${randomBytes(4).toString('hex')}`
  const expiresAt = timestamp(systemClock.now() + length)
  const who = { ...(user !== undefined && { user }), ...(group !== undefined && { group }), ...(linkDigest && { linkDigest }) }
  await write(context, [
    ...sharesOf(workspace).filter((other) => other.name !== name),
    { name, ...who, ports: [port], expiresAt },
  ])
  const with_ = user ?? (group === undefined ? 'whoever has this link' : `group ${group}`)
  shell.print(`${nameOf(workspace)} shares port ${port} with ${with_} until ${expiresAt}:`)
  shell.print(token === undefined ? url : `${url}.berth/link?token=${token}`)
  shell.print(`Take it back with \`${commandFor('share', workspace)} --remove ${name}\`.`)
}

async function takeBack(context: WorkspaceContext, name: string): Promise<void> {
  const { shell, workspace } = context
  const shares = sharesOf(workspace)
  if (!shares.some((one) => one.name === name)) {
    const names = shares.map((one) => one.name).join(', ')
    throw new Failure('not-found', `${nameOf(workspace)} has no share ${name}.`, {
      remedy: names ? `It has ${names}.` : 'It has none at all.',
    })
  }
  await write(
    context,
    shares.filter((one) => one.name !== name),
  )
  shell.print(`${nameOf(workspace)} no longer has the share ${name}.`)
}

const sharesOf = ({ spec }: Workspace): readonly Share[] => spec.shares ?? []

/** Only over what was read: two people share at once. */
const write = ({ kube, workspace }: WorkspaceContext, shares: readonly Share[]) =>
  kube.patch(Workspaces, refOf(workspace), {
    metadata: { resourceVersion: workspace.metadata.resourceVersion },
    spec: { shares: [...shares] },
  })

function urlOf(workspace: Workspace, port: string): string {
  const ports = workspace.status?.ports ?? []
  const found = ports.find(({ name }) => name === port)
  if (found?.url) return found.url
  if (found) throw withoutAddress(workspace, port)
  const names = ports.flatMap(({ name, url }) => (url ? [name] : [])).join(', ')
  throw new Failure('not-found', `${nameOf(workspace)} has no port ${port}.`, {
    remedy: names ? `Name one of ${names} with --port.` : 'Declare one in its devfile.',
  })
}

/** The settings count that the workspace has, not those that its class has by now. */
function withoutAddress(workspace: Workspace, port: string): Failure {
  const { name = '', settings } = workspace.status?.class ?? {}
  const told = `port ${port} of ${nameOf(workspace)} has no address`
  if (settings?.dnsZone)
    return new Failure('not-found', `${told}: its endpoint is not public, or another one has its number.`, {
      remedy: 'Give it exposure: public and a targetPort of its own in the devfile.',
    })
  return new Failure('not-found', `${told}: the workspace was made when WorkspaceClass ${name} had no dnsZone.`, {
    remedy: `Have one set there, then take it over with \`${commandFor('restart', workspace)} --upgrade\`.`,
  })
}
