import { type Call, type Door, type GrpcService, offerRaw } from '../../adapters/grpc/index.ts'
import type { Counter } from '../../adapters/http/index.ts'
import type { Cache } from '../../adapters/kube/index.ts'
import { byUid, type Workspace } from '../../api/index.ts'
import { accessRulesOf } from '../../engines/access/index.ts'
import { pour } from '../../engines/tunnel/index.ts'
import { CONNECT_PORT, PORT_KEYS, portIn } from '../../rpc/index.ts'
import { Failure, failureReason } from '../../std/index.ts'
import type { Router } from '../ports/ports.ts'
import { numberOf } from '../projects/number.ts'

export interface PortsContext {
  /** Lets the proxy in. */
  door: Door
  workspaces: Cache<Workspace>
  router: Router
  /** Counts connections by how they came about. */
  connected: Counter
}

/** Joins the proxy with the pod, whichever kas has its tunnels; nothing is kept that has not been asked for. */
export const createPortsService = (context: PortsContext): GrpcService =>
  offerRaw(
    [CONNECT_PORT],
    async function* (requests, call) {
      const right = rightTo(context, call)
      try {
        const signal = AbortSignal.any([call.hungUp, right.ended])
        const metadata = { [PORT_KEYS.port]: [String(right.port)] }
        const far = await context.router.open(right.id, CONNECT_PORT, { metadata, signal })
        void pour(requests[Symbol.asyncIterator](), far)
        let isOpen = false
        for await (const piece of far.responses) {
          if (!isOpen) context.connected.add({ outcome: 'open' })
          isOpen = true
          yield piece
        }
      } catch (thrown) {
        const failure = right.ended.aborted ? Failure.from(right.ended.reason) : told(Failure.from(thrown))
        context.connected.add({ outcome: failureReason(failure) })
        throw failure
      } finally {
        right.close()
      }
    },
    context.door,
  )

/** The right to a port of a workspace: it ends when the workspace does, or no longer has the port. */
function rightTo({ workspaces }: PortsContext, call: Call) {
  const uid = call.metadata(PORT_KEYS.workspace) ?? ''
  const port = portIn(call.text[PORT_KEYS.port])
  if (port === undefined || uid === '')
    throw new Failure('invalid', 'a workspace and a port must be named', { reason: 'InvalidRequest' })
  const isOpen = (): boolean => {
    const [workspace] = workspaces.by(byUid, uid)
    const rules = workspace && accessRulesOf(workspace)
    return rules !== undefined && !rules.isEnding && rules.ports.has(port)
  }
  if (!isOpen()) throw new Failure('not-found', 'the workspace has no such port', { reason: 'PortNotDeclared' })
  const end = new AbortController()
  const forget = workspaces.onChangeBy(byUid, uid, () => {
    if (!isOpen()) end.abort(new Failure('forbidden', 'the port is no longer open', { reason: 'AccessRevoked' }))
  })
  return { port, id: numberOf(uid), ended: end.signal, close: forget }
}

/** Pods are hostile: of what one says, only what went wrong is passed on, in our own words. */
function told(failure: Failure): Failure {
  const how = { cause: failure }
  if (failure.reason === 'AgentNotConnected')
    return new Failure('unavailable', 'the workspace has no tunnel open to its port', { ...how, reason: 'NotConnected' })
  if (failure.code === 'not-found')
    return new Failure('unavailable', 'nothing listens on the port', { ...how, reason: 'NotListening' })
  if (failure.code === 'timeout') return new Failure('timeout', 'nothing answers on the port', { ...how, reason: 'TooLate' })
  return new Failure('unavailable', 'the connection was closed without an answer', { ...how, reason: 'Closed' })
}
