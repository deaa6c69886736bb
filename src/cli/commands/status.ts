import { existsSync, realpathSync } from 'node:fs'
import type { Command } from 'commander'
import { statusOf } from '../../adapters/control-plane/index.ts'
import { connect, type Kube } from '../../adapters/kube/index.ts'
import { type AnyObject, conditionOf, type Kind } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { conditionsOf } from '../doctor/objects.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { isRunning, partsOf } from '../local/parts.ts'
import { definitionsIn } from '../manifests.ts'
import { dirOf, examples, kubeOf, withDir, withOutput } from '../options.ts'
import { type Format, marked, renderData, table } from '../output.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'

interface Options {
  dir: string
  kubeconfig?: string
  context?: string
  output: Format
}

interface Component {
  name: string
  state: 'running' | 'ended'
  pid: number | undefined
  address: string
}

interface Count {
  kind: string
  objects: number
  /** `undefined` where objects of the kind do not say whether they are. */
  ready: number | undefined
}

export const verb = {
  define(command: Command, shell: Shell, finish: Finish): void {
    withOutput(withDir(command))
      .description('Show what runs for a folder, and how many objects of each kind there are. It fails when a part has ended.')
      .option('--kubeconfig <file>', 'count the objects of this cluster instead')
      .option('--context <name>', 'context in that kubeconfig')
      .addHelpText(
        'after',
        examples(['berth status', 'of this folder'], ['berth status --kubeconfig ~/.kube/config -o json', 'of a cluster']),
      )
      .action(finish((options: Options) => status(shell, options)))
  },
}

async function status(shell: Shell, options: Options): Promise<ExitCode> {
  const components = options.kubeconfig ? [] : componentsOf(shell, options)
  const kube = await kubeToCount(shell, options, components)
  const kinds = kube ? await counts(kube, shell.home) : []
  await kube?.close()
  shell.print(options.output === 'table' ? tables(shell, components, kinds) : renderData(options.output, { components, kinds }))
  return components.every(({ state }) => state === 'running') ? exitCodes.ok : exitCodes.failed
}

function componentsOf(shell: Shell, options: Options): Component[] {
  const given = dirOf(shell, options)
  const dir = existsSync(given) ? realpathSync(given) : given
  const plane = statusOf(dir)
  const parts = partsOf(dir)
  if (!plane && parts.length === 0) {
    throw new Failure('not-found', `nothing runs in ${dir}.`, {
      remedy: 'Start it with `berth up`, or name a cluster with --kubeconfig.',
    })
  }
  const control: Component[] = plane
    ? [{ name: 'control-plane', state: isWhole(plane) ? 'running' : 'ended', pid: undefined, address: plane.server }]
    : []
  const programs = parts.map((part): Component => {
    const { name, pid, facts } = part
    return {
      name,
      state: isRunning(dir, part) ? 'running' : 'ended',
      pid,
      address: facts.url ?? facts.listen ?? facts.operations ?? '',
    }
  })
  return [...control, ...programs]
}

const isWhole = ({ running, dead }: { running: boolean; dead: string[] }): boolean => running && dead.length === 0

async function kubeToCount(shell: Shell, options: Options, components: Component[]): Promise<Kube | undefined> {
  if (options.kubeconfig) return kubeOf(shell, options)
  const plane = statusOf(realpathSync(dirOf(shell, options)))
  const answers = components.some(({ name, state }) => name === 'control-plane' && state === 'running')
  return plane && answers ? connect({ kubeconfig: plane.kubeconfig }) : undefined
}

/** Objects of each kind of ours, and how many of them say that they are ready. */
async function counts(kube: Kube, home: string): Promise<Count[]> {
  const definitions = definitionsIn(home).map(({ definition }) => definition.spec)
  return Promise.all(
    definitions.map(async ({ group, names, versions, scope }) => {
      const kind: Kind<AnyObject> = {
        group,
        version: versions[0]?.name ?? 'v1alpha1',
        kind: names.kind,
        plural: names.plural,
        namespaced: scope === 'Namespaced',
      }
      const objects = (await kube.resolve(`${group}/${kind.version}`, kind.kind)) ? await kube.list(kind) : []
      const said = objects
        .map((object) => conditionOf(conditionsOf(object), 'Ready')?.status)
        .filter((word) => word !== undefined)
      return {
        kind: names.kind,
        objects: objects.length,
        ready: said.length > 0 ? said.filter((word) => word === 'True').length : undefined,
      }
    }),
  )
}

function tables(shell: Shell, components: Component[], kinds: Count[]): string {
  const upper = table(components, [
    { title: 'COMPONENT', of: ({ name }) => name },
    {
      title: 'STATE',
      of: ({ state }) => state,
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
  return [components.length > 0 ? upper : '', kinds.length > 0 ? lower : ''].filter(Boolean).join('\n\n')
}
