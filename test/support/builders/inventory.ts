import type { Inventory, InventoryStore } from '../../../src/engines/gitops/index.ts'

/** An inventory that is kept for as long as somebody has it. */
export function inMemory(): InventoryStore {
  let last: Inventory | undefined
  return {
    load: () => Promise.resolve(last),
    save(inventory) {
      last = inventory
      return Promise.resolve()
    },
  }
}
