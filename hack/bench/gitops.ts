/**
 * GitOps: `node hack/bench/gitops.ts [scene …] [--count N]`, more by `--help`. Each scene has a control plane, a Git server, kas and
 * the operator of its own, as processes; it prints its figures and beside them the floor, measured in the same run: the same
 * objects applied by a bare loop with the same client, the same tenants and the same concurrency.
 */
import { parseArgs } from 'node:util'
import { load, machine } from './figures.ts'
import { commits } from './gitops/commits.ts'
import { crash } from './gitops/crash.ts'
import { crs } from './gitops/crs.ts'
import { type House, openHouse } from './gitops/house.ts'
import { large } from './gitops/large.ts'
import { many } from './gitops/many.ts'
import { overlays } from './gitops/overlays.ts'
import { paths } from './gitops/paths.ts'

interface Scene {
  /** How many without --count. */
  count: number
  about: string
  play: (house: House, count: number) => Promise<void>
}

const SCENES: Record<string, Scene> = {
  many: { count: 1000, about: 'syncs of four objects, each as another tenant, created at once', play: many },
  large: { count: 10_000, about: 'ConfigMaps in one sync: first time, at rest, one line, edits by hand', play: large },
  commits: { count: 100, about: 'commits in quick succession', play: commits },
  crs: { count: 3000, about: 'resources and their CRD in one commit', play: crs },
  paths: { count: 500, about: 'paths of one repository with 50,000 files, and a commit that touches one', play: paths },
  overlays: { count: 500, about: 'kustomize overlays at once, and a commit that touches the base of ten', play: overlays },
  crash: { count: 10_000, about: 'objects in one sync, and a kill -9 half way', play: crash },
}

const HELP = `node hack/bench/gitops.ts [scene ...] [--count N] [--built] [--profile FOLDER] [--node=FLAG ...]

Scenes, all without a name, with how many of what:
${Object.entries(SCENES)
  .map(([name, { count, about }]) => `  ${name.padEnd(9)} ${String(count).padStart(6)} ${about}`)
  .join('\n')}

  --count N          as many instead
  --built            the programs as \`npm run build\` made them; without it the sources, whose types take 20 MB to strip
  --profile FOLDER   CPU profiles of the operator and kas are written there, one for each process
  --node=FLAG        a flag of Node for both; may be given several times
  --help
`

const OPTIONS = {
  count: { type: 'string' },
  built: { type: 'boolean' },
  profile: { type: 'string' },
  node: { type: 'string', multiple: true },
  help: { type: 'boolean' },
} as const

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS })
  const unknown = positionals.find((name) => !(name in SCENES))
  if (unknown !== undefined) return refuse(`there is no scene ${unknown}`)
  if (values.count !== undefined && !/^[1-9]\d*$/.test(values.count)) return refuse('--count is no whole number above 0')
  if (values.help) return void process.stdout.write(HELP)
  process.stdout.write(`${machine()}\n`)
  for (const [name, scene] of Object.entries(SCENES))
    if (positionals.length === 0 || positionals.includes(name)) await play(name, scene, values)
}

function refuse(why: string): void {
  process.exitCode = 2
  process.stderr.write(`${why}\n\n${HELP}`)
}

interface Given {
  count?: string
  built?: boolean
  profile?: string
  node?: string[]
}

/** What goes wrong in one is told, and the others are played all the same. */
async function play(name: string, scene: Scene, { count, built, profile, node = [] }: Given): Promise<void> {
  process.stdout.write(`-- ${name}, load ${load()}\n`)
  try {
    const flags = [...node, ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`])]
    const house = await openHouse({ flags, isBuilt: built === true })
    try {
      await scene.play(house, count === undefined ? scene.count : Number(count))
    } finally {
      await house.close()
    }
  } catch (thrown) {
    process.exitCode = 1
    process.stdout.write(`   failed: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`)
  }
}

await main()
