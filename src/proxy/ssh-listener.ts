import { createAnswers, type Kube } from '../adapters/kube/index.ts'
import { type SshServer, serveSsh } from '../adapters/ssh/index.ts'
import { ConfigMaps, type Ref, SSH_GATEWAY } from '../api/index.ts'
import type { ProxyConfig } from './config.ts'
import type { Foundation, Services } from './services.ts'
import { writeInto } from './session/index.ts'
import {
  createCertificates,
  createInside,
  createSessionOfToken,
  createSshDoor,
  knownHost,
  NO_KNOWN_HOST,
  obtainHostKey,
  openAuthority,
} from './ssh/index.ts'

/** One address has so many people behind it as a household or an office. */
const BEFORE_LOGIN = { connections: 512, connectionsPerAddress: 64 }

type SshParts = Pick<Services, 'streams' | 'sessions' | 'activity' | 'mayOpen' | 'isProxy'>

/** Serves SSH, where the settings say so. */
export async function openSsh(
  config: ProxyConfig,
  foundation: Foundation,
  { streams, sessions, activity, mayOpen, isProxy }: SshParts,
): Promise<SshServer | undefined> {
  const { ssh, homeNamespace, maxConnections, longestSession, refuseLocalTargets: refuseLocal } = config
  const { caches, workspaces, routes, clock, log } = foundation
  const { kube } = caches
  const gateway = { name: SSH_GATEWAY, namespace: homeNamespace }
  if (!ssh) return void (await withdraw(kube, gateway))
  const hostKey = await obtainHostKey(kube, homeNamespace, log)
  await writeInto(kube, gateway, knownHost(hostKey, ssh.address, ssh.certificatesFor))
  const reach = { reach: { refuseLocal, own: kube.server, answers: createAnswers(clock) } }
  const inside = createInside({ kube, workspaces, reach })
  const door = createSshDoor({
    find: (ref) => routes.workspace(workspaces.get(ref)?.metadata.uid ?? ''),
    sessionOf: createSessionOfToken(kube, longestSession, clock),
    takesTokens: ssh.takesTokens,
    certificates: await openCertificates(config, foundation, sessions),
    ...{ routes, inside, mayOpen, streams, activity, clock, log },
  })
  return serveSsh({
    ...{ address: ssh.listen, hostKey, door, beforeLogin: BEFORE_LOGIN, isShared: isProxy, maxConnections, clock, log },
  })
}

async function openCertificates(
  { ssh, homeNamespace: namespace }: ProxyConfig,
  { caches, authorities: cache, clock, log, open }: Foundation,
  sessions: Services['sessions'],
) {
  if (!cache || ssh?.certificatesFor === undefined) return
  const authority = await openAuthority(caches.kube, { cache, namespace }, clock, log)
  open.push(authority.stop)
  return createCertificates({ authority, longest: ssh.certificatesFor, sessions, clock })
}

/** Nobody is told a way in that is closed; the host key stays, for when it is opened again. */
async function withdraw(kube: Kube, gateway: Ref): Promise<void> {
  const { data = {} } = (await kube.get(ConfigMaps, gateway)) ?? {}
  if (Object.keys(NO_KNOWN_HOST).some((key) => data[key] !== undefined)) await writeInto(kube, gateway, NO_KNOWN_HOST)
}
