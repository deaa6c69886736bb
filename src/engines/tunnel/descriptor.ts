import { create } from '@bufbuild/protobuf'
import { type ConnectRequest, ConnectRequestSchema } from '../../rpc/index.ts'
import { type Clock, Failure } from '../../std/index.ts'
import { SILENCE } from './limits.ts'

/** Methods of one agent. */
const MOST = 1000
const LONGEST = 256

/** The first message of an agent: what it answers, as `/service/method`. */
export function descriptorOf(paths: Iterable<string>): ConnectRequest {
  const services = new Map<string, { name: string }[]>()
  for (const path of paths) {
    const [, service = '', name = ''] = path.split('/')
    services.set(service, [...(services.get(service) ?? []), { name }])
  }
  const listed = [...services].map(([name, methods]) => ({ name, methods }))
  return create(ConnectRequestSchema, { msg: { case: 'descriptor', value: { agentDescriptor: { services: listed } } } })
}

/** Each of these ends the wait for a first message. */
interface Patience {
  /** Aborts, with a `Failure`, when the agent may not be here any more. */
  ended: AbortSignal
  /** Aborts when the stream is to end. */
  signal: AbortSignal
  clock: Clock
}

/**
 * The first message of a stream; `undefined` when it ends without. A stream counts among those of its agent before it has said
 * anything, so a silent one must not outlive the token it came with.
 */
export async function firstOf(
  incoming: AsyncIterator<ConnectRequest>,
  { ended, signal, clock }: Patience,
): Promise<ConnectRequest | undefined> {
  const early = Promise.withResolvers<undefined>()
  const revoke = () => early.reject(Failure.from(ended.reason))
  const leave = () => early.resolve(undefined)
  const cancelTimer = clock.after(SILENCE, () => early.reject(silent()))
  ended.addEventListener('abort', revoke, { once: true })
  signal.addEventListener('abort', leave, { once: true })
  if (ended.aborted) revoke()
  if (signal.aborted) leave()
  try {
    const first = await Promise.race([early.promise, incoming.next()])
    return first?.done ? undefined : first?.value
  } finally {
    cancelTimer()
    ended.removeEventListener('abort', revoke)
    signal.removeEventListener('abort', leave)
  }
}

/** The paths of what is in it. Throws, for an INVALID_ARGUMENT, at anything else. */
export function pathsIn({ msg }: ConnectRequest): ReadonlySet<string> {
  if (msg.case !== 'descriptor' || !msg.value.agentDescriptor)
    throw wrong('the first message of a tunnel must be the descriptor of the agent')
  const paths = new Set<string>()
  for (const { name, methods } of msg.value.agentDescriptor.services) {
    for (const method of methods) {
      if (!isName(name) || !isName(method.name)) throw wrong('services and methods must have names')
      paths.add(`/${name}/${method.name}`)
      if (paths.size > MOST) throw wrong(`an agent may name ${MOST} methods`)
    }
  }
  return paths
}

const isName = (name: string): boolean => name.length > 0 && name.length <= LONGEST && !name.includes('/')
const silent = () =>
  new Failure('timeout', `the agent has not said within ${SILENCE / 1000} s what it answers`, {
    reason: 'AgentSilent',
    remedy: 'Send the descriptor of the agent as the first message.',
  })
const wrong = (message: string) => new Failure('invalid', message, { reason: 'InvalidRequest' })
