import { connectProvider, createTickets, type TicketKeys } from '../adapters/auth/index.ts'
import { readNamed } from '../adapters/files/index.ts'
import { createForwarder, type Metrics } from '../adapters/http/index.ts'
import type { Cache, Caches, Kube } from '../adapters/kube/index.ts'
import type { ConfigMap, Workspace } from '../api/index.ts'
import { createDashboard } from '../dashboard/index.ts'
import type { Person } from '../engines/access/index.ts'
import { type Clock, type Log, Secret } from '../std/index.ts'
import { createActivity } from './activity/index.ts'
import type { Config } from './config.ts'
import { CONNECTIONS, keepRoll } from './connections/index.ts'
import { createFront } from './front/index.ts'
import { createMeters } from './meters.ts'
import { notices, say } from './pages/index.ts'
import type { Routes } from './ports.ts'
import { createConsultation, createReception } from './reception/index.ts'
import { createRights } from './rights/index.ts'
import {
  createArrivals,
  createLinkDoor,
  createSessions,
  createSignIn,
  createSignOuts,
  harmlessCookie,
  linksOf,
  SIGN_OUTS,
  withoutOwn,
} from './session/index.ts'
import { createStartDoor } from './start/index.ts'
import { createStreams } from './streams/index.ts'
import { addressesIn, createVisitorOf } from './visitor.ts'

export interface Furnishing {
  caches: Caches
  metrics: Metrics
  routes: Routes
  keys: TicketKeys
  signOuts: Cache<ConfigMap>
  connections: Cache<ConfigMap>
  /** With the index that the dashboard needs. */
  workspaces: Cache<Workspace>
  /** Gets what closes again what was opened. */
  open: (() => Promise<void>)[]
  isStopping: () => boolean
  /** Aborts when the program stops. */
  signal: AbortSignal
  clock: Clock
  log: Log
}

/** Builds the rooms and hands each what it needs of the others. */
export async function furnish(config: Config, furnishing: Furnishing) {
  const { caches, metrics, routes, keys, signOuts: cache, isStopping, log, clock, open } = furnishing
  const { host, oidc, homeNamespace: namespace, longestSession: longest } = config
  const { kube } = caches
  const meters = createMeters(metrics)
  const tickets = createTickets({ keys, issuer: `https://${host}`, clock })
  const signOuts = createSignOuts({ kube, cache, namespace, longest, clock })
  const sessions = createSessions({ tickets, signOuts, clock })
  const provider = await providerOf(config, clock)
  const identity = { ...config.identity, issuer: oidc.issuer }
  const dashboard = config.hasDashboard ? await openDashboard(config, furnishing) : undefined
  const home = dashboard && createFront({ dashboard, sessions, clock })
  const signIn = createSignIn({ host, provider, identity, tickets, sessions, signOuts, routes, longest, say, clock, home })
  const arrivals = createArrivals({ signInHost: host, tickets, sessions, say, clock })
  const rights = config.accessReviews ? createRights(kube, clock) : undefined
  const streams = createStreams({ routes, sessions, rights, onCut: meters.cut, clock })
  open.push(async () => streams.stop())
  const roll = keepRoll({ kube, cache: furnishing.connections, namespace, streams, routes, clock, log })
  open.push(() => roll.stop())
  const activity = createActivity({ kube, routes, clock, log })
  open.push(() => activity.stop())
  const forwarder = createForwarder()
  open.push(() => forwarder.stop())
  meters.watch({ hosts: () => routes.size, streams: () => streams.size, viewers: () => dashboard?.viewers ?? 0 })
  const start = createStartDoor({ sessions, kube, say, clock, log })
  const desk = {
    ...{ routes, sessions, rights, linksOf, notices, say, clock, log, meters },
    own: {
      signInHost: host,
      signIn,
      depart: arrivals.depart,
      doors: { ...arrivals.doors, link: createLinkDoor({ say, clock }), start },
    },
    passAuthorization: config.passAuthorization,
    used: activity.used,
  }
  const isProxy = addressesIn(config.trustedProxies, '--trusted-proxies')
  const isCaller = addressesIn(config.authorize?.callers ?? [], '--authorize-callers')
  const reception = createReception({
    ...{ ...desk, forwarder, isStopping, enter: streams.enter, lineOpened: activity.lineOpened },
    cookies: { onward: withoutOwn, back: harmlessCookie },
    visitorOf: createVisitorOf(isProxy),
  })
  const visitorOf = createVisitorOf((address) => isCaller(address) || isProxy(address))
  return { ...reception, consultation: createConsultation({ ...desk, withoutOwn, isCaller, visitorOf }) }
}

async function openDashboard(
  { host, namespace: scope, refuseLocalTargets: refusesLocal, homeNamespace: namespace, longestSession: longest }: Config,
  { caches, workspaces, connections, signOuts, log, clock, open, signal }: Furnishing,
) {
  const { kube } = caches
  const as = ({ user, groups }: Person) => caches.through(kube.as({ user, groups: [...groups] }))
  const roll = {
    cache: connections,
    ref: { name: CONNECTIONS, namespace },
    signOutsRef: { name: SIGN_OUTS, namespace },
    signOut: (theirs: Kube, user: string) =>
      createSignOuts({ kube: theirs, cache: signOuts, namespace, longest, clock }).record(user),
  }
  const dashboard = await createDashboard({
    origin: `https://${host}`,
    kube,
    as,
    workspaces,
    roll,
    scope,
    memory: caches.memory,
    refusesLocal,
    clock,
    log,
  })
  open.push(() => dashboard.stop())
  // What is kept up to date would last as long as the grace of those that work.
  signal.addEventListener('abort', () => dashboard.hangUp(), { once: true })
  return dashboard
}

async function providerOf({ oidc, host }: Config, clock: Clock) {
  const { clientSecret: file, issuer, clientId, scopes } = oidc
  const text = file === undefined ? undefined : (await readNamed(file, '--oidc-client-secret')).toString('utf8').trim()
  const clientSecret = text === undefined ? undefined : new Secret(text)
  return connectProvider({ issuer, clientId, clientSecret, scopes, redirectUri: `https://${host}/callback`, clock })
}
