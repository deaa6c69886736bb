import { hours, type LogLevel, readSettings, seconds, wrongSetting } from '../std/index.ts'

export interface Config {
  /** --kubeconfig FILE, else KUBECONFIG, the pod's service account, ~/.kube/config. */
  kubeconfig: string | undefined
  /** --context NAME: of the kubeconfig. */
  context: string | undefined
  /** --namespace NS, BERTH_WATCH_NAMESPACE: know the workspaces of one namespace only; all without it. */
  namespace: string | undefined
  /** --home-namespace NS, BERTH_NAMESPACE: where all proxies of an installation keep their keys. */
  homeNamespace: string
  /** --listen HOST:PORT, BERTH_LISTEN: for browsers. Port 0 lets the kernel choose. */
  listen: string
  /**
   * --authorize HOST:PORT and --authorize-callers CIDRS, BERTH_AUTHORIZE, BERTH_AUTHORIZE_CALLERS: where ingresses ask whether a request
   * may pass, and from which addresses. Nobody asks without them.
   */
  authorize: { listen: string; callers: string[] } | undefined
  /** --operations HOST:PORT, BERTH_OPERATIONS: /livez, /readyz and /metrics. */
  operations: string
  /** --tls-cert FILE and --tls-key FILE, BERTH_TLS_CERT, BERTH_TLS_KEY: PEM; without them something before the proxy ends TLS. */
  tls: { certificate: string; key: string } | undefined
  /** --url URL, BERTH_URL: the one host where people sign in, such as https://sign-in.workspaces.example.com. Only its host counts. */
  host: string
  oidc: {
    /** --oidc-issuer URL, BERTH_OIDC_ISSUER: the identity provider. Plain http only on loopback. */
    issuer: string
    /** --oidc-client-id ID, BERTH_OIDC_CLIENT_ID */
    clientId: string
    /** --oidc-client-secret FILE, BERTH_OIDC_CLIENT_SECRET: without it the client is a public one. */
    clientSecret: string | undefined
    /** --oidc-scopes LIST, BERTH_OIDC_SCOPES */
    scopes: string[]
  }
  identity: {
    /** --oidc-username-claim NAME, BERTH_OIDC_USERNAME_CLAIM: all four as the API server has them, so that names are the same. */
    usernameClaim: string
    /** --oidc-username-prefix TEXT, BERTH_OIDC_USERNAME_PREFIX: without it the issuer and `#`, except for email; `-` for none. */
    usernamePrefix: string | undefined
    /** --oidc-groups-claim NAME, BERTH_OIDC_GROUPS_CLAIM */
    groupsClaim: string | undefined
    /** --oidc-groups-prefix TEXT, BERTH_OIDC_GROUPS_PREFIX */
    groupsPrefix: string
  }
  /** --session-hours N, BERTH_SESSION_HOURS: the longest session; what the provider says may be shorter. In milliseconds here. */
  longestSession: number
  /**
   * --kas HOST:PORT, BERTH_KAS, --kas-token FILE, BERTH_KAS_TOKEN, and --kas-ca FILE, BERTH_KAS_CA: for workspaces whose pods open
   * tunnels to kas. Those are not reached without it.
   */
  kas: { address: string; tokenFile: string; ca: string | undefined } | undefined
  /** --trusted-proxies CIDRS, BERTH_TRUSTED_PROXIES: whose X-Forwarded-For is believed. Nobody's without it. */
  trustedProxies: string[]
  /** --no-dashboard, BERTH_NO_DASHBOARD=true: the host for signing in shows nothing else. */
  hasDashboard: boolean
  /** --refuse-local-targets, BERTH_REFUSE_LOCAL_TARGETS=true: as the operator's; logs and events are asked of targets. */
  refuseLocalTargets: boolean
  /** --access-reviews, BERTH_ACCESS_REVIEWS=true: whom the cluster's roles let `open` a Workspace gets into it. */
  accessReviews: boolean
  /** --pass-authorization, BERTH_PASS_AUTHORIZATION=true: workspaces get the Authorization header. */
  passAuthorization: boolean
  /** --max-connections N, BERTH_MAX_CONNECTIONS: of browsers at once. */
  maxConnections: number
  /** --listen-grace SECONDS, BERTH_LISTEN_GRACE: how long requests are still taken when the proxy ends. In milliseconds here. */
  listenGrace: number
  /** --session-grace SECONDS, BERTH_SESSION_GRACE: how long what is open goes on after that. In milliseconds here. */
  sessionGrace: number
  /** --log-level debug|info|warn|error, BERTH_LOG_LEVEL */
  logLevel: LogLevel
}

export type Flags = Readonly<Record<string, string | boolean | undefined>>

/** Flags win over variables, variables over defaults. Errors name the setting. */
export function parseConfig(flags: Flags, env: Record<string, string | undefined>): Config {
  const { text, isOn, address, count, list, logLevel } = readSettings({ flags, env })
  const needed = (key: string, flag: string, variable: string, remedy: string): string => {
    const given = text(key, variable)
    if (given === undefined) throw wrongSetting(flag, '', remedy)
    return given
  }
  const callers = list('authorizeCallers', 'BERTH_AUTHORIZE_CALLERS')
  const prefix = text('oidcUsernamePrefix', 'BERTH_OIDC_USERNAME_PREFIX')
  return {
    kubeconfig: text('kubeconfig'),
    context: text('context'),
    namespace: text('namespace', 'BERTH_WATCH_NAMESPACE'),
    homeNamespace: text('homeNamespace', 'BERTH_NAMESPACE') ?? 'berth-system',
    listen: address('listen', 'BERTH_LISTEN', '127.0.0.1:8180'),
    authorize: authorize(text('authorize', 'BERTH_AUTHORIZE') && address('authorize', 'BERTH_AUTHORIZE', ''), callers),
    operations: address('operations', 'BERTH_OPERATIONS', '127.0.0.1:8181'),
    tls: tls(text('tlsCert', 'BERTH_TLS_CERT'), text('tlsKey', 'BERTH_TLS_KEY')),
    host: hostIn(
      needed('url', '--url', 'BERTH_URL', 'Write where people sign in, such as https://sign-in.workspaces.example.com.'),
    ),
    oidc: {
      issuer: issuer(needed('oidcIssuer', '--oidc-issuer', 'BERTH_OIDC_ISSUER', 'Write the URL of the identity provider.')),
      clientId: needed(
        'oidcClientId',
        '--oidc-client-id',
        'BERTH_OIDC_CLIENT_ID',
        'Write the id that the provider knows the proxy by.',
      ),
      clientSecret: text('oidcClientSecret', 'BERTH_OIDC_CLIENT_SECRET'),
      scopes: [...new Set(['openid', ...list('oidcScopes', 'BERTH_OIDC_SCOPES', 'profile,email')])],
    },
    identity: {
      usernameClaim: text('oidcUsernameClaim', 'BERTH_OIDC_USERNAME_CLAIM') ?? 'sub',
      usernamePrefix: prefix === '-' ? '' : prefix,
      groupsClaim: text('oidcGroupsClaim', 'BERTH_OIDC_GROUPS_CLAIM'),
      groupsPrefix: text('oidcGroupsPrefix', 'BERTH_OIDC_GROUPS_PREFIX') ?? '',
    },
    longestSession: hours(count('sessionHours', 'BERTH_SESSION_HOURS', { otherwise: 12, most: 720 })),
    kas: kas(text('kas', 'BERTH_KAS'), text('kasToken', 'BERTH_KAS_TOKEN'), text('kasCa', 'BERTH_KAS_CA')),
    trustedProxies: list('trustedProxies', 'BERTH_TRUSTED_PROXIES'),
    hasDashboard: !(flags.dashboard === false || isOn('noDashboard', 'BERTH_NO_DASHBOARD')),
    refuseLocalTargets: isOn('refuseLocalTargets', 'BERTH_REFUSE_LOCAL_TARGETS'),
    accessReviews: isOn('accessReviews', 'BERTH_ACCESS_REVIEWS'),
    passAuthorization: isOn('passAuthorization', 'BERTH_PASS_AUTHORIZATION'),
    maxConnections: count('maxConnections', 'BERTH_MAX_CONNECTIONS', { otherwise: 20_000 }),
    listenGrace: seconds(count('listenGrace', 'BERTH_LISTEN_GRACE', { otherwise: 0, least: 0, most: 300 })),
    sessionGrace: seconds(count('sessionGrace', 'BERTH_SESSION_GRACE', { otherwise: 60, least: 0, most: 86_400 })),
    logLevel: logLevel(),
  }
}

/** Whoever is believed has to be named: what an ingress says of a request is as good as the request. */
function authorize(listen: string | undefined, callers: string[]): Config['authorize'] {
  if (listen && callers.length > 0) return { listen, callers }
  if (!listen && callers.length === 0) return undefined
  throw wrongSetting(
    listen ? '--authorize-callers' : '--authorize',
    '',
    'Give --authorize and --authorize-callers together, or neither.',
  )
}

function tls(certificate: string | undefined, key: string | undefined): Config['tls'] {
  if (certificate && key) return { certificate, key }
  if (!(certificate || key)) return undefined
  throw wrongSetting(key ? '--tls-cert' : '--tls-key', '', 'Give --tls-cert and --tls-key together, or neither.')
}

/** TLS where there is an authority to check it by, as the operator has it. */
function kas(given: string | undefined, tokenFile: string | undefined, ca: string | undefined): Config['kas'] {
  if (given === undefined) return undefined
  if (!/^[^\s/,@]+:\d{1,5}$/.test(given)) throw wrongSetting('--kas', given, 'Write it like --kas kas.berth-system.svc:8150.')
  if (tokenFile === undefined)
    throw wrongSetting('--kas-token', '', 'Give --kas-token too: kas must know by what to tell the proxy from others.')
  return { address: ca === undefined ? given : `grpcs://${given}`, tokenFile, ca }
}

/** Cookies and redirects are for https alone. */
function hostIn(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url?.protocol === 'https:' && url.pathname === '/' && url.username === '' && url.search === '') return url.host
  throw wrongSetting('--url', given, 'Write https:// and a host, such as https://sign-in.workspaces.example.com.')
}

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/

/** Kept as it was written: it is part of people's names. */
function issuer(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname))) return given
  throw wrongSetting('--oidc-issuer', given, 'Write the https:// URL of the identity provider, as its tokens name it.')
}
