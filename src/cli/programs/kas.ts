import { type Command, Option } from 'commander'
import { parseConfig, start } from '../../kas/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { type ClusterOptions, examples, withCluster } from '../options.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withConnections(withWorkspaces(withRoutes(withCluster(command))))
      .description(
        'Run kas: the only holder of Git credentials. It fetches repositories and streams their files to the operator and to agents. Its log goes to standard output, one JSON object a line.',
      )
      .addOption(
        new Option('--namespace <name>', 'know the GitProjects and Agents of one namespace only').env('BERTH_WATCH_NAMESPACE'),
      )
      .addOption(
        new Option('--listen <host:port>', 'gRPC, for agents and the operator (default: 127.0.0.1:8150)').env('BERTH_LISTEN'),
      )
      .addOption(
        new Option('--operations <host:port>', '/livez, /readyz, /metrics (default: 127.0.0.1:8151)').env('BERTH_OPERATIONS'),
      )
      .addOption(
        new Option('--webhooks <host:port>', 'where Git servers tell of pushes (default: 127.0.0.1:8152)').env('BERTH_WEBHOOKS'),
      )
      .addOption(
        new Option('--data-dir <folder>', 'mirrors of repositories; can be lost at any time (default: .berth/kas)').env(
          'BERTH_DATA_DIR',
        ),
      )
      .addOption(new Option('--tls-cert <file>', 'certificate, PEM; plain text without it').env('BERTH_TLS_CERT'))
      .addOption(new Option('--tls-key <file>', 'key of the certificate, PEM').env('BERTH_TLS_KEY'))
      .addOption(
        new Option(
          '--operator <namespace/name>',
          'service account that may ask for namespaces (default: berth-system/berth-operator)',
        ).env('BERTH_OPERATOR'),
      )
      .addOption(
        new Option('--audience <name>', 'for which service account tokens must have been issued (default: berth-kas)').env(
          'BERTH_AUDIENCE',
        ),
      )
      .addOption(
        new Option('--protocols <list>', 'which repositories may be fetched (default: https,http,ssh)').env(
          'BERTH_GIT_PROTOCOLS',
        ),
      )
      .addOption(
        new Option('--git-processes <number>', 'how many ask Git servers at once (default: 8)').env('BERTH_GIT_PROCESSES'),
      )
      .addOption(
        new Option(
          '--addresses <list>',
          'which addresses Git servers may have (default: public,private,loopback); link-local ones never',
        ).env('BERTH_GIT_ADDRESSES'),
      )
      .addOption(
        new Option('--hosts <list>', 'hosts of Git servers, such as *.example.com (default: all)').env('BERTH_GIT_HOSTS'),
      )
      .addOption(
        new Option('--devfile-hosts <list>', 'hosts from which parents of devfiles are fetched by https (default: none)').env(
          'BERTH_DEVFILE_HOSTS',
        ),
      )
      .addOption(new Option('--devfile-ca <file>', 'authorities of their certificates, PEM').env('BERTH_DEVFILE_CA'))
      .addOption(new Option('--max-repository-size <MiB>', 'of one mirror (default: 2048)').env('BERTH_MAX_REPOSITORY_SIZE'))
      .addOption(new Option('--max-data-size <MiB>', 'of all mirrors (default: 8192)').env('BERTH_MAX_DATA_SIZE'))
      .addOption(new Option('--max-files <number>', 'files in one answer (default: 50000)').env('BERTH_MAX_FILES'))
      .addOption(new Option('--max-file-size <MiB>', 'of one file in an answer (default: 5)').env('BERTH_MAX_FILE_SIZE'))
      .addOption(new Option('--max-total-size <MiB>', 'of all files in an answer (default: 100)').env('BERTH_MAX_TOTAL_SIZE'))
      .addOption(new Option('--max-paths <number>', 'path patterns in one request (default: 100)').env('BERTH_MAX_PATHS'))
      .addOption(new Option('--log-level <level>', 'debug, info, warn or error (default: info)').env('BERTH_LOG_LEVEL'))
      .addHelpText(
        'after',
        examples(
          ['berth kas --kubeconfig ~/.kube/config', 'beside the cluster'],
          ['berth kas --listen 0.0.0.0:8150 --tls-cert tls.crt --tls-key tls.key', 'for agents elsewhere'],
        ),
      )
      .action(
        finish(async (given: ClusterOptions & Record<string, string | boolean>) => {
          const config = parseConfig(given, shell.env)
          await start(config, shell.signal, { log: { write: (line) => shell.print(line.trimEnd()) } })
          return exitCodes.ok
        }),
      )
  },
}

/** What clients may take of kas. */
const withConnections = (command: Command): Command =>
  command
    .addOption(
      new Option('--max-connection-age <seconds>', 'of a connection of a client (default: 7200)').env('BERTH_MAX_CONNECTION_AGE'),
    )
    .addOption(new Option('--max-connections <number>', 'of clients at once (default: 10000)').env('BERTH_MAX_CONNECTIONS'))
    .addOption(
      new Option('--max-connections-per-address <n>', 'of clients with one address (default: 2500)').env(
        'BERTH_MAX_CONNECTIONS_PER_ADDRESS',
      ),
    )
    .addOption(
      new Option('--agent-calls <number>', 'of one token of an agent in a minute (default: 40000)').env('BERTH_AGENT_CALLS'),
    )
    .addOption(
      new Option('--handshake-timeout <seconds>', 'until a client has to speak gRPC (default: 10)').env(
        'BERTH_HANDSHAKE_TIMEOUT',
      ),
    )
    .addOption(
      new Option('--stream-age <seconds>', 'of idle streams (default: 30 % of the age of connections)').env('BERTH_STREAM_AGE'),
    )

/** What pods of workspaces ask for, and who asks for them. */
const withWorkspaces = (command: Command): Command =>
  command
    .addOption(
      new Option(
        '--proxy <namespace/name>',
        'service account that may reach workspaces through the tunnels of their pods (default: berth-system/berth-proxy)',
      ).env('BERTH_PROXY'),
    )
    .addOption(
      new Option(
        '--git-credentials <host:port>',
        'where pods of workspaces ask for Git credentials (default: 127.0.0.1:8156)',
      ).env('BERTH_GIT_CREDENTIALS'),
    )
    .addOption(
      new Option('--api-url <url>', "how targets call this cluster's API, where that is not the address used here").env(
        'BERTH_API_URL',
      ),
    )
    .addOption(
      new Option('--refuse-local-targets', 'do not ask clusters on loopback or private addresses whose pods come').env(
        'BERTH_REFUSE_LOCAL_TARGETS',
      ),
    )

/** How requests get to agents, also to those that are connected to another kas. */
const withRoutes = (command: Command): Command =>
  command
    .addOption(
      new Option('--kubernetes-api <host:port>', 'where people reach the clusters of agents (default: 127.0.0.1:8154)').env(
        'BERTH_KUBERNETES_API',
      ),
    )
    .addOption(
      new Option('--visits-per-second <number>', 'of one person, over all agents (default: 200)').env('BERTH_VISITS_PER_SECOND'),
    )
    .addOption(
      new Option('--session-grace <seconds>', 'how long their sessions go on when kas ends (default: 3600)').env(
        'BERTH_SESSION_GRACE',
      ),
    )
    .addOption(
      new Option(
        '--listen-grace <seconds>',
        'how long requests are still taken when kas ends, until load balancers know (default: 0)',
      ).env('BERTH_LISTEN_GRACE'),
    )
    .addOption(
      new Option(
        '--api <host:port>',
        'gRPC, where who knows the secret asks for agents and tells of pushes (default: 127.0.0.1:8153)',
      ).env('BERTH_API'),
    )
    .addOption(
      new Option('--api-secret <file>', 'base64 of at least 32 bytes; without it that endpoint is off').env('BERTH_API_SECRET'),
    )
    .addOption(
      new Option('--private-api <host:port>', 'where other kas ask for tunnels; needs a secret (default: 127.0.0.1:8155)').env(
        'BERTH_PRIVATE_API',
      ),
    )
    .addOption(
      new Option('--private-api-secret <file>', 'base64 of at least 32 bytes, the same for all kas').env(
        'BERTH_PRIVATE_API_SECRET',
      ),
    )
    .addOption(
      new Option('--peers <urls>', 'private endpoints of the other kas, such as grpcs://kas-peers:8155').env('BERTH_PEERS'),
    )
    .addOption(
      new Option('--peers-ca <file>', 'authority of the certificates of peers, PEM (default: those of the system)').env(
        'BERTH_PEERS_CA',
      ),
    )
    .addOption(
      new Option('--lease-namespace <name>', 'where kas tells the others that it lives (default: berth-system)').env(
        'BERTH_NAMESPACE',
      ),
    )
    .addOption(new Option('--identity <name>', 'beginning of the name of its Lease (default: kas)').env('POD_NAME'))
    .addOption(
      new Option('--agent-wait <seconds>', 'how long a request waits for its agent to connect (default: 20)').env(
        'BERTH_AGENT_WAIT',
      ),
    )
