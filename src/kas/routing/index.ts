/**
 * Requests to agents, wherever they are connected. The kas that gets a request is the only one that decides where it goes (router.ts);
 * a kas that another one asks uses its own tunnels only (gateway.ts). Nobody keeps a list of which kas has which agent: all others are
 * asked, and they are known by their names (peers.ts). Read router.ts first, then gateway.ts, and routed.ts for who may say what when;
 * census.ts asks all of them who is connected.
 */
export { answerCensus, type Connected, createCensus } from './census.ts'
export { createGateway } from './gateway.ts'
export { createPeerRegistry, type PeerRegistry } from './peers.ts'
export { createRouter } from './router.ts'
