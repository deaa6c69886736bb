/**
 * Makes Berth's images as files, without a builder: `npm run image -- --help`. The same commit gives the same digests, on whatever
 * machine. Why it is so: docs/decisions/0323-the-images-are-made-without-a-builder.md.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { arch } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { Refusal, runScript } from '../output.ts'
import { type Layer, Layout, type PlatformImage } from './oci.ts'
import { buildBerth, buildRenderers, type Commit, CPUS, commitOf, installNode, REPOSITORY } from './program.ts'
import { namesOfShell, USER, unpackRoot, unpackShell, unpackTerminal } from './root.ts'
import { type Component, componentsOf, debianIn, modulesIn, writeBill } from './sbom.ts'

const HELP = `Makes Berth's images as files, without a builder.

Usage: npm run image -- [options]

  --architecture LIST   amd64, arm64 or both (default: both)
  --output FOLDER       where the files are to be (default: dist-image)
  --name NAME           of the image, with the registry if it has one (default: localhost/berth)
  --help                print this

It makes in FOLDER
  images.tar                   NAME and NAME-workspace, for all architectures, as an OCI archive
  NAME-ARCHITECTURE.cdx.json   what is in it: a bill of materials (CycloneDX); one more for NAME-workspace
  install.yaml                 what 'berth install' prints for these images
and prints the digest of each image.

Examples:
  npm run image
  npm run image -- --architecture amd64 --name registry.example.com/berth
  ctr -n k8s.io images import dist-image/images.tar

It wants npm, Go, tar and xz, and what they fetch: packages from npm, Go modules, Debian packages.
`

/** Of every image: kas and the operator are servers, and so it says nothing of ports, which their Deployments do. */
const COMMON = {
  User: `${USER}:${USER}`,
  WorkingDir: '/tmp',
  Env: ['PATH=/usr/bin', 'HOME=/tmp'],
}
/**
 * One malloc arena: many hold on to memory that nobody uses any more. What Node says of old habits of libraries is for who develops them.
 */
const PROGRAM = {
  ...COMMON,
  Env: [
    ...COMMON.Env,
    'MALLOC_ARENA_MAX=1',
    'NODE_OPTIONS=--no-deprecation',
    'BERTH_KUBECTL=/usr/bin/kustomize',
    'BERTH_HELM=/usr/bin/helm',
  ],
  Entrypoint: ['/usr/bin/berth'],
}
const WORKSPACE = { ...COMMON, Cmd: ['sh'] }

interface Making {
  layout: Layout
  /** A folder for what is being made. */
  work: string
  output: string
  name: string
  version: string
  commit: Commit
}

/** What is the same for all kinds of machines. */
interface Shared {
  berth: Layer
  shellNames: readonly string[]
  components: readonly Component[]
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      architecture: { type: 'string', default: 'amd64,arm64' },
      output: { type: 'string', default: 'dist-image' },
      name: { type: 'string', default: 'localhost/berth' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return void process.stdout.write(HELP)
  const architectures = values.architecture.split(',')
  const unknown = architectures.find((one) => !Object.hasOwn(CPUS, one))
  if (unknown !== undefined) throw new Refusal(`--architecture ${unknown} is none of ${Object.keys(CPUS).join(', ')}`)
  const output = resolve(values.output)
  const commit = await commitOf(REPOSITORY)
  mkdirSync(output, { recursive: true })
  const work = mkdtempSync(join(output, '.making-'))
  try {
    const { version }: { version: string } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'))
    const layout = new Layout(join(work, 'layout'))
    await layout.begin()
    const making = { layout, work, output, name: values.name, version, commit }
    const shared = await makeShared(making)
    const [programs, workspaces]: [PlatformImage[], PlatformImage[]] = [[], []]
    for (const architecture of architectures) {
      const made = await makeFor(architecture, shared, making)
      programs.push(made.program)
      workspaces.push(made.workspace)
    }
    const lists = [
      { name: values.name, tag: version, list: await layout.addList(programs) },
      { name: `${values.name}-workspace`, tag: version, list: await layout.addList(workspaces) },
    ]
    await layout.end(lists)
    await layout.archive(join(output, 'images.tar'))
    await writeInstallation(making)
    for (const { name, tag, list } of lists) console.log(`${name}:${tag}@${list.digest}`)
  } finally {
    rmSync(work, { recursive: true })
  }
}

async function makeShared({ layout, work }: Making): Promise<Shared> {
  const at = folderIn(work)
  console.error('packing Berth with its libraries')
  const packages = await buildBerth(at('berth'), at('source'))
  const shellNames = await namesOfShell(at('here'))
  return { berth: await pack(layout, at('berth')), shellNames, components: await componentsOf(packages, REPOSITORY) }
}

async function makeFor(
  architecture: string,
  shared: Shared,
  making: Making,
): Promise<{ program: PlatformImage; workspace: PlatformImage }> {
  const { layout, name, version, commit } = making
  const at = folderIn(join(making.work, architecture))
  const say = (line: string) => console.error(`${architecture}: ${line}`)
  const unpacking = { architecture, downloads: at('downloads') }
  say('unpacking Debian packages')
  await unpackRoot(at('root'), unpacking)
  await unpackShell(at('shell'), shared.shellNames, unpacking)
  await unpackTerminal(at('terminal'), at('debian'), unpacking)
  say('building kustomize and helm')
  const renderers = await buildRenderers(architecture, at('node'))
  say('fetching Node')
  const node = await installNode(architecture, at('node'))
  const [root, program] = [await pack(layout, at('root')), await pack(layout, at('node'))]
  const [shell, terminal] = [await pack(layout, at('shell')), await pack(layout, at('terminal'))]
  const add = async (image: string, about: { config: object; layers: readonly Layer[]; components: readonly Component[] }) => {
    const bill = join(making.output, `${basename(image)}-${architecture}.cdx.json`)
    const subject = { type: 'container', name: image, version }
    writeBill(bill, { subject, created: commit.time, components: about.components })
    const labels = { 'org.opencontainers.image.version': version, 'org.opencontainers.image.revision': commit.id }
    return layout.addImage({ ...about, architecture, created: commit.time, config: { ...about.config, Labels: labels } })
  }
  const debian = debianIn(at('root'))
  return {
    program: await add(name, {
      config: PROGRAM,
      layers: [root, program, shared.berth],
      components: [...debian, node, ...(await modulesIn(renderers)), ...shared.components],
    }),
    workspace: await add(`${name}-workspace`, {
      config: WORKSPACE,
      layers: [root, shell, terminal],
      components: [...debian, ...debianIn(at('shell')), ...debianIn(at('terminal'), 'debian-13')],
    }),
  }
}

/** It is rendered by the kustomize that is in the image. */
async function writeInstallation({ work, output, name, version }: Making): Promise<void> {
  const [here] = Object.entries(CPUS).find(([, cpu]) => cpu === arch()) ?? []
  if (here === undefined) throw new Refusal(`there is no kustomize for this machine, whose CPU is ${arch()}`)
  const env = { ...process.env, BERTH_KUBECTL: await buildRenderers(here, folderIn(work)('renderer')) }
  const images = ['--image', `${name}:${version}`, '--workspace-image', `${name}-workspace:${version}`]
  const words = [join(REPOSITORY, 'src', 'cli', 'main.ts'), 'install', ...images]
  const { stdout } = await promisify(execFile)(process.execPath, words, { env, maxBuffer: 2 ** 26 })
  writeFileSync(join(output, 'install.yaml'), stdout)
}

const folderIn =
  (work: string) =>
  (name: string): string => {
    mkdirSync(join(work, name), { recursive: true })
    return join(work, name)
  }

async function pack(layout: Layout, folder: string): Promise<Layer> {
  const layer = await layout.addLayer(folder)
  console.error(
    `  ${folder.replace(/^.*\//, '')}: ${(layer.unpacked / 1e6).toFixed(1)} MB, ${(layer.size / 1e6).toFixed(1)} MB packed`,
  )
  return layer
}

await runScript('image', main)
