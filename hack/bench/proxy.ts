/**
 * The proxy: `node hack/bench/proxy.ts [scene …] [--count N]`, more by `--help`. App, pipe, peer, kas and proxy are processes of their own,
 * beside a control plane; the same client asks without anything between, through a bare pipe of node:http and through the proxy of
 * JupyterHub, which know nobody, and through the proxy with a session.
 */

import { PARTS } from './proxy/parts.ts'
import { bodies, small, tunnel } from './proxy/requests.ts'
import { routes } from './proxy/routes.ts'
import { openSetup, type Setup } from './proxy/setup.ts'
import { revoked, sockets, streaming } from './proxy/sockets.ts'
import { upgrades } from './proxy/upgrades.ts'
import { playBench, type Scene } from './scenes.ts'

const scenes: Record<string, Scene<Setup>> = {
  small: { count: 5, about: 'seconds of small requests by 10, 50 and 200 connections', play: small },
  bodies: { count: 5, about: 'seconds of bodies of 1 MB, down and up', play: bodies },
  sockets: { count: 5, about: 'seconds of echoes over WebSocket, small and of 1 MB', play: sockets },
  streaming: { count: 500, about: 'WebSockets at 40 KB/s each way', play: streaming },
  routes: { count: 5000, about: 'workspaces, beside which hosts come and go', play: routes },
  revoked: { count: 1000, about: 'open streams whose share is taken away', play: revoked },
  tunnel: { count: 5, about: 'seconds of requests directly, and through kas and agentw', play: tunnel },
  upgrades: { count: 10_000, about: 'upgrades given up, to a port where nobody listens', play: upgrades },
}

const [flag, part = '', ...given] = process.argv.slice(2)
await (flag === '--part'
  ? PARTS[part]?.(given)
  : playBench({ command: 'hack/bench/proxy.ts', programs: 'app, pipe, peer, kas and proxy', scenes, open: openSetup }))
