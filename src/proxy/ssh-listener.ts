import { createAnswers } from '../adapters/kube/index.ts'
import { type SshServer, serveSsh } from '../adapters/ssh/index.ts'
import type { ProxyConfig } from './config.ts'
import type { Foundation, Services } from './services.ts'
import { writeInto } from './session/index.ts'
import { createInside, createSessionOfToken, createSshDoor, HOST_KEY, knownHost, obtainHostKey } from './ssh/index.ts'

/** One address has so many people behind it as a household or an office. */
const BEFORE_LOGIN = { connections: 512, connectionsPerAddress: 64 }

/** Serves SSH, where the settings say so. */
export async function openSsh(
  { ssh, homeNamespace, maxConnections, longestSession, refuseLocalTargets: refuseLocal }: ProxyConfig,
  { caches, workspaces, routes, clock, log }: Foundation,
  { streams, activity, mayOpen, isProxy }: Pick<Services, 'streams' | 'activity' | 'mayOpen' | 'isProxy'>,
): Promise<SshServer | undefined> {
  if (!ssh) return undefined
  const { kube } = caches
  const hostKey = await obtainHostKey(kube, homeNamespace, log)
  await writeInto(kube, { name: HOST_KEY, namespace: homeNamespace }, knownHost(hostKey, ssh.address))
  const reach = { reach: { refuseLocal, own: kube.server, answers: createAnswers(clock) } }
  const inside = createInside({ kube, workspaces, reach })
  const door = createSshDoor({
    find: (ref) => routes.workspace(workspaces.get(ref)?.metadata.uid ?? ''),
    sessionOf: ssh.takesTokens ? createSessionOfToken(kube, longestSession, clock) : undefined,
    ...{ routes, inside, mayOpen, streams, activity, clock, log },
  })
  return serveSsh({
    ...{ address: ssh.listen, hostKey, door, beforeLogin: BEFORE_LOGIN, isShared: isProxy, maxConnections, clock, log },
  })
}
