import { createHash, randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { refOf, type Workspace, type WorkspaceSpec, Workspaces } from '../../api/index.ts'
import { durationOf, Failure, systemClock, timestamp } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { examples } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { refuseTerminated } from '../workspace/wish.ts'
import { type AtHand, berth, titleOf, type WorkspaceOptions, withWorkspace, withWorkspaceAtHand } from '../workspace/workspace.ts'

interface Options extends WorkspaceOptions {
  port: string
  user?: string
  group?: string
  as?: string
  for: string
  remove?: string
}

type Share = NonNullable<WorkspaceSpec['shares']>[number]

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withWorkspace(command)
      .description(
        'Let somebody else reach a port of a workspace: a user, a group, or whoever has a link. A link is printed once; only its digest is kept. What is open ends when it is taken back.',
      )
      .option('-p, --port <name>', 'name of the port', 'app')
      .option('--user <name>', 'for that user, as the API server calls them')
      .option('--group <name>', 'for that group')
      .option('--as <name>', 'what the share is called, so that it can be taken back')
      .option('--for <duration>', 'how long it lasts', '8h')
      .option('--remove <name>', 'take that share back instead')
      .addHelpText(
        'after',
        examples(
          ['berth share web -n team-a --port app --for 2h', 'a link for whoever has signed in'],
          ['berth share web -n team-a --user grace@example.com', 'for a colleague'],
          ['berth share web -n team-a --remove link-3fa9', 'and no longer'],
        ),
      )
      .action(
        finish((name: string, options: Options) =>
          withWorkspaceAtHand(shell, name, options, (at) => (options.remove ? takeBack(at, options.remove) : share(at, options))),
        ),
      )
  },
}

async function share(at: AtHand, options: Options): Promise<ExitCode> {
  const { shell, workspace } = at
  refuseTerminated(at)
  const { port, user, group } = options
  if (user !== undefined && group !== undefined)
    throw new Failure('invalid', 'Both --user and --group are given.', { remedy: 'Share with one of them at a time.' })
  if (!/^(\d+[smh])+$/.test(options.for) || durationOf(options.for) === 0)
    throw new Failure('invalid', `--for is "${options.for}", which is no length of time.`, { remedy: 'Write it like 2h or 30m.' })
  const url = urlOf(workspace, port)
  const token = user === undefined && group === undefined ? randomBytes(32).toString('base64url') : undefined
  const linkDigest = token && createHash('sha256').update(token).digest('hex')
  const name = options.as ?? `${linkDigest ? 'link' : 'share'}-${randomBytes(4).toString('hex')}`
  const expiresAt = timestamp(systemClock.now() + durationOf(options.for))
  const who = { ...(user !== undefined && { user }), ...(group !== undefined && { group }), ...(linkDigest && { linkDigest }) }
  await write(at, [...sharesOf(workspace).filter((other) => other.name !== name), { name, ...who, ports: [port], expiresAt }])
  const with_ = user ?? (group === undefined ? 'whoever has this link' : `group ${group}`)
  shell.print(`${titleOf(workspace)} shares port ${port} with ${with_} until ${expiresAt}:`)
  shell.print(token === undefined ? url : `${url}.berth/link?token=${token}`)
  shell.print(`Take it back with \`${berth('share', workspace)} --remove ${name}\`.`)
  return exitCodes.ok
}

async function takeBack(at: AtHand, name: string): Promise<ExitCode> {
  const { shell, workspace } = at
  const shares = sharesOf(workspace)
  if (!shares.some((one) => one.name === name)) {
    const names = shares.map((one) => one.name).join(', ')
    throw new Failure('not-found', `${titleOf(workspace)} has no share ${name}.`, {
      remedy: names ? `It has ${names}.` : 'It has none at all.',
    })
  }
  await write(
    at,
    shares.filter((one) => one.name !== name),
  )
  shell.print(`${titleOf(workspace)} no longer has the share ${name}.`)
  return exitCodes.ok
}

const sharesOf = ({ spec }: Workspace): readonly Share[] => spec.shares ?? []

/** Only over what was read: two people share at once. */
const write = ({ kube, workspace }: AtHand, shares: readonly Share[]) =>
  kube.patch(Workspaces, refOf(workspace), {
    metadata: { resourceVersion: workspace.metadata.resourceVersion },
    spec: { shares: [...shares] },
  })

function urlOf(workspace: Workspace, port: string): string {
  const ports = workspace.status?.ports ?? []
  const found = ports.find(({ name }) => name === port)
  if (found?.url) return found.url
  const names = ports.flatMap(({ name, url }) => (url ? [name] : [])).join(', ')
  throw new Failure('not-found', `${titleOf(workspace)} has no port ${port} with an address.`, {
    remedy: names ? `Name one of ${names} with --port.` : 'Declare one in its devfile.',
  })
}
