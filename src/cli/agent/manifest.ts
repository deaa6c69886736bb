import { Option } from 'commander'
import type { Kube } from '../../adapters/kube/index.ts'
import { type Agent, annotations, BERTH_NAMESPACE, Deployments, keyOf } from '../../api/index.ts'
import { Failure, Secret, systemClock, timestamp } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { namespaceOfBerth } from '../install/shipped.ts'
import { fileAt, unlessForbidden } from '../options.ts'
import { renderData } from '../output.ts'
import { actionVerb } from '../verb.ts'
import { type AgentInstallation, objectsOf } from './objects.ts'
import { type AgentContext, addToken, agentNamed, checkedAddress, IN_CLUSTER, onAgent, withAgent } from './registration.ts'

interface Options extends ObjectOptions {
  kasAddress?: string
  kasCaFile?: string
  clusterAdmin?: true
  namespaces?: string
  tokenFile?: string
  newToken?: true
  image?: string
  output: 'yaml' | 'json'
}

export const manifest = actionVerb({
  description:
    'Print what runs an agent: namespace, account, rights, Secret, Deployment. It may change nothing in its cluster but what you say: some namespaces, or everything. The first time a token of its own is added to the Agent, unless you give one; after that the Secret that is there keeps it.',
  examples: [
    ['berth agent manifest dev -n team-a --namespaces web,db | kubectl apply -f -', 'with rights in two namespaces'],
    ['berth agent manifest dev -n team-a --cluster-admin | kubectl apply -f -', 'with all rights in its cluster'],
  ],
  options: (command) =>
    withAgent(command)
      .option('--kas-address <url>', 'where its pods reach kas (default: what `create` was told, else kas in the same cluster)')
      .addOption(
        new Option('--kas-ca-file <file>', 'certificate authority of kas, PEM, where it is not one of the known').env(
          'BERTH_KAS_CA',
        ),
      )
      .option('--namespaces <list>', 'rights in these namespaces only, with commas between; they must be there')
      .addOption(
        new Option('--cluster-admin', 'all rights in its cluster: for any manifest, for spaces, and to act as people').conflicts(
          'namespaces',
        ),
      )
      .option('--token-file <file>', 'use this token instead of a new one')
      .addOption(
        new Option('--new-token', 'make another token, although it has one of an earlier manifest').conflicts('tokenFile'),
      )
      .option('--image <image>', 'image of Berth (default: that of kas, where you may see it)')
      .addOption(new Option('-o, --output <format>', 'how to print').choices(['yaml', 'json']).default('yaml')),
  run: onAgent(printManifest),
})

async function printManifest({ shell, kube, ref }: AgentContext, options: Options): Promise<void> {
  const agent = await agentNamed(kube, ref)
  const ca = options.kasCaFile === undefined ? undefined : fileAt(shell, '--kas-ca-file', options.kasCaFile).toString()
  const rights = rightsOf(options)
  const uid = agent.metadata.uid ?? keyOf(ref)
  const image = options.image ?? (await imageOfKas(kube))
  const wanted = { name: ref.name, uid, kasAddress: addressOf(agent, options), ca, rights, image }
  const objects = objectsOf(shell.home, { ...wanted, token: await tokenFor(agent) })
  if (rights === 'none')
    shell.say(
      'The agent may change nothing in its cluster: --namespaces a,b or --cluster-admin gives it rights, or roles of yours do.\n',
    )
  shell.print(options.output === 'json' ? renderData('json', { apiVersion: 'v1', kind: 'List', items: objects }) : yaml(objects))

  /** `undefined`: the Secret in its cluster has it. */
  async function tokenFor({ spec: { tokens = [] } }: Agent): Promise<Secret<string> | undefined> {
    if (options.tokenFile !== undefined) return new Secret(fileAt(shell, '--token-file', options.tokenFile).toString().trim())
    const former = tokens.findLast(({ name }) => name.startsWith(OF_MANIFEST))
    if (former && !options.newToken) {
      shell.say(`Its Secret keeps the token ${former.name}; --new-token makes another, for a cluster that does not have it.\n`)
      return undefined
    }
    const now = systemClock.now()
    // Two in one second are two.
    const made = `${timestamp(now)}${String(now % 1000).padStart(3, '0')}`.replaceAll(/\D/g, '')
    const note = { name: `${OF_MANIFEST}${made}`, description: 'made by berth agent manifest' }
    const secret = await addToken(kube, ref, note, now)
    shell.say(`Agent ${keyOf(ref)} has a new token, ${note.name}.\n`)
    return secret
  }
}

const OF_MANIFEST = 'manifest-'

/** An installation of pods has one image for all its programs. */
async function imageOfKas(kube: Kube): Promise<string> {
  const namespace = (await unlessForbidden(() => namespaceOfBerth(kube))) ?? BERTH_NAMESPACE
  const found = await unlessForbidden(() => kube.get(Deployments, { name: 'kas', namespace }))
  const image = found?.spec?.template?.spec?.containers[0]?.image
  if (image !== undefined) return image
  throw new Failure('invalid', `there is no --image, and kas of ${namespace} does not say which it is`, {
    remedy: 'Name an image of Berth that the cluster of the agent can pull, such as --image registry.example.com/berth:0.1.0.',
  })
}

const yaml = (objects: readonly object[]): string => objects.map((object) => renderData('yaml', object)).join('\n---\n')

const addressOf = ({ metadata }: Agent, { kasAddress }: Options): string =>
  checkedAddress(kasAddress ?? metadata.annotations?.[annotations.kasAddress] ?? IN_CLUSTER)

function rightsOf({ namespaces, clusterAdmin }: Options): AgentInstallation['rights'] {
  if (namespaces === undefined) return clusterAdmin ? 'all' : 'none'
  return namespaces.split(',').map((name) => {
    const namespace = name.trim()
    if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace)) return namespace
    throw new Failure('invalid', `--namespaces is "${namespaces}"`, { remedy: 'Write names of namespaces with commas between.' })
  })
}
