/**
 * Requests to agents, wherever they are connected. The kas that gets a request is the only one that decides where it goes (router.ts);
 * a kas that another one asks uses its own tunnels only (gateway.ts). All others are known by their names (peers.ts), and asked;
 * where there is Redis those first that it names (redis-registry.ts), to which each tells its own agents (agent-entries.ts). Read router.ts
 * first, then gateway.ts, and routed.ts for who may say what when; census.ts asks all of them who is connected.
 */

export { channelOf } from './agent-entries.ts'
export { answerCensus, type Connected, createCensus } from './census.ts'
export { createGateway } from './gateway.ts'
export { createPeerRegistry, type PeerRegistry } from './peers.ts'
export { type ConnectionNews, createRedisRegistry } from './redis-registry.ts'
export { createRouter } from './router.ts'
