import { parseArgs } from 'node:util'
import { load, machine } from './figures.ts'
import type { Running } from './program.ts'

export interface Scene<Setup> {
  /** How many without --count. */
  count: number
  about: string
  play: (setup: Setup, count: number) => Promise<void>
}

export interface Bench<Setup extends { close(): Promise<void> }> {
  /** As it is called. */
  command: string
  /** Programs of Berth that run as processes, for --help. */
  programs: string
  scenes: Record<string, Scene<Setup>>
  /** Each scene has one of its own: what one leaves behind must not slow the next. */
  open: (running: Running) => Promise<Setup>
}

const OPTIONS = {
  count: { type: 'string' },
  built: { type: 'boolean' },
  profile: { type: 'string' },
  node: { type: 'string', multiple: true },
  help: { type: 'boolean' },
} as const

/** Reads the command line and plays the scenes that it names, or all. */
export async function playBench<Setup extends { close(): Promise<void> }>(bench: Bench<Setup>): Promise<void> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS })
  const help = helpOf(bench)
  const unknown = positionals.find((name) => !(name in bench.scenes))
  if (unknown !== undefined) return refuse(`there is no scene ${unknown}`, help)
  if (values.count !== undefined && !/^[1-9]\d*$/.test(values.count)) return refuse('--count is no whole number above 0', help)
  if (values.help) return void process.stdout.write(help)
  process.stdout.write(`${machine()}\n`)
  for (const [name, scene] of Object.entries(bench.scenes))
    if (positionals.length === 0 || positionals.includes(name)) await play(name, scene, bench.open, values)
}

const helpOf = <Setup extends { close(): Promise<void> }>({ command, programs, scenes }: Bench<Setup>): string =>
  `node ${command} [scene ...] [--count N] [--built] [--profile FOLDER] [--node=FLAG ...]

Scenes, all without a name, with how many of what:
${Object.entries(scenes)
  .map(([name, { count, about }]) => `  ${name.padEnd(9)} ${String(count).padStart(6)} ${about}`)
  .join('\n')}

  --count N          as many instead
  --built            the programs as \`npm run build\` made them; without it the sources, whose types take 20 MB to strip
  --profile FOLDER   CPU profiles of ${programs} are written there, one for each process
  --node=FLAG        a flag of Node for them; may be given several times
  --help
`

function refuse(why: string, help: string): void {
  process.exitCode = 2
  process.stderr.write(`${why}\n\n${help}`)
}

interface Given {
  count?: string
  built?: boolean
  profile?: string
  node?: string[]
}

/** What goes wrong in one is told, and the others are played all the same. */
async function play<Setup extends { close(): Promise<void> }>(
  name: string,
  scene: Scene<Setup>,
  open: (running: Running) => Promise<Setup>,
  { count, built, profile, node = [] }: Given,
): Promise<void> {
  process.stdout.write(`-- ${name}, load ${load()}\n`)
  try {
    const flags = [...node, ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`])]
    const setup = await open({ flags, isBuilt: built === true })
    try {
      await scene.play(setup, count === undefined ? scene.count : Number(count))
    } finally {
      await setup.close()
    }
  } catch (thrown) {
    process.exitCode = 1
    process.stdout.write(`   failed: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`)
  }
}
