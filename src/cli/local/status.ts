import { foreignFileIn, statusOf } from '../../adapters/control-plane/index.ts'
import { connect, type Kube } from '../../adapters/kube/index.ts'
import { type AnyObject, conditionOf, nameOf } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { causesFirst, conditionsOf, faultOf, type ObjectFault } from '../fault.ts'
import { listOwnObjects } from '../manifests.ts'
import { type ClusterOptions, dirFlag, dirOf, kubeOf, type OutputOptions, withDir, withOutput } from '../options.ts'
import { marked, renderData, table, wrap } from '../output.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { upAgain } from './local-programs.ts'
import { isRunning, partsOf } from './parts.ts'

interface Options extends ClusterOptions, OutputOptions {
  dir: string
}

export const verb = actionVerb({
  description:
    'Show what runs for a folder, how many objects of each kind there are, and which are in error. It fails when a part has ended.',
  examples: [
    ['berth status', 'of this folder'],
    ['berth status --kubeconfig ~/.kube/config -o json', 'of a cluster'],
  ],
  options: (command) =>
    withOutput(withDir(command))
      .option('--kubeconfig <file>', 'count the objects of this cluster instead (default: $KUBECONFIG where nothing runs here)')
      .option('--context <name>', 'context in that kubeconfig'),
  run: status,
})

async function status(shell: Shell, options: Options): Promise<ExitCode> {
  const dir = options.kubeconfig ? undefined : dirOf(shell, options)
  const components = dir === undefined ? [] : componentsIn(dir)
  // If nothing runs here, it is about the cluster that kubectl would talk to.
  if (components.length === 0 && !options.kubeconfig && !shell.env.KUBECONFIG) throw nothingRuns(options, dirOf(shell, options))
  const kube = await kubeToCount(shell, options, components)
  const objects = kube ? await listOwnObjects(kube, shell.home) : new Map<string, AnyObject[]>()
  await kube?.close()
  const report: Report = {
    ...(components.length > 0 && { folder: dir }),
    ...(kube && { cluster: kube.server }),
    components,
    kinds: counted(objects),
    errors: causesFirst([...objects.values()].flat()).flatMap(failing),
  }
  shell.print(options.output === 'table' ? tables(shell, report) : renderData(options.output, report))
  return components.every(({ state }) => state === 'running') ? exitCodes.ok : exitCodes.failed
}

interface Component {
  name: string
  state: 'running' | 'ended'
  pid?: number
  address: string
  /** Of the control plane: the servers that are not there any more. */
  dead?: string[]
}

function componentsIn(dir: string): Component[] {
  const plane = statusOf(dir)
  const programs = partsOf(dir).map((part): Component => {
    const { name, pid, facts } = part
    const state = isRunning(dir, part) ? 'running' : 'ended'
    return { name, state, pid, address: facts.url ?? facts.listen ?? facts.operations ?? '' }
  })
  if (!plane) return programs
  const { server: address, dead, running } = plane
  const state = running && dead.length === 0 ? 'running' : 'ended'
  return [{ name: 'control-plane', state, address, ...(dead.length > 0 && { dead }) }, ...programs]
}

function nothingRuns(options: Options, dir: string): Failure {
  const other = foreignFileIn(dir)
  const held = other === undefined ? '' : `, and it holds things that are not Berth's ("${other}", for one)`
  const flag = other === undefined ? dirFlag(options) : ' --dir <new folder>'
  return new Failure('not-found', `nothing runs in ${dir}${held}.`, {
    remedy: `Start it with \`berth up${flag}\`, or name a cluster with --kubeconfig or KUBECONFIG.`,
  })
}

async function kubeToCount(shell: Shell, options: Options, components: Component[]): Promise<Kube | undefined> {
  if (components.length === 0) return kubeOf(shell, options)
  const plane = statusOf(dirOf(shell, options))
  const answers = components.some(({ name, state }) => name === 'control-plane' && state === 'running')
  return plane && answers ? connect({ kubeconfig: plane.kubeconfig }) : undefined
}

/** Counts the objects of each kind, and those that say that they are ready, where such objects say whether they are. */
const counted = (kinds: Map<string, AnyObject[]>) =>
  [...kinds].map(([kind, objects]) => {
    const said = objects.map((object) => conditionOf(conditionsOf(object), 'Ready')?.status).filter((word) => word !== undefined)
    return {
      kind,
      objects: objects.length,
      ready: said.length > 0 ? said.filter((word) => word === 'True').length : undefined,
    }
  })

function failing(object: AnyObject) {
  const fault = faultOf(object)
  return fault ? [{ object: nameOf(object), ...fault }] : []
}

interface Report {
  folder?: string | undefined
  /** The address of its API. */
  cluster?: string
  components: Component[]
  kinds: ReturnType<typeof counted>
  errors: ReturnType<typeof failing>
}

const MOST_ERRORS = 20

function tables(shell: Shell, { folder, cluster, components, kinds, errors }: Report): string {
  const about = [folder ? `Folder   ${folder}` : '', cluster ? `Cluster  ${cluster}` : ''].filter(Boolean).join('\n')
  const upper = table(components, [
    { title: 'COMPONENT', of: ({ name }) => name },
    {
      title: 'STATE',
      of: ({ state, dead = [] }) => `${state}${namesIn(dead)}`,
      paint: ({ state }, text) => marked(state === 'running' ? 'ok' : 'fail', text, shell.paint),
    },
    { title: 'PID', of: ({ pid }) => (pid === undefined ? '' : String(pid)) },
    { title: 'ADDRESS', of: ({ address }) => address },
  ])
  const lower = table(kinds, [
    { title: 'KIND', of: ({ kind }) => kind },
    { title: 'OBJECTS', of: ({ objects }) => String(objects) },
    { title: 'READY', of: ({ ready }) => (ready === undefined ? '-' : String(ready)) },
  ])
  const rest = errors.length - MOST_ERRORS
  const faults = errors
    .slice(0, MOST_ERRORS)
    .map((error) => `${marked('fail', error.object, shell.paint)}: ${error.reason}\n${indented(error)}`)
  const last = rest > 0 ? `and ${rest} more; -o json lists all` : ''
  const below = ['In error:', ...faults, last].filter(Boolean).join('\n')
  const parts = [
    about,
    components.length > 0 ? upper : '',
    endedIn(components, folder),
    kinds.length > 0 ? lower : '',
    errors.length > 0 ? below : '',
  ]
  return parts.filter(Boolean).join('\n\n')
}

/** In a table there is room for two. */
function namesIn([first, second, ...others]: readonly string[]): string {
  if (first === undefined) return ''
  if (others.length > 0) return ` (${first} and ${others.length + 1} others)`
  return second === undefined ? ` (${first})` : ` (${first}, ${second})`
}

/** Says what can be done if not all runs. */
function endedIn(components: Component[], folder: string | undefined): string {
  if (folder === undefined || components.every(({ state }) => state === 'running')) return ''
  return wrap(`-> Read the logs in ${folder}/logs; \`${upAgain(folder)}\` starts all of it again.`).join('\n')
}

const indented = ({ message, remedy }: ObjectFault): string =>
  [...wrap(message, 76), ...(remedy ? wrap(`-> ${remedy}`, 76) : [])].map((line) => `  ${line}`).join('\n')
