import {
  type CertificateDoor,
  createOpenFolders,
  type OpenFolders,
  type PublicKey,
  type SshChannel,
  type SshDoor,
  type SshLine,
  type SshProgram,
  type SshVisitor,
} from '../../adapters/ssh/index.ts'
import { keyOf, type Ref, SSH_CERTIFICATES_USER } from '../../api/index.ts'
import { type Judgement, judgeAccess } from '../../engines/access/index.ts'
import { aborted, type Clock, Failure, type Log, type Secret } from '../../std/index.ts'
import { judge } from '../web/judge.ts'
import type { MayOpen, RoutedWorkspace, RouteTable, Session } from '../web/ports.ts'
import type { Certificates } from './certificates.ts'
import { forwardPort } from './forward.ts'
import type { Inside } from './inside.ts'
import { createIssuer } from './issuer.ts'
import { runProgram } from './programs.ts'
import type { SessionOfToken } from './tokens.ts'
import { tell, whyNotRunning } from './words.ts'

export interface SshServices {
  routes: Pick<RouteTable, 'workspace'>
  /** The workspace of that name. */
  find(ref: Ref): RoutedWorkspace | undefined
  inside: Inside
  sessionOf: SessionOfToken
  /** Whether tokens let in where a key would. */
  takesTokens: boolean
  /** Without it there are none. */
  certificates: Certificates | undefined
  mayOpen: MayOpen | undefined
  streams: { enter(stream: SshStream): () => void }
  activity: {
    used(workspace: RoutedWorkspace, by: 'SSH'): void
    sshOpened(workspace: RoutedWorkspace, line: { received(): number; closed: Promise<void> }, isTerminal: boolean): void
  }
  clock: Clock
  log: Log
}

interface SshStream {
  uid: string
  port: 'ssh'
  session: Session
  links: readonly string[]
  as: string
  until: number
  holds(): boolean
  cut(): void
}

/**
 * Lets people into workspaces as `NAME.NAMESPACE`: whoever proves a key of the owner is the owner; a token, and a certificate that was
 * given for one, say who somebody is.
 */
export function createSshDoor(given: SshServices): SshDoor {
  const services = { ...given, foldersOf: createFoldersOf() }
  const { find, routes, sessionOf, takesTokens, certificates, clock } = services
  const judgeKey = (user: string, key: PublicKey) => {
    const workspace = find(refFrom(user))
    if (!workspace || !hasKey(workspace, key)) return
    const { owner } = workspace.rules
    const person = owner === undefined ? undefined : { user: owner, groups: [] }
    const judgement = judgeAccess({ rules: workspace.rules, port: 'ssh', person, now: clock.now() })
    return person && judgement.may ? { workspace, person, judgement } : undefined
  }
  const byToken = async (token: Secret<string>, user: string) => {
    const session = await sessionOf(token)
    return session && enterAs(services, user, { session, holds: () => true, means: 'token' })
  }
  const issuerFor = async (token: Secret<string>, issued: Certificates) => {
    const session = await sessionOf(token)
    return session && createIssuer({ ...services, certificates: issued }, session)
  }
  return {
    takesKey: (user, key) => judgeKey(user, key) !== undefined,
    byKey(user, key) {
      const found = judgeKey(user, key)
      if (!found) return
      const { workspace, person, judgement } = found
      const { uid, rules } = workspace
      const holds = () => {
        const now = routes.workspace(uid)
        return now !== undefined && now.rules.owner === rules.owner && hasKey(now, key)
      }
      const session = { person, since: clock.now(), until: Number.POSITIVE_INFINITY }
      return visitorOf(services, { workspace, session, judgement, holds, means: key.type })
    },
    byPassword(user) {
      if (certificates && user === SSH_CERTIFICATES_USER) return (token) => issuerFor(token, certificates)
      return takesTokens ? (token) => byToken(token, user) : undefined
    },
    certificates: certificates && certificateDoor(services, certificates),
  }
}

/** Of all connections of one person together: each has a share of the memory of everybody. */
function createFoldersOf() {
  const people = new Map<string, { folders: OpenFolders; lines: number }>()
  return (person: string, closed: AbortSignal): OpenFolders => {
    const own = people.get(person) ?? { folders: createOpenFolders(), lines: 0 }
    people.set(person, own)
    own.lines++
    const leave = () => {
      if (--own.lines === 0) people.delete(person)
    }
    closed.addEventListener('abort', leave, { once: true })
    return own.folders
  }
}

/** A certificate is no more than a name: whether it lets in is asked anew, as for whoever shows a token. */
function certificateDoor(services: Visited, certificates: Certificates): CertificateDoor {
  const { authority, sessionOf } = certificates
  return {
    authority,
    whyNot(certificate) {
      const session = sessionOf(certificate)
      return typeof session === 'string' ? session : undefined
    },
    async enter(user, certificate) {
      const signer = authority()
      const session = sessionOf(certificate)
      if (typeof session === 'string') return
      const holds = () => authority() === signer
      const visitor = await enterAs(services, user, { session, holds, means: `certificate ${certificate.serial}` })
      // Meanwhile somebody may have signed out everywhere, or the authority be another.
      return holds() && typeof sessionOf(certificate) !== 'string' ? visitor : undefined
    },
  }
}

type Shown = Pick<Entry, 'session' | 'holds' | 'means'>

/** As the workspace's own rules, its shares and the cluster's roles let somebody in. */
async function enterAs(services: Visited, user: string, shown: Shown): Promise<SshVisitor | undefined> {
  const { find, mayOpen, clock } = services
  const ref = refFrom(user)
  const { session } = shown
  const workspace = find(ref)
  if (!workspace) {
    // Asked of one that is not there, too, or the time would tell which are.
    await mayOpen?.(session.person, { ref })
    return
  }
  const judgement = await judge({ mayOpen, clock }, { workspace, port: 'ssh' }, { session, links: [] })
  return judgement.may ? visitorOf(services, { workspace, judgement, ...shown }) : undefined
}

/** A name has no dot in it, and a namespace neither. */
function refFrom(user: string): Ref & { namespace: string } {
  const dot = user.lastIndexOf('.')
  return { name: user.slice(0, Math.max(dot, 0)), namespace: user.slice(dot + 1) }
}

const hasKey = ({ sshKeys }: RoutedWorkspace, { blob }: PublicKey): boolean => sshKeys.has(blob)

interface Entry {
  workspace: RoutedWorkspace
  session: Session
  judgement: Extract<Judgement, { may: true }>
  /** Whether what was shown lets in still. */
  holds(): boolean
  /** What was shown, for the log. */
  means: string
}

type Visited = SshServices & { foldersOf: ReturnType<typeof createFoldersOf> }

function visitorOf(services: Visited, { workspace, session, judgement, holds, means }: Entry): SshVisitor {
  const { routes, inside, streams, activity, clock } = services
  const { uid } = workspace
  const log = services.log.with({ workspace: keyOf(workspace.ref), user: session.person.user })
  const known = { from: '', folders: createOpenFolders() }
  /** Throws a sentence that says why nothing runs in it. */
  const running = (): RoutedWorkspace => {
    const now = routes.workspace(uid)
    if (!now) throw new Failure('not-found', 'the workspace is not there any more')
    const why = whyNotRunning(now)
    if (why) throw new Failure('conflict', why)
    return now
  }
  const use = (now: RoutedWorkspace, channel: SshChannel, isTerminal: boolean) => {
    activity.used(now, 'SSH')
    activity.sshOpened(now, { received: channel.received, closed: aborted(channel.closed) }, isTerminal)
  }
  return {
    person: session.person.user,
    entered({ from, cut, closed }: SshLine) {
      const since = clock.now()
      known.from = from
      known.folders = services.foldersOf(session.person.user, closed)
      const until = Math.min(judgement.until, session.until)
      const stream = { uid, port: 'ssh' as const, session, links: [], as: judgement.as, until, holds, cut }
      const leave = streams.enter(stream)
      log.info('Somebody has logged in over SSH', { from, means, as: judgement.as })
      closed.addEventListener('abort', () => {
        leave()
        log.info('A connection over SSH is over', { from, ms: clock.now() - since })
      })
    },
    run(program: SshProgram, channel: SshChannel) {
      log.debug('A program is asked for over SSH', { kind: program.kind, from: known.from })
      const work = async () => {
        const now = running()
        use(now, channel, program.terminal !== undefined)
        await inside(now, (place) => runProgram(place, program, channel, known.folders))
      }
      work().catch((thrown: unknown) => tell(channel, thrown, log))
    },
    async connect(port, accept) {
      const now = running()
      const begin = () => {
        const channel = accept()
        use(now, channel, false)
        return channel
      }
      await inside(now, (place) => forwardPort(place, port, begin, clock))
    },
    refused: (what) => log.info('Something was refused over SSH', { what, from: known.from }),
  }
}
