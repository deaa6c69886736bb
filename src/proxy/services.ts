import { connectProvider, createTickets, type TicketKeys } from '../adapters/auth/index.ts'
import { readOptional } from '../adapters/files/index.ts'
import { createForwarder, type Metrics } from '../adapters/http/index.ts'
import { type Cache, type Caches, createCaches, type Kube } from '../adapters/kube/index.ts'
import type { ConfigMap, CoreSecret, Workspace } from '../api/index.ts'
import { createDashboard } from '../dashboard/index.ts'
import { createPermissions, type Permissions } from '../engines/permissions/index.ts'
import { type Clock, type Log, Secret } from '../std/index.ts'
import type { ProxyConfig } from './config.ts'
import { askDashboard } from './dashboard.ts'
import { createMayOpen } from './may-open.ts'
import { createMeters } from './meters.ts'
import { createActivity, createConsultation, createLinkAnswer, createReception, createStreams } from './reception/index.ts'
import {
  CONNECTIONS,
  createArrivals,
  createSessions,
  createSignIn,
  createSignOuts,
  publishConnections,
  SIGN_OUTS,
} from './session/index.ts'
import { createStarter } from './start-workspace.ts'
import { addressesIn, createVisitorOf } from './visitor.ts'
import type { RouteTable } from './web/ports.ts'

export interface Frame {
  log: Log
  clock: Clock
  /** Closes what is open, the last first, when the program ends. */
  open: (() => unknown)[]
  /** Aborts when the program stops. */
  signal: AbortSignal
}

export interface Foundation extends Frame {
  caches: Caches
  metrics: Metrics
  routes: RouteTable
  keys: TicketKeys
  signOuts: Cache<ConfigMap>
  connections: Cache<ConfigMap>
  workspaces: Cache<Workspace>
  /** Of the key that signs certificates for SSH, where there are any. */
  authorities: Cache<CoreSecret> | undefined
  isStopping: () => boolean
}

export type Services = Awaited<ReturnType<typeof buildServices>>

/** Builds what answers requests, and hands each part what it needs of the others. */
export async function buildServices(config: ProxyConfig, foundation: Foundation) {
  const { caches, metrics, routes, keys, isStopping, log, clock, open } = foundation
  const { host, oidc, homeNamespace: namespace, longestSession: longest, passAuthorization } = config
  const { kube } = caches
  const meters = createMeters(metrics)
  const tickets = createTickets({ keys, issuer: `https://${host}`, clock })
  const signOuts = createSignOuts(kube, { cache: foundation.signOuts, namespace, longest }, clock)
  const sessions = createSessions(tickets, signOuts, clock)
  const provider = await providerOf(config, clock)
  const identity = { ...config.identity, issuer: oidc.issuer }
  const permissions = config.hasDashboard || config.accessReviews ? openPermissions(config, foundation) : undefined
  const dashboard = config.hasDashboard && permissions ? await openDashboard(config, foundation, permissions) : undefined
  const home = dashboard && askDashboard(dashboard, sessions, clock)
  const signIn = createSignIn({ host, provider, identity, tickets, sessions, signOuts, routes, longest, clock, home })
  const { depart, ownPaths } = createArrivals(host, tickets, sessions, clock)
  const roles = config.accessReviews ? permissions : undefined
  const mayOpen = roles && createMayOpen(roles)
  const streams = createStreams({ routes, sessions, mayOpen, onRoles: roles?.onChange, clock }, meters.cut)
  const connections = { cache: foundation.connections, namespace, streams, routes }
  const published = publishConnections(kube, connections, clock, log)
  const activity = createActivity(kube, routes, clock, log)
  const forwarder = createForwarder()
  for (const { stop } of [streams, published, activity, forwarder]) open.push(stop)
  meters.watch({ hosts: () => routes.size, streams: () => streams.size, viewers: () => dashboard?.viewers ?? 0 })
  const own = { ...ownPaths, link: createLinkAnswer(clock), start: createStarter(kube, sessions, clock, log) }
  const admission = { routes, sessions, mayOpen, signInHost: host, signIn, depart, ownPaths: own, clock, log }
  const shared = { ...admission, activity, passAuthorization }
  const isProxy = addressesIn(config.trustedProxies, '--trusted-proxies')
  const isCaller = addressesIn(config.authorize?.callers ?? [], '--authorize-callers')
  const visitorOf = createVisitorOf(isProxy)
  const visitorOfCaller = createVisitorOf((address) => isCaller(address) || isProxy(address))
  return {
    ...{ streams, sessions, activity, mayOpen, isProxy },
    ...createReception({ ...shared, done: meters.done, forwarder, streams, visitorOf, isStopping }),
    consultation: createConsultation({ ...shared, done: meters.consulted, isCaller, visitorOf: visitorOfCaller }),
  }
}

/** Of the cluster's roles. They are watched apart: where the proxy may not do that, it serves nevertheless. */
function openPermissions(
  { namespace: scope }: ProxyConfig,
  { caches: { kube, memory }, log, clock, open }: Foundation,
): Permissions {
  const caches = createCaches({ kube, clock, log, scope, memory })
  const permissions = createPermissions({ kube, caches, clock })
  open.push(async () => {
    permissions.stop()
    await caches.stop()
  })
  return permissions
}

async function openDashboard(
  { host, namespace: scope, refuseLocalTargets: refusesLocal, homeNamespace: namespace, longestSession: longest }: ProxyConfig,
  { caches, workspaces, connections, signOuts: cache, log, clock, open, signal }: Foundation,
  permissions: Permissions,
) {
  const { kube, memory } = caches
  const dashboard = await createDashboard({
    ...{ origin: `https://${host}`, kube, workspaces, permissions, scope, memory, refusesLocal, clock, log },
    as: ({ user, groups }) => caches.through(kube.as({ user, groups: [...groups] })),
    connections: {
      cache: connections,
      ref: { name: CONNECTIONS, namespace },
      signOutsRef: { name: SIGN_OUTS, namespace },
      signOut: (theirs: Kube, user: string) => createSignOuts(theirs, { cache, namespace, longest }, clock).record(user),
    },
  })
  open.push(() => dashboard.stop())
  // Pages that are kept up to date would use up the grace of the connections by which people work.
  signal.addEventListener('abort', () => dashboard.hangUp(), { once: true })
  return dashboard
}

async function providerOf({ oidc, host }: ProxyConfig, clock: Clock) {
  const text = await readOptional(oidc.clientSecret, '--oidc-client-secret')
  const clientSecret = text && new Secret(text.toString().trim())
  const ca = (await readOptional(oidc.ca, '--oidc-ca'))?.toString()
  return connectProvider({ ...oidc, clientSecret, ca, redirectUri: `https://${host}/callback`, clock })
}
