import type { Command } from 'commander'
import { BERTH_NAMESPACE, certificateCommand, SSH_CERTIFICATES_USER, SSH_GATEWAY } from '../../api/index.ts'
import { beginningOf, Failure, hours, isFailure, seconds, spelled, systemClock, timestamp } from '../../std/index.ts'
import { namespaceOfBerth } from '../install/shipped.ts'
import {
  type ClusterOptions,
  kubeconfigOf,
  type OutputOptions,
  unlessForbidden,
  withKube,
  withKubeconfig,
  withOutput,
} from '../options.ts'
import { renderData, wrap } from '../output.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { lengthOfTime } from '../workspace/workspace.ts'
import { type CertifiedKey, certifiedKeyOf, refuseOthers } from './certified-key.ts'
import { readPlain, wordFor, writeWhole } from './files.ts'
import { type Gateway, gatewayOf } from './gateway.ts'

interface Options extends ClusterOptions, OutputOptions {
  for?: string
  key?: string
  berthNamespace?: string
}

const USUAL = hours(8)
const MOST_OF_WORDS = 1000
/** What a command that told no exit code ended with. */
const HUNG_UP = -1

export const verb = actionVerb({
  description:
    'Get a certificate for SSH from the proxy, which lets you in as whoever your kubeconfig says that you are, without a key in any Workspace. It shows the proxy the token of the kubeconfig once, after it has known it by the host key that the cluster tells. A certificate ends by itself, and what is open with it; without a token there is no other.',
  examples: [
    ['berth ssh-cert', 'for 8 hours, or as long as the proxy gives them'],
    ['berth ssh-config -n team-a --write', 'then OpenSSH shows it by itself'],
    ['berth ssh-cert --for 1h --key ~/.ssh/id_ed25519.pub', 'for a key of yours'],
    ['berth ssh-cert -o json', 'for a script'],
  ],
  options: (command: Command) =>
    withOutput(withKubeconfig(command))
      .option('--for <duration>', 'how long it counts, such as 30m (default: 8h, or the most that the proxy gives)')
      .option('--key <file>', 'certify this public key of ed25519 (default: one of its own in ~/.ssh/berth)')
      .option(
        '--berth-namespace <name>',
        `where the programs of Berth run (default: where they are found, or ${BERTH_NAMESPACE})`,
      ),
  run: certify,
})

async function certify(shell: Shell, options: Options): Promise<void> {
  const wanted = options.for === undefined ? undefined : lengthOfTime('--for', options.for, '8h or 30m')
  const { gateway, namespace } = await withKube(shell, options, async (kube) => {
    const where = options.berthNamespace ?? (await unlessForbidden(() => namespaceOfBerth(kube))) ?? BERTH_NAMESPACE
    return { gateway: await gatewayOf(kube, where), namespace: where }
  })
  const length = lengthWithin(wanted, gateway)
  const identity = await certifiedKeyOf(shell, options.key)
  const word = wordFor(identity.certificate, '--key')
  if (options.key !== undefined) await refuseOthers(identity)
  const place = `ConfigMap ${namespace}/${SSH_GATEWAY}`
  shell.say(`${wrap(`Shows the token of the kubeconfig to ${gateway.host}:${gateway.port}, as ${place} says.`).join('\n')}\n`)
  const text = await askFor(shell, options, gateway, { seconds: length / seconds(1), key: identity.blob })
  const { keyId, serial, until } = await understood(text, identity)
  const { file, certificate } = identity
  await writeWhole(certificate, `${text}\n`, await readPlain(certificate), true)
  const told = { user: keyId, serial: String(serial), validUntil: timestamp(until), key: file, certificate }
  if (options.output !== 'table')
    return shell.print(renderData(options.output, { ...told, host: gateway.host, port: gateway.port }))
  shell.say(`Wrote ${certificate}: ${keyId}, for ${spelled(until - systemClock.now())}, until ${told.validUntil}.\n`)
  const named = options.key === undefined ? '' : ` --identity ${typed(file)}`
  shell.say(
    `${wrap(`\`berth ssh-config -n NAMESPACE --write${named}\` has OpenSSH show it, and know the host. By hand:`).join('\n')}\n`,
  )
  const port = gateway.port === 22 ? '' : ` -p ${gateway.port}`
  shell.print(`ssh -i ${typed(file)} -o ${typed(`CertificateFile=${word}`)}${port} WORKSPACE.NAMESPACE@${gateway.host}`)
}

/** As a word of a shell. */
const typed = (word: string): string => (/^[\w./@+,=:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

function lengthWithin(wanted: number | undefined, { host, longest }: Gateway): number {
  if (wanted === undefined) return Math.min(USUAL, longest)
  if (wanted <= longest) return wanted
  throw new Failure('invalid', `certificates count for ${longest / hours(1)} h at most at ${host}`, {
    remedy: `Write --for ${longest / hours(1)}h, or less.`,
  })
}

/** Gives the line of the certificate. */
async function askFor(
  shell: Shell,
  options: Options,
  { host, port, hostKey }: Gateway,
  wish: Parameters<typeof certificateCommand>[0],
): Promise<string> {
  const [{ tokenOfPerson }, { askOverSsh, CERTIFICATE_TYPE }] = await Promise.all([
    import('../../adapters/kube/index.ts'),
    import('../../adapters/ssh/index.ts'),
  ])
  const password = await tokenOfPerson({ kubeconfig: kubeconfigOf(shell, options), context: options.context })
  const question = { host, port, hostKey, user: SSH_CERTIFICATES_USER, password, command: certificateCommand(wish) }
  const { code, stdout, stderr } = await askOverSsh({ ...question, signal: shell.signal }).catch((thrown: unknown) => {
    throw withRemedy(thrown)
  })
  if (code === 0) return `${CERTIFICATE_TYPE} ${stdout.trim()} berth`
  if (code === HUNG_UP && stderr.trim() === '')
    throw new Failure('unavailable', `${host} hung up before it gave a certificate`, { remedy: 'Try again in a moment.' })
  throw new Failure('invalid', `${host} gives no certificate: ${beginningOf(stderr.trim(), MOST_OF_WORDS)}`)
}

function withRemedy(thrown: unknown): unknown {
  if (isFailure(thrown, 'unauthorized'))
    return new Failure('unauthorized', thrown.message, {
      cause: thrown,
      remedy: 'Log in to the cluster again; the token has to be one that its API server takes itself.',
    })
  return thrown
}

/** What was given is no more than somebody's word until it is looked at: it is kept in a file that OpenSSH reads. */
async function understood(text: string, { blob }: CertifiedKey) {
  const { readUnprovedCertificate } = await import('../../adapters/ssh/index.ts')
  const [, given = ''] = text.split(' ')
  const wrong = (cause?: unknown) =>
    new Failure('unavailable', 'the proxy answered with something that is no certificate for this key', {
      cause,
      remedy: 'Compare its version with that of this program, by `berth doctor`.',
    })
  if (!/^[A-Za-z0-9+/=]+$/.test(given)) throw wrong()
  try {
    const certificate = readUnprovedCertificate(Buffer.from(given, 'base64'))
    if (certificate.key.blob === blob) return certificate
  } catch (thrown) {
    throw wrong(thrown)
  }
  throw wrong()
}
