import { type Agent, keyOf, type Ref, refOf } from '../../api/index.ts'
import { minutes, pause, seconds } from '../../std/index.ts'
import type { AgentConfigurations } from '../ports/ports.ts'
import { type RulesOptions, RulesReader } from './rules-reader.ts'

interface Followed {
  reader: RulesReader
  /** Calls off that it is forgotten. */
  cancelTimer: () => void
}

/** So long somebody waits for rules that are being read. Milliseconds. */
const PATIENCE = seconds(10)
/** Rules that nobody has asked for so long are forgotten, and their repository is no longer looked at on their account. */
const IDLE = minutes(10)
/** Agents whose rules are followed at once. More are in use only when somebody tries them all. */
const MOST = 5000

/**
 * Who may reach the clusters of agents. The rules are read from the same commits as what agents get, by every kas for itself and
 * whether or not the agent is connected to it, as long as somebody asks for them.
 */
export function createAccessRules(options: RulesOptions): AgentConfigurations & { stop(): Promise<void> } {
  const { agents, clock } = options
  /** The one that was asked for longest ago comes first. */
  const open = new Map<string, Followed>()
  const closing = new Set<Promise<void>>()
  const listeners = new Set<(agent: Ref) => void>()

  const close = (key: string) => {
    const followed = open.get(key)
    if (!followed) return
    open.delete(key)
    followed.cancelTimer()
    const done = followed.reader.stop().finally(() => closing.delete(done))
    closing.add(done)
  }
  const followedOf = (agent: Agent): Followed => {
    const key = keyOf(refOf(agent))
    const known = open.get(key)
    if (known) {
      open.delete(key)
      known.cancelTimer()
    }
    const reader = known?.reader ?? new RulesReader(options, agent, tellOf(refOf(agent)))
    const followed = { reader, cancelTimer: clock.after(IDLE, () => close(key)) }
    open.set(key, followed)
    const [oldest] = open.keys()
    if (open.size > MOST && oldest !== undefined) close(oldest)
    return followed
  }
  const tellOf = (agent: Ref) => () => {
    for (const listener of listeners) listener(agent)
  }
  const forget = agents.onChange((now, before) => {
    if (before && before.metadata.uid !== now?.metadata.uid) close(keyOf(refOf(before)))
  })
  return {
    async of(ref) {
      const agent = agents.get(ref)
      if (!agent) return
      const { reader } = followedOf(agent)
      const late = new AbortController()
      await Promise.race([reader.read(), pause(clock, PATIENCE, late.signal)])
      late.abort()
      return reader.rules
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async stop() {
      forget()
      for (const key of [...open.keys()]) close(key)
      await Promise.all(closing)
    },
  }
}
