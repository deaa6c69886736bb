import type { Cache } from '../../adapters/kube/index.ts'
import { accessRules, isSameFile } from '../../agentcfg/index.ts'
import { type Agent, keyOf, type Ref } from '../../api/index.ts'
import type { ConfigurationFile } from '../../rpc/index.ts'
import type { AgentConfigurations } from '../ports.ts'

export interface ConfigurationMemory extends AgentConfigurations {
  /** The file that an agent of this uid has been configured with. */
  keep(agent: Ref, uid: string, file: ConfigurationFile): void
  stop(): void
}

/** Of each Agent the access rules of the last good file. They are forgotten with the Agent, and when another project configures it. */
export function rememberConfigurations(agents: Pick<Cache<Agent>, 'onChange'>): ConfigurationMemory {
  const kept = new Map<string, { uid: string; file: ConfigurationFile }>()
  const listeners = new Set<(agent: Ref) => void>()
  const tell = (agent: Ref) => {
    for (const listener of listeners) listener(agent)
  }
  const stop = agents.onChange((now, before) => {
    if (
      !before ||
      (now?.metadata.uid === before.metadata.uid && now?.spec.configurationProject === before.spec.configurationProject)
    )
      return
    if (kept.delete(keyOf(before.metadata))) tell(before.metadata)
  })
  return {
    of: (agent) => kept.get(keyOf(agent))?.file,
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    keep(agent, uid, file) {
      const access = accessRules(file)
      const known = kept.get(keyOf(agent))
      // Each pod of an agent reads the same file: what is the same stays the same object.
      if (known && known.uid === uid && isSameFile(known.file, access)) return
      kept.set(keyOf(agent), { uid, file: access })
      tell(agent)
    },
    stop,
  }
}
