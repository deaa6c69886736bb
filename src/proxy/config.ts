import {
  anyText,
  CLUSTER_SETTINGS,
  type EnvironmentVariables,
  type Flags,
  hostAndPort,
  hours,
  integer,
  logLevel,
  optional,
  readSettings,
  required,
  setting,
  tlsFiles,
  toggle,
  wholeSeconds,
  words,
  wrongSetting,
} from '../std/index.ts'

/** All that the proxy can be told. Times are milliseconds in its Config. */
// biome-ignore format: a setting has two lines, how it is given and what it is for.
export const SETTINGS = {
  ...CLUSTER_SETTINGS,
  namespace: optional('--namespace <name>', 'BERTH_WATCH_NAMESPACE', anyText,
    'know the workspaces of one namespace only'),
  homeNamespace: setting('--home-namespace <name>', 'BERTH_NAMESPACE', anyText, 'berth-system',
    'where all proxies of an installation keep their keys'),

  host: required('--url <url>', 'BERTH_URL', hostIn,
    'the one host where people sign in, such as https://sign-in.workspaces.example.com'),
  issuer: required('--oidc-issuer <url>', 'BERTH_OIDC_ISSUER', issuerIn,
    'the identity provider; plain http only on loopback'),
  clientId: required('--oidc-client-id <id>', 'BERTH_OIDC_CLIENT_ID', anyText,
    'what the provider knows the proxy by'),
  clientSecret: optional('--oidc-client-secret <file>', 'BERTH_OIDC_CLIENT_SECRET', anyText,
    'its secret; without it the client is a public one'),
  oidcCa: optional('--oidc-ca <file>', 'BERTH_OIDC_CA', anyText,
    'certificate authorities of the provider, PEM; those of the system without it'),
  scopes: setting('--oidc-scopes <list>', 'BERTH_OIDC_SCOPES', words, 'profile,email',
    'beside openid'),
  // All four as the API server has them, so that names are the same.
  usernameClaim: setting('--oidc-username-claim <name>', 'BERTH_OIDC_USERNAME_CLAIM', anyText, 'sub',
    "as the API server's setting of this name"),
  usernamePrefix: optional('--oidc-username-prefix <text>', 'BERTH_OIDC_USERNAME_PREFIX', prefixIn,
    "as the API server's; - for none (default: the issuer and #, except for email)"),
  groupsClaim: optional('--oidc-groups-claim <name>', 'BERTH_OIDC_GROUPS_CLAIM', anyText,
    "as the API server's; nobody is in a group without it"),
  groupsPrefix: setting('--oidc-groups-prefix <text>', 'BERTH_OIDC_GROUPS_PREFIX', anyText, '',
    "as the API server's"),
  longestSession: setting('--session-hours <number>', 'BERTH_SESSION_HOURS', wholeHours, '12',
    'the longest session; the provider may say less'),

  listen: setting('--listen <host:port>', 'BERTH_LISTEN', hostAndPort, '127.0.0.1:8180',
    'for browsers'),
  tlsCert: optional('--tls-cert <file>', 'BERTH_TLS_CERT', anyText,
    'certificate for all hosts, PEM; without it TLS ends before the proxy'),
  tlsKey: optional('--tls-key <file>', 'BERTH_TLS_KEY', anyText,
    'key of the certificate, PEM'),
  operations: setting('--operations <host:port>', 'BERTH_OPERATIONS', hostAndPort, '127.0.0.1:8181',
    '/livez, /readyz, /metrics'),
  authorize: optional('--authorize <host:port>', 'BERTH_AUTHORIZE', hostAndPortOrNone,
    'where ingresses ask whether a request may pass (default: nowhere)'),
  authorizeCallers: setting('--authorize-callers <ranges>', 'BERTH_AUTHORIZE_CALLERS', words, '',
    'from which addresses they may'),
  sshListen: optional('--ssh-listen <host:port>', 'BERTH_SSH_LISTEN', hostAndPortOrNone,
    'for SSH: keys of owners let into workspaces (default: nowhere)'),
  sshAddress: optional('--ssh-address <host[:port]>', 'BERTH_SSH_ADDRESS', hostForPeople,
    'what people type for SSH, told with the host key in the ConfigMap berth-proxy-ssh'),
  sshTokens: toggle('--ssh-tokens', 'BERTH_SSH_TOKENS',
    'take tokens of the cluster as passwords over SSH, too'),
  sshCertificatesFor: optional('--ssh-certificates-for <hours>', 'BERTH_SSH_CERTIFICATES_FOR', hoursOrNone,
    'give whoever shows a token a certificate for SSH, for so long at most; no longer than --session-hours (default: none are given)'),
  trustedProxies: setting('--trusted-proxies <ranges>', 'BERTH_TRUSTED_PROXIES', words, '',
    'whose X-Forwarded-For is believed (default: nobody’s)'),

  kas: optional('--kas <host:port>', 'BERTH_KAS', kasAddress,
    'kas, for workspaces whose pods open tunnels to it'),
  kasToken: optional('--kas-token <file>', 'BERTH_KAS_TOKEN', anyText,
    'proves to kas that it is the proxy; read again for each connection'),
  kasCa: optional('--kas-ca <file>', 'BERTH_KAS_CA', anyText,
    'certificate authority of kas; plain text without it'),
  refuseLocalTargets: toggle('--refuse-local-targets', 'BERTH_REFUSE_LOCAL_TARGETS',
    'ask no target in the networks of this machine for logs and events'),

  hasDashboard: toggle('--no-dashboard', 'BERTH_NO_DASHBOARD',
    'show people nothing but what they sign in for'),
  accessReviews: toggle('--access-reviews', 'BERTH_ACCESS_REVIEWS',
    'let in whom the roles of the cluster let open a Workspace'),
  passAuthorization: toggle('--pass-authorization', 'BERTH_PASS_AUTHORIZATION',
    'give workspaces the Authorization header of requests'),
  maxConnections: setting('--max-connections <number>', 'BERTH_MAX_CONNECTIONS', integer(), '20000',
    'of browsers at once'),
  listenGrace: setting('--listen-grace <seconds>', 'BERTH_LISTEN_GRACE', wholeSeconds(0, 300), '0',
    'how long requests are still taken when it ends'),
  sessionGrace: setting('--session-grace <seconds>', 'BERTH_SESSION_GRACE', wholeSeconds(0, 86_400), '60',
    'how long open requests and WebSockets go on when the proxy ends, after --listen-grace; kas has its own flag'),
  logLevel: setting('--log-level <level>', 'BERTH_LOG_LEVEL', logLevel, 'info',
    'debug, info, warn or error'),
}

export type ProxyConfig = ReturnType<typeof parseConfig>

export function parseConfig(flags: Flags, env: EnvironmentVariables) {
  const settings = readSettings(SETTINGS, flags, env)
  const { authorize, authorizeCallers, tlsCert, tlsKey, kas, kasToken, kasCa, ...given } = settings
  const { sshListen, sshAddress, sshTokens, sshCertificatesFor, ...rest } = given
  const { issuer, clientId, clientSecret, oidcCa, scopes, usernameClaim, usernamePrefix, groupsClaim, groupsPrefix, ...others } =
    rest
  return {
    ...others,
    authorize: authorizeOf(authorize, authorizeCallers),
    ssh: sshOf(given),
    tls: tlsFiles(tlsCert, tlsKey),
    oidc: { issuer, clientId, clientSecret, ca: oidcCa, scopes: [...new Set(['openid', ...scopes])] },
    identity: { usernameClaim, usernamePrefix, groupsClaim, groupsPrefix },
    kas: kasOf(kas, kasToken, kasCa),
  }
}

/** Callers have to be named: what an ingress says of a request is as good as the request. */
function authorizeOf(listen: string | undefined, callers: string[]): { listen: string; callers: string[] } | undefined {
  if (listen && callers.length > 0) return { listen, callers }
  if (!listen && callers.length === 0) return undefined
  const missing = listen ? '--authorize-callers' : '--authorize'
  throw wrongSetting(missing, '', 'Give --authorize and --authorize-callers together, or neither.')
}

interface SshSettings {
  sshListen: string | undefined
  sshAddress: ReturnType<typeof hostForPeople>
  sshTokens: boolean
  sshCertificatesFor: number | undefined
  longestSession: number
}

function sshOf({ sshListen, sshAddress, sshTokens, sshCertificatesFor, longestSession }: SshSettings) {
  // When people have signed out is remembered for as long as a session may last.
  if (sshCertificatesFor !== undefined && sshCertificatesFor > longestSession)
    throw wrongSetting('--ssh-certificates-for', String(sshCertificatesFor / hours(1)), 'Write no more than --session-hours has.')
  if (sshListen) return { listen: sshListen, address: sshAddress, takesTokens: sshTokens, certificatesFor: sshCertificatesFor }
  const other = sshTokens ? '--ssh-tokens' : '--ssh-certificates-for'
  if (!sshTokens && sshCertificatesFor === undefined) return
  throw wrongSetting('--ssh-listen', '', `Give --ssh-listen too, or leave ${other} out.`)
}

/** TLS where there is an authority to check it by, as the operator has it. */
function kasOf(given: string | undefined, tokenFile: string | undefined, ca: string | undefined) {
  if (given === undefined) return
  if (tokenFile === undefined)
    throw wrongSetting('--kas-token', '', 'Give --kas-token too: kas must know by what to tell the proxy from others.')
  return { address: ca === undefined ? given : `grpcs://${given}`, tokenFile, ca }
}

function kasAddress(given: string, flag: string): string {
  if (/^[^\s/,@]+:\d{1,5}$/.test(given)) return given
  throw wrongSetting(flag, given, `Write it like ${flag} kas.berth-system.svc:8150.`)
}

/** Cookies and redirects are for https alone. */
function hostIn(given: string, flag: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url?.protocol === 'https:' && url.pathname === '/' && url.username === '' && url.search === '') return url.host
  throw wrongSetting(flag, given, 'Write https:// and a host, such as https://sign-in.workspaces.example.com.')
}

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/

/** Kept as it was written: it is part of people's names. */
function issuerIn(given: string, flag: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname))) return given
  throw wrongSetting(flag, given, 'Write the https:// URL of the identity provider, as its tokens name it.')
}

/** An empty variable is none. */
function hostForPeople(given: string, flag: string): { host: string; port: number } | undefined {
  const [, host, port = '22'] = /^([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)(?::(\d{1,5}))?$/i.exec(given) ?? []
  if (given === '') return undefined
  if (host !== undefined && Number(port) < 65_536) return { host: host.toLowerCase(), port: Number(port) }
  throw wrongSetting(flag, given, 'Write a host, with a port where it is not 22, such as ssh.workspaces.example.com:2222.')
}

/** An empty variable turns it off. */
function hostAndPortOrNone(given: string, flag: string): string {
  return given && hostAndPort(given, flag)
}

/** `-` stands for none, as in the settings of the API server. */
function prefixIn(given: string): string {
  return given === '-' ? '' : given
}

/** An empty variable turns it off. */
function hoursOrNone(given: string, flag: string): number | undefined {
  return given === '' ? undefined : wholeHours(given, flag)
}

function wholeHours(given: string, flag: string): number {
  return hours(integer(1, 720)(given, flag))
}
