import { type Clock, seconds } from '../../std/index.ts'
import type { AgentPass } from '../ports/ports.ts'
import type { AgentPod, RegisteredAgent } from './pod.ts'

/** A pod of an agent, and what speaks for its being there. */
export interface RollEntry {
  pod: AgentPod
  /** It has told its own number. */
  isRegistered: boolean
  /** From where it was seen last; empty where that is not known. */
  host: string
  streams: number
  cancelTimer: () => void
}

/** All that is known of one agent. */
export interface Sheet {
  registered: RegisteredAgent
  entries: Set<RollEntry>
  /** How many tunnels are open from each host. They do not say of which pod they are. */
  tunnels: Map<string, number>
  /** Calls off the look for whose tunnels those of a host are. */
  looks: Map<string, () => void>
  /** The pod that was the last to go. */
  departed: RollEntry | undefined
}

/** A pod that has hung up may only have lost its connection. */
export const GRACE = seconds(10)

/** Keeps the sheets of agents, by uid. */
export class Sheets {
  readonly #clock: Clock
  readonly #tell: (sheet: Sheet) => void
  readonly #sheets = new Map<string, Sheet>()

  constructor(clock: Clock, tell: (sheet: Sheet) => void) {
    this.#clock = clock
    this.#tell = tell
  }

  all = (): Iterable<Sheet> => this.#sheets.values()

  get = (uid: string): Sheet | undefined => this.#sheets.get(uid)

  of({ agent, uid, id }: AgentPass): Sheet {
    const blank = { entries: new Set<RollEntry>(), tunnels: new Map(), looks: new Map(), departed: undefined }
    const sheet = this.#sheets.get(uid) ?? { registered: { agent, uid, id }, ...blank }
    this.#sheets.set(uid, sheet)
    return sheet
  }

  /** Takes the pod out after the wait, unless it has a stream, or its tunnels show by then that it is there. */
  expect(sheet: Sheet, entry: RollEntry, wait: number): void {
    entry.cancelTimer()
    const look = () => (isCarried(sheet, entry) ? this.expect(sheet, entry, GRACE) : this.remove(sheet, entry))
    entry.cancelTimer = entry.streams > 0 ? () => undefined : this.#clock.after(wait, look)
  }

  remove(sheet: Sheet, entry: RollEntry): void {
    entry.cancelTimer()
    if (!sheet.entries.delete(entry)) return
    sheet.departed = entry
    this.#tell(sheet)
  }

  forget(uid: string): void {
    const sheet = this.#sheets.get(uid)
    if (sheet) callOff(sheet)
    this.#sheets.delete(uid)
  }

  stop(): void {
    for (const sheet of this.#sheets.values()) callOff(sheet)
  }
}

function callOff({ entries, looks }: Sheet): void {
  for (const { cancelTimer } of entries) cancelTimer()
  for (const cancelLook of looks.values()) cancelLook()
}

/**
 * Tunnels speak for a pod without a stream when no other one can have them: they come from its host, and none with a stream does; or none
 * has a stream. Behind one address translation two pods are one host, and then the one that says who it is has them all.
 */
function isCarried({ entries, tunnels }: Sheet, entry: RollEntry): boolean {
  const others = [...entries].filter((one) => one !== entry && one.streams > 0)
  if (others.length === 0) return tunnels.size > 0
  return tunnels.has(entry.host) && others.every(({ host }) => host !== entry.host)
}
