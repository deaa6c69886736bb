import { type Command, Option } from 'commander'
import { parseConfig, start } from '../../proxy/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { type ClusterOptions, examples, withCluster } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

const OPTIONS: readonly [flags: string, description: string, variable: string][] = [
  ['--url <url>', 'the one host where people sign in, such as https://sign-in.workspaces.example.com', 'BERTH_URL'],
  ['--oidc-issuer <url>', 'the identity provider', 'BERTH_OIDC_ISSUER'],
  ['--oidc-client-id <id>', 'what the provider knows the proxy by', 'BERTH_OIDC_CLIENT_ID'],
  ['--oidc-client-secret <file>', 'its secret; without it the client is a public one', 'BERTH_OIDC_CLIENT_SECRET'],
  ['--oidc-scopes <list>', 'beside openid (default: profile,email)', 'BERTH_OIDC_SCOPES'],
  ['--oidc-username-claim <name>', "as the API server's setting of this name (default: sub)", 'BERTH_OIDC_USERNAME_CLAIM'],
  ['--oidc-username-prefix <text>', "as the API server's; - for none", 'BERTH_OIDC_USERNAME_PREFIX'],
  ['--oidc-groups-claim <name>', "as the API server's; nobody is in a group without it", 'BERTH_OIDC_GROUPS_CLAIM'],
  ['--oidc-groups-prefix <text>', "as the API server's", 'BERTH_OIDC_GROUPS_PREFIX'],
  ['--session-hours <number>', 'the longest session; the provider may say less (default: 12)', 'BERTH_SESSION_HOURS'],
  ['--listen <host:port>', 'for browsers (default: 127.0.0.1:8180)', 'BERTH_LISTEN'],
  ['--authorize <host:port>', 'where ingresses ask whether a request may pass (default: nowhere)', 'BERTH_AUTHORIZE'],
  ['--authorize-callers <ranges>', 'from which addresses they may', 'BERTH_AUTHORIZE_CALLERS'],
  ['--operations <host:port>', '/livez, /readyz, /metrics (default: 127.0.0.1:8181)', 'BERTH_OPERATIONS'],
  ['--tls-cert <file>', 'certificate for all hosts, PEM; without it TLS ends before the proxy', 'BERTH_TLS_CERT'],
  ['--tls-key <file>', 'key of the certificate, PEM', 'BERTH_TLS_KEY'],
  ['--kas <host:port>', 'kas, for workspaces whose pods open tunnels to it', 'BERTH_KAS'],
  ['--kas-token <file>', 'proves to kas that it is the proxy; read again for each connection', 'BERTH_KAS_TOKEN'],
  ['--kas-ca <file>', 'certificate authority of kas; plain text without it', 'BERTH_KAS_CA'],
  ['--trusted-proxies <ranges>', 'whose X-Forwarded-For is believed (default: nobody’s)', 'BERTH_TRUSTED_PROXIES'],
  ['--max-connections <number>', 'of browsers at once (default: 20000)', 'BERTH_MAX_CONNECTIONS'],
  ['--listen-grace <seconds>', 'how long requests are still taken when it ends (default: 0)', 'BERTH_LISTEN_GRACE'],
  ['--session-grace <seconds>', 'how long what is open goes on after that (default: 60)', 'BERTH_SESSION_GRACE'],
  ['--namespace <name>', 'know the workspaces of one namespace only', 'BERTH_WATCH_NAMESPACE'],
  ['--home-namespace <name>', 'where all proxies keep their keys (default: berth-system)', 'BERTH_NAMESPACE'],
  ['--log-level <level>', 'debug, info, warn or error (default: info)', 'BERTH_LOG_LEVEL'],
]

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withCluster(command).description(
      'Run the proxy: the way of browsers into workspaces. It has people sign in, and lets in whom a workspace is shared with. Its log goes to standard output, one JSON object a line.',
    )
    for (const [flags, description, variable] of OPTIONS) command.addOption(new Option(flags, description).env(variable))
    command
      .option(
        '--refuse-local-targets',
        'ask no target in the networks of this machine for logs and events (env: BERTH_REFUSE_LOCAL_TARGETS)',
      )
      .option('--no-dashboard', 'show people nothing but what they sign in for (env: BERTH_NO_DASHBOARD)')
      .option('--access-reviews', 'let in whom the roles of the cluster let open a Workspace (env: BERTH_ACCESS_REVIEWS)')
      .option('--pass-authorization', 'give workspaces the Authorization header of requests (env: BERTH_PASS_AUTHORIZATION)')
      .addHelpText(
        'after',
        examples(
          ['berth proxy --url https://sign-in.ws.example.com', 'the provider by BERTH_OIDC_ISSUER and BERTH_OIDC_CLIENT_ID'],
          ['berth proxy --listen 0.0.0.0:8443 --tls-cert tls.crt --tls-key tls.key', 'nothing before it'],
        ),
      )
      .action(
        finish(async (given: ClusterOptions & Record<string, string | boolean>) => {
          const config = parseConfig({ ...given }, shell.env)
          await start(config, shell.signal, { log: { write: (line) => shell.print(line.trimEnd()) } })
          return exitCodes.ok
        }),
      )
  },
}
