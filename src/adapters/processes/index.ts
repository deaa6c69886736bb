/**
 * Programs that are started on behalf of tenants: how much memory they may take together, and how they are kept from the
 * network. Not here: what they are asked to do (adapters/git, engines/gitops), and the servers of a local control plane
 * (adapters/control-plane).
 */
export { childrenIn, createMemoryGuard, familyOf, type MemoryGuard, type MemoryGuardOptions } from './memory-guard.ts'
export { wordsForNoNetwork } from './no-network.ts'
