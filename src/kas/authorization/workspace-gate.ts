import { isDeepStrictEqual } from 'node:util'
import type { Cache } from '../../adapters/kube/index.ts'
import { isDeleting, keyOf, type Ref, refOf, type Workspace } from '../../api/index.ts'
import { type Clock, isFailure, minutes, type Secret } from '../../std/index.ts'
import type { TunnelPass, WorkspaceGate } from '../ports/ports.ts'
import type { Refusals } from '../ports/refusals.ts'
import { numberOf } from '../projects/number.ts'
import { notItsPod, type ProvePod } from '../tokens/pod-proof.ts'
import type { Prove } from '../tokens/strangers.ts'
import { digestOf } from '../tokens/token.ts'
import { revoked } from './gate.ts'
import { bearerOf } from './identify.ts'
import type { TokenRate } from './token-rate.ts'

export interface WorkspaceGateOptions {
  workspaces: Cache<Workspace>
  provePod: ProvePod
  /** Slows down peers that make tokens up. */
  prove: Prove
  rate: TokenRate
  refused: Refusals
  clock: Clock
}

/** No watch tells that a pod is gone, and its token with it, so the token is proved again. */
const AGAIN = minutes(1)
/** Tunnels of one workspace in one kas. */
const MOST = 1000

/** Lets pods of workspaces in that run, and throws them out when the workspace stops, ends, moves, or is another of that name. */
export const createWorkspaceGate = (options: WorkspaceGateOptions): WorkspaceGate => ({
  async admit({ workspace: name, authorization, peer }) {
    const { workspaces, prove, provePod, rate, refused } = options
    const token = bearerOf(authorization)
    try {
      const workspace = openAt(workspaces, refIn(name))
      if (!workspace) throw notItsPod()
      await prove(token, peer, () => provePod({ workspace, token }))
      rate(digestOf(token), `Workspace ${keyOf(workspace.metadata)}`)
      return passFor(options, workspace, token)
    } catch (thrown) {
      refused('A pod of a workspace was refused', peer, thrown, { workspace: name.slice(0, LONGEST) })
      throw thrown
    }
  },
})

/** Characters of what strangers call themselves. */
const LONGEST = 320

function refIn(name: string): Ref {
  const [, namespace, own] = /^([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9.-]{0,252})$/.exec(name) ?? []
  if (namespace === undefined || own === undefined) throw notItsPod()
  return { namespace, name: own }
}

/** One that runs, or is to. */
function openAt(workspaces: Cache<Workspace>, ref: Ref): Workspace | undefined {
  const workspace = workspaces.get(ref)
  const isEnding = !workspace || isDeleting(workspace) || !workspace.metadata.uid
  const { desiredState } = workspace?.spec ?? {}
  return isEnding || desiredState === 'Stopped' || desiredState === 'Terminated' ? undefined : workspace
}

function passFor({ workspaces, provePod, clock }: WorkspaceGateOptions, workspace: Workspace, token: Secret<string>): TunnelPass {
  const end = new AbortController()
  const ref = refOf(workspace)
  const { uid = '' } = workspace.metadata
  const look = () => {
    const now = openAt(workspaces, ref)
    const isSame = now?.metadata.uid === uid && isDeepStrictEqual(now.status?.target, workspace.status?.target)
    if (!isSame) end.abort(revoked())
  }
  const again = async () => {
    try {
      await provePod({ workspace, token })
    } catch (thrown) {
      // A cluster that cannot be asked takes nobody's right.
      if (isFailure(thrown, 'forbidden', 'unauthorized')) end.abort(revoked())
    }
    if (!isClosed) cancelTimer = clock.after(AGAIN, () => void again())
  }
  let isClosed = false
  let cancelTimer = clock.after(AGAIN, () => void again())
  const forget = workspaces.onChangeOf(ref, look)
  // It may have changed while its cluster was asked.
  look()
  return {
    id: numberOf(uid),
    most: MOST,
    ended: end.signal,
    close() {
      isClosed = true
      forget()
      cancelTimer()
    },
  }
}
