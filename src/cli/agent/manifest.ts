import { Option } from 'commander'
import { type Agent, annotations, keyOf } from '../../api/index.ts'
import { Failure, Secret, systemClock, timestamp } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { fileAt } from '../options.ts'
import { renderData } from '../output.ts'
import { actionVerb } from '../verb.ts'
import { objectsOf } from './objects.ts'
import { type AgentContext, addToken, agentNamed, checkedAddress, IN_CLUSTER, onAgent, withAgent } from './registration.ts'

interface Options extends ObjectOptions {
  kasAddress?: string
  kasCaFile?: string
  namespaces?: string
  tokenFile?: string
  image: string
  output: 'yaml' | 'json'
}

export const manifest = actionVerb({
  description:
    'Print what runs an agent: namespace, account, rights, Secret, Deployment. It may change everything in its cluster, or only some namespaces. A token of its own is added to the Agent, unless you give one.',
  examples: [
    ['berth agent manifest dev -n team-a | kubectl apply -f -', 'start it'],
    ['berth agent manifest dev -n team-a --namespaces web,db', 'with rights in two namespaces'],
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
      .option('--token-file <file>', 'use this token instead of a new one')
      .option('--image <image>', 'image of Berth', 'berth')
      .addOption(new Option('-o, --output <format>', 'how to print').choices(['yaml', 'json']).default('yaml')),
  run: onAgent(printManifest),
})

async function printManifest({ shell, kube, ref }: AgentContext, options: Options): Promise<void> {
  const agent = await agentNamed(kube, ref)
  const ca = options.kasCaFile === undefined ? undefined : fileAt(shell, '--kas-ca-file', options.kasCaFile).toString()
  const namespaces = namespacesOf(options.namespaces)
  const uid = agent.metadata.uid ?? keyOf(ref)
  const wanted = { name: ref.name, uid, kasAddress: addressOf(agent, options), ca, namespaces, image: options.image }
  const given =
    options.tokenFile === undefined ? undefined : new Secret(fileAt(shell, '--token-file', options.tokenFile).toString().trim())
  const token = given ?? (await ownToken())
  const objects = objectsOf(shell.home, { ...wanted, token })
  shell.print(options.output === 'json' ? renderData('json', { apiVersion: 'v1', kind: 'List', items: objects }) : yaml(objects))

  async function ownToken(): Promise<Secret<string>> {
    const now = systemClock.now()
    // Two in one second are two.
    const made = `${timestamp(now)}${String(now % 1000).padStart(3, '0')}`.replaceAll(/\D/g, '')
    const note = { name: `manifest-${made}`, description: 'made by berth agent manifest' }
    const secret = await addToken(kube, ref, note, now)
    shell.say(`Agent ${keyOf(ref)} has a new token, ${note.name}.\n`)
    return secret
  }
}

const yaml = (objects: readonly object[]): string => objects.map((object) => renderData('yaml', object)).join('\n---\n')

const addressOf = ({ metadata }: Agent, { kasAddress }: Options): string =>
  checkedAddress(kasAddress ?? metadata.annotations?.[annotations.kasAddress] ?? IN_CLUSTER)

function namespacesOf(given: string | undefined): string[] | undefined {
  return given?.split(',').map((name) => {
    const namespace = name.trim()
    if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace)) return namespace
    throw new Failure('invalid', `--namespaces is "${given}"`, { remedy: 'Write names of namespaces with commas between.' })
  })
}
