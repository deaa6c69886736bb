import { BERTH_NAMESPACE } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { objectsIn } from '../manifests.ts'
import { type ClusterOptions, fileAt, withKubeconfig } from '../options.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { applyInstallation } from './apply.ts'
import type { InstallValues } from './generated/values.ts'
import { inventoryOf, withInventory } from './inventory.ts'
import type { ImageValues } from './overlay.ts'
import { renderDefaults, renderInstallation } from './render.ts'
import { assertSizes } from './sizes.ts'
import { readValues } from './values.ts'

interface Options extends ClusterOptions, Pick<InstallValues, 'image' | 'workspaceImage' | 'namespace'> {
  values?: string
  defaults?: boolean
  apply?: boolean
  yes?: boolean
}

export const verb = actionVerb({
  description:
    'Print what installs Berth in a cluster: kinds, policies, roles, and the programs. Nothing is asked of a cluster, unless you say --apply. kubectl renders it, or the program that BERTH_KUBECTL names.',
  examples: [
    ['berth install --image registry.example.com/berth:0.1.0 --apply', 'all of it'],
    ['berth install --values values.yaml > install.yaml', 'for Git, or for kubectl'],
    ['berth install --defaults > defaults.yaml', 'and what comes after it'],
  ],
  options: (command) =>
    withKubeconfig(command)
      .option('--image <image>', 'the image of Berth, with its tag or digest')
      .option(
        '--workspace-image <image>',
        'a small image with a shell and git, that clones into workspaces (default: a public one)',
      )
      .option('--namespace <name>', `where its programs are to be (default: ${BERTH_NAMESPACE})`)
      .option('--values <file>', 'more choices: docs/installation-values.md; flags win; - for standard input')
      .option(
        '--defaults',
        'print what an installation starts with instead, once the kinds are there; with --apply: make it again',
      )
      .option('--apply', 'apply it, the first time with these defaults; take away what it has no more; wait until it runs')
      .option('--yes', 'do not ask before something is taken away or lost'),
  run: install,
})

async function install(shell: Shell, options: Options): Promise<void> {
  if (options.defaults && !options.apply) return shell.print((await renderDefaults(shell)).trimEnd())
  const values = await valuesOf(shell, options)
  const text = await renderInstallation(shell, values)
  const objects = objectsIn(text, 'the installation')
  assertSizes(objects)
  if (!options.apply) return shell.print(withInventory(text, inventoryOf(objects, values.namespace)))
  await applyInstallation(shell, options, { ...options, text, objects, namespace: values.namespace })
}

async function valuesOf(shell: Shell, options: Options): Promise<ImageValues> {
  const { values: name, image, workspaceImage, namespace } = options
  const file = name === undefined ? undefined : { name, text: await textOf(shell, name) }
  const given = { image, workspaceImage, namespace }
  const flags = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const read = await readValues(shell.home, file, flags)
  if ('mistakes' in read) {
    for (const mistake of read.mistakes) shell.say(`${mistake}\n`)
    throw new Failure('invalid', `these values cannot be taken (${read.mistakes.length} wrong)`, {
      remedy: 'docs/installation-values.md says what each takes.',
    })
  }
  const { values } = read
  if (values.image !== undefined) return { ...values, image: values.image }
  throw new Failure('invalid', 'no image of Berth is named', {
    remedy: 'Give --image, or write image: into the file of --values. docs/installation.md says how one is made.',
  })
}

const textOf = async (shell: Shell, name: string): Promise<string> =>
  name === '-' ? shell.readInput() : fileAt(shell, '--values', name).toString()
