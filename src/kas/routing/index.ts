/**
 * Requests to agents, wherever they are connected. The kas that gets a request is the only one that decides where it goes (router.ts);
 * a kas that another one asks uses its own tunnels only (gateway.ts). Who has which agent stands in a registry: in memory for
 * one process (registry.ts), or it is all others by name (peers.ts). Read router.ts first, then gateway.ts, and order.ts for who may say what when;
 * census.ts asks all of them who is connected.
 */
export { answerCensus, type Connected, createCensus } from './census.ts'
export { createGateway } from './gateway.ts'
export { createPeerRegistry } from './peers.ts'
export { createRegistryHub, type Registry, type RegistryHub } from './registry.ts'
export { createRouter } from './router.ts'
