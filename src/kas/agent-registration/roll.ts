import type { AgentStatus, Ref } from '../../api/index.ts'
import type { AgentMeta } from '../../rpc/index.ts'
import { type Clock, Failure, minutes } from '../../std/index.ts'
import type { AgentPass, AgentRoll } from '../ports/ports.ts'
import { type AgentPod, podFrom, podShown, type RegisteredAgent } from './pod.ts'
import { GRACE, type RollEntry, type Sheet, Sheets } from './sheets.ts'

export interface RollOfPods extends AgentRoll {
  /** A pod has said that it is there; it says so again within five minutes. */
  register(pass: AgentPass, meta: AgentMeta | undefined, podId: bigint, peer?: string): void
  of(uid: string): AgentPod[]
  all(): Iterable<{ registered: RegisteredAgent; pods: AgentPod[] }>
  /** The Agent is no more. */
  forget(uid: string): void
  onChange(listener: (agent: Ref) => void): void
  stop(): void
}

/** The longest that a pod may be silent: the time between two registrations, or the longest wait before it tries again. */
const SILENCE = minutes(6)
/** Of one agent. Its token must not be enough to fill the memory with invented pods. */
const MOST = 100

/** What the status of an Agent says of its pods. */
interface Recalled {
  readonly pods: NonNullable<AgentStatus['connectedPods']>
  /** Another kas, which lives, has some of them. */
  readonly isElsewhere: boolean
}

export interface RollOptions {
  clock: Clock
  /** So that a new start of kas changes no number, and a pod that has tunnels here is known again. */
  recall?: (agent: Ref) => Recalled
  /** Told of a pod that was one too many of its agent. */
  onRefused?: () => void
}

const NOTHING: Recalled = { pods: [], isElsewhere: false }

export function createRoll({ clock, recall = () => NOTHING, onRefused = () => undefined }: RollOptions): RollOfPods {
  const listeners: ((agent: Ref) => void)[] = []
  const tell = ({ registered }: Sheet) => {
    for (const listener of listeners) listener(registered.agent)
  }
  const sheets = new Sheets(clock, tell)
  const add = (sheet: Sheet, pod: AgentPod, { isRegistered, host }: Pick<RollEntry, 'isRegistered' | 'host'>) => {
    if (sheet.entries.size >= MOST) {
      onRefused()
      return
    }
    const entry: RollEntry = { pod, isRegistered, host, streams: 0, cancelTimer: () => undefined }
    sheet.entries.add(entry)
    return entry
  }

  return {
    enter(pass, meta, { reports, peer = '' } = {}) {
      const sheet = sheets.of(pass)
      const pod = podFrom(pass.uid, meta, undefined, clock.now())
      const known = [...sheet.entries].find((one) => isSamePod(one.pod, pod)) ?? nobodyIn(sheet)
      const podId = recall(pass.agent).pods.find(({ name }) => name === pod.name)?.podId ?? pod.podId
      const entry = known ?? add(sheet, { ...pod, podId, reports }, { isRegistered: false, host: hostOf(peer) })
      if (!entry) return () => undefined
      const before = known?.pod
      const isKnown = before !== undefined && isSamePod(before, pod)
      entry.pod = isKnown ? { ...before, reports } : { ...pod, podId, reports }
      entry.host = hostOf(peer)
      entry.streams++
      sheets.expect(sheet, entry, SILENCE)
      if (!isKnown || before.reports !== reports) tell(sheet)
      return (hungUp) => {
        entry.streams--
        sheets.expect(sheet, entry, hungUp ? GRACE : SILENCE)
      }
    },
    register(pass, meta, podId, peer = '') {
      const sheet = sheets.of(pass)
      const pod = podFrom(pass.uid, meta, podId, clock.now())
      const entries = [...sheet.entries]
      const known =
        entries.find((one) => one.pod.podId === pod.podId) ??
        entries.find((one) => !one.isRegistered && isSamePod(one.pod, pod)) ??
        nobodyIn(sheet)
      const entry = known ?? add(sheet, pod, { isRegistered: true, host: hostOf(peer) })
      if (!entry) throw tooMany(pass)
      const before = entry.pod
      entry.pod = { ...pod, connectedAt: before.connectedAt, reports: before.reports }
      entry.isRegistered = true
      entry.host = hostOf(peer)
      sheets.expect(sheet, entry, SILENCE)
      if (!known || isNews(before, entry.pod)) tell(sheet)
    },
    tunnel: tunnelsOf({ sheets, recall, add, tell, clock }),
    of: (uid) => [...(sheets.get(uid)?.entries ?? [])].map(({ pod }) => pod),
    *all() {
      for (const { registered, entries } of sheets.all())
        if (entries.size > 0) yield { registered, pods: [...entries].map(({ pod }) => pod) }
    },
    forget: (uid) => sheets.forget(uid),
    onChange: (listener) => void listeners.push(listener),
    stop: () => sheets.stop(),
  }
}

interface TunnelWays {
  sheets: Sheets
  recall: NonNullable<RollOptions['recall']>
  add: (sheet: Sheet, pod: AgentPod, of: Pick<RollEntry, 'isRegistered' | 'host'>) => RollEntry | undefined
  tell: (sheet: Sheet) => void
  clock: Clock
}

/** Counts the tunnels of each host, and enters a pod for those of which nobody says whose they are. */
const tunnelsOf =
  ({ sheets, recall, add, tell, clock }: TunnelWays): AgentRoll['tunnel'] =>
  (pass, peer) => {
    const sheet = sheets.of(pass)
    const host = hostOf(peer)
    sheet.tunnels.set(host, (sheet.tunnels.get(host) ?? 0) + 1)
    const restore = () => {
      sheet.looks.delete(host)
      if (!sheet.tunnels.has(host) || isClaimed(sheet, host)) return
      const { departed, entries } = sheet
      const { pods, isElsewhere } = entries.size > 0 ? NOTHING : recall(pass.agent)
      if (isElsewhere) return look()
      const shown = pods[0] && podShown(pass.uid, pods[0], clock.now())
      const pod = shown ?? departed?.pod ?? podFrom(pass.uid, undefined, undefined, clock.now())
      const entry = add(sheet, pod, { isRegistered: !shown && departed?.isRegistered === true, host })
      if (!entry) return
      sheets.expect(sheet, entry, GRACE)
      tell(sheet)
    }
    const look = () => void sheet.looks.set(host, clock.after(GRACE, restore))
    // Mostly the pod says at the same moment who it is.
    if (!sheet.looks.has(host) && !isClaimed(sheet, host)) look()
    return () => {
      const left = (sheet.tunnels.get(host) ?? 0) - 1
      if (left > 0) sheet.tunnels.set(host, left)
      else sheet.tunnels.delete(host)
    }
  }

/** Without the port: a pod has another one for each connection. */
const hostOf = (peer: string): string => peer.replace(/:\d+$/, '')

/** Tunnels of this host need no other pod than those that are known: one is from there, or any other is. */
const isClaimed = ({ entries, departed }: Sheet, host: string): boolean =>
  [...entries].some((entry) => entry.host === host) || (entries.size > 0 && departed?.host !== host)

/** The one of which there were only tunnels: the first that says who it is, is that one. */
const nobodyIn = ({ entries }: Sheet): RollEntry | undefined =>
  [...entries].find(({ pod, streams, isRegistered }) => pod.meta === undefined && streams === 0 && !isRegistered)

const isSamePod = (a: AgentPod, b: AgentPod): boolean => a.name === b.name && a.namespace === b.namespace

const isNews = (before: AgentPod, now: AgentPod): boolean =>
  before.podId !== now.podId || before.version !== now.version || before.kubernetesVersion !== now.kubernetesVersion

const tooMany = ({ agent }: AgentPass) =>
  new Failure('unavailable', `Agent ${agent.namespace}/${agent.name} has ${MOST} pods already`, {
    reason: 'TooManyPods',
    remedy: 'Run fewer, or give others an Agent of their own.',
  })
