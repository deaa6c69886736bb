/**
 * Agents and kas: `node hack/bench/agents.ts [scene …] [--count N]`, more by `--help`. Each scene has a control plane of its own, kas
 * as processes, and agents: many of them in one process, or the program itself. hack/bench/routing.ts measures the routing alone.
 */
import { parseArgs } from 'node:util'
import { killed } from './agents/killed.ts'
import { PARTS } from './agents/parts.ts'
import { push } from './agents/push.ts'
import { openSetup, type Setup } from './agents/setup.ts'
import { tunnel } from './agents/tunnel.ts'
import { load, machine } from './figures.ts'

interface Scene {
  /** How many without --count. */
  count: number
  about: string
  agents: (count: number) => number
  play: (setup: Setup, count: number) => Promise<void>
}

const SCENES: Record<string, Scene> = {
  killed: {
    count: 1000,
    about: 'agents at three kas: what these need at rest, and how soon agents are reached when one is killed',
    agents: (n) => n,
    play: killed,
  },
  push: {
    count: 1000,
    about: 'agents that follow one repository, and pushes that change one file',
    agents: (n) => n,
    play: push,
  },
  tunnel: {
    count: 1024,
    about: 'MiB from the cluster of an agent, to a fast reader and a slow one',
    agents: () => 1,
    play: tunnel,
  },
}

const HELP = `node hack/bench/agents.ts [scene ...] [--count N] [--built] [--profile FOLDER]

Scenes, all without a name, with how many of what:
${Object.entries(SCENES)
  .map(([name, { count, about }]) => `  ${name.padEnd(7)} ${String(count).padStart(5)} ${about}`)
  .join('\n')}

  --count N          as many instead
  --built            the programs as \`npm run build\` made them; without it the sources, whose types take 20 MB to strip
  --profile FOLDER   CPU profiles of kas and the agent are written there, one for each process
  --help
`

const OPTIONS = {
  count: { type: 'string' },
  built: { type: 'boolean' },
  profile: { type: 'string' },
  help: { type: 'boolean' },
} as const

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS })
  const unknown = positionals.find((name) => !(name in SCENES))
  if (unknown !== undefined) return refuse(`there is no scene ${unknown}`)
  if (values.count !== undefined && !/^[1-9]\d*$/.test(values.count)) return refuse('--count is no whole number above 0')
  if (values.help) return void process.stdout.write(HELP)
  process.stdout.write(`${machine()}\n`)
  const { profile, built } = values
  const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  for (const [name, scene] of Object.entries(SCENES)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue
    process.stdout.write(`-- ${name}, load ${load()}\n`)
    const count = Number(values.count ?? scene.count)
    const setup = await openSetup(scene.agents(count), { flags, isBuilt: built === true })
    try {
      await scene.play(setup, count)
    } finally {
      await setup.close()
    }
  }
}

function refuse(why: string): void {
  process.exitCode = 2
  process.stderr.write(`${why}\n\n${HELP}`)
}

const [flag, part = '', ...given] = process.argv.slice(2)
await (flag === '--part' ? PARTS[part]?.(given) : main())
