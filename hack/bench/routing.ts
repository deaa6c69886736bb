/**
 * Routing: `node hack/bench/routing.ts [scene …]`, more by `--help`. Two kas and an agent as processes, on loopback: what is asked of
 * one kas goes to the agent through the other. Beside the figures stands the floor, measured in the same run by turns with them:
 * the same messages over as many bare hops of gRPC in the same processes, and straight to the agent.
 */
import { parseArgs } from 'node:util'
import { machine } from './figures.ts'
import { PARTS } from './routing/parts.ts'
import { awaited, small, stream } from './routing/scenes.ts'
import { setStage } from './routing/stage.ts'

const HELP = `node hack/bench/routing.ts [small] [awaited] [stream] [--mb N] [--seconds N] [--after N] [--profile FOLDER]

  small     small requests, one at a time and 64 at once
  awaited   requests for ten agents that connect later
  stream    many bytes to a reader that is fast, and to one that is slow

  --mb N             so many to the fast reader, 256 without it
  --seconds N        so long each measurement of small requests takes, 3 without it
  --after N          so many seconds later, 5 without it
  --profile FOLDER   CPU profiles are written there, one for each process
  --help
`

const OPTIONS = {
  mb: { type: 'string', default: '256' },
  seconds: { type: 'string', default: '3' },
  after: { type: 'string', default: '5' },
  profile: { type: 'string' },
  help: { type: 'boolean' },
} as const

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS })
  if (values.help) return void process.stdout.write(HELP)
  const { profile } = values
  const stage = await setStage(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`])
  const wanted = (name: string) => positionals.length === 0 || positionals.includes(name)
  process.stdout.write(`${machine()}\n`)
  try {
    if (wanted('small')) await small(stage, Number(values.seconds))
    if (wanted('awaited')) await awaited(stage, Number(values.after))
    if (wanted('stream')) await stream(stage, Number(values.mb))
  } finally {
    await stage.close()
  }
}

const [flag, part = '', ...given] = process.argv.slice(2)
await (flag === '--part' ? PARTS[part]?.(given) : main())
