import type { Ref } from '../../api/index.ts'
import type { AgentMeta } from '../../rpc/index.ts'
import { type Clock, Failure, minutes, seconds } from '../../std/index.ts'
import type { AgentPass, AgentRoll } from '../ports.ts'
import { type AgentPod, podFrom, type RegisteredAgent } from './pod.ts'

export interface RollOfPods extends AgentRoll {
  /** A pod has said that it is there; it says so again within five minutes. */
  register(pass: AgentPass, meta: AgentMeta | undefined, podId: bigint): void
  of(uid: string): AgentPod[]
  all(): Iterable<{ registered: RegisteredAgent; pods: AgentPod[] }>
  /** The Agent is no more. */
  forget(uid: string): void
  onChange(listener: (agent: Ref) => void): void
  stop(): void
}

/** The longest that a pod may be silent: the time between two registrations, or the longest wait before it tries again. */
const SILENCE = minutes(6)
/** A pod that has hung up may only have lost its connection. */
const GRACE = seconds(10)
/** Of one agent. Its token must not be enough to fill the memory with invented pods. */
const MOST = 100

interface Entry {
  pod: AgentPod
  /** It has told its own number. */
  isRegistered: boolean
  streams: number
  cancelTimer: () => void
}

interface Sheet {
  registered: RegisteredAgent
  entries: Set<Entry>
}

export interface RollOptions {
  clock: Clock
  /** The number under which a pod of that name was last shown, so that a new start of kas changes nothing. */
  recall?: (agent: Ref, name: string) => string | undefined
  /** Told of a pod that was one too many of its agent. */
  onRefused?: () => void
}

export function createRoll({ clock, recall = () => undefined, onRefused = () => undefined }: RollOptions): RollOfPods {
  const sheets = new Map<string, Sheet>()
  const listeners: ((agent: Ref) => void)[] = []

  const tell = ({ registered }: Sheet) => {
    for (const listener of listeners) listener(registered.agent)
  }
  const remove = (sheet: Sheet, entry: Entry) => {
    entry.cancelTimer()
    if (!sheet.entries.delete(entry)) return
    if (sheet.entries.size === 0 && sheets.get(sheet.registered.uid) === sheet) sheets.delete(sheet.registered.uid)
    tell(sheet)
  }
  const expect = (sheet: Sheet, entry: Entry, wait: number) => {
    entry.cancelTimer()
    entry.cancelTimer = entry.streams > 0 ? () => undefined : clock.after(wait, () => remove(sheet, entry))
  }
  const sheetOf = ({ agent, uid, id }: AgentPass): Sheet => {
    const sheet = sheets.get(uid) ?? { registered: { agent, uid, id }, entries: new Set() }
    sheets.set(uid, sheet)
    return sheet
  }
  const add = (sheet: Sheet, pod: AgentPod, isRegistered: boolean): Entry | undefined => {
    if (sheet.entries.size >= MOST) {
      onRefused()
      return undefined
    }
    const entry: Entry = { pod, isRegistered, streams: 0, cancelTimer: () => undefined }
    sheet.entries.add(entry)
    return entry
  }

  return {
    enter(pass, meta, reports) {
      const sheet = sheetOf(pass)
      const pod = podFrom(pass.uid, meta, undefined, clock.now())
      const known = [...sheet.entries].find((one) => isSamePod(one.pod, pod))
      const podId = recall(pass.agent, pod.name) ?? pod.podId
      const entry = known ?? add(sheet, { ...pod, podId, reports }, false)
      if (!entry) return () => undefined
      const isNew = !known || known.pod.reports !== reports
      entry.pod = { ...entry.pod, reports }
      entry.streams++
      expect(sheet, entry, SILENCE)
      if (isNew) tell(sheet)
      return (hungUp) => {
        entry.streams--
        expect(sheet, entry, hungUp ? GRACE : SILENCE)
      }
    },
    register(pass, meta, podId) {
      const sheet = sheetOf(pass)
      const pod = podFrom(pass.uid, meta, podId, clock.now())
      const entries = [...sheet.entries]
      const known =
        entries.find((one) => one.pod.podId === pod.podId) ?? entries.find((one) => !one.isRegistered && isSamePod(one.pod, pod))
      const entry = known ?? add(sheet, pod, true)
      if (!entry) throw tooMany(pass)
      const before = entry.pod
      entry.pod = { ...pod, connectedAt: before.connectedAt, reports: before.reports }
      entry.isRegistered = true
      expect(sheet, entry, SILENCE)
      if (!known || isNews(before, entry.pod)) tell(sheet)
    },
    of: (uid) => [...(sheets.get(uid)?.entries ?? [])].map(({ pod }) => pod),
    *all() {
      for (const { registered, entries } of sheets.values()) yield { registered, pods: [...entries].map(({ pod }) => pod) }
    },
    forget(uid) {
      const sheet = sheets.get(uid)
      for (const entry of sheet?.entries ?? []) entry.cancelTimer()
      sheets.delete(uid)
    },
    onChange: (listener) => void listeners.push(listener),
    stop() {
      for (const { entries } of sheets.values()) for (const entry of entries) entry.cancelTimer()
    },
  }
}

const isSamePod = (a: AgentPod, b: AgentPod): boolean => a.name === b.name && a.namespace === b.namespace

const isNews = (before: AgentPod, now: AgentPod): boolean =>
  before.podId !== now.podId || before.version !== now.version || before.kubernetesVersion !== now.kubernetesVersion

const tooMany = ({ agent }: AgentPass) =>
  new Failure('unavailable', `Agent ${agent.namespace}/${agent.name} has ${MOST} pods already`, {
    reason: 'TooManyPods',
    remedy: 'Run fewer, or give others an Agent of their own.',
  })
