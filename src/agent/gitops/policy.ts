import type { InventoryPolicy } from '../../agentcfg/index.ts'
import type { SyncRequest } from '../../engines/gitops/index.ts'
import { Failure } from '../../std/index.ts'

/** Says on each object which inventory it belongs to; agentk writes and reads it. */
export const OWNING = 'config.k8s.io/owning-inventory'
/** The field manager of agentk. */
export const AGENTK = 'agentk'

/** Which objects that are there already may become some of this inventory. */
export const takeOverRulesFor = (inventoryId: string, policy: InventoryPolicy): NonNullable<SyncRequest['takeOver']> => ({
  managers: [AGENTK],
  fromOthers: policy === 'adopt_all',
  objection({ metadata }) {
    const owning = metadata.annotations?.[OWNING]
    if (owning === inventoryId || policy === 'adopt_all' || (!owning && policy === 'adopt_if_no_inventory')) return
    return new Failure(
      'already-exists',
      owning ? `is there already and belongs to inventory ${owning}` : 'is there already and belongs to no inventory',
      {
        reason: 'InventoryPolicy',
        remedy: `inventory_policy is ${policy}: remove the object, or write ${owning ? 'adopt_all' : 'adopt_if_no_inventory'}.`,
      },
    )
  },
})
