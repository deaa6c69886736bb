import { load, print } from '../figures.ts'
import { wallClock } from '../part.ts'
import { manifests, type Setup } from './setup.ts'

const PUSHES = 3
/** Of what one agent gets of a commit that touches one file, about. Bytes. */
const CHANGE = 1000

/** All agents follow one repository: a push, the webhook, and then each has what changed. The floor: the same bytes to all of them. */
export async function push(setup: Setup, count: number): Promise<void> {
  const [kas] = await setup.startKas(1)
  if (!kas) return
  const agents = await setup.startAgents(kas.facts.listen ?? '')
  await agents.tell('connect')
  const began = wallClock()
  print(`${count} agents, first commit`, after(began, await agents.tell('follow')))
  const fetches = async () => (await kas.figures()).metric('berth_kas_fetches_total')
  for (let version = 1; version <= PUSHES; version++) {
    await setup.repository.change(manifests(version).slice(0, 1))
    const [fetched, cpu] = [await fetches(), await cpuOf()]
    const arrived = agents.tell('next')
    const pushed = wallClock()
    await setup.webhook(kas)
    const times = after(pushed, await arrived)
    print(`  push ${version}`, {
      ...times,
      fetches: (await fetches()) - fetched,
      'CPU s of kas': (await cpuOf()) - cpu,
      load: load(),
    })
  }
  async function cpuOf() {
    return (await kas?.figures())?.metric('process_cpu_seconds_total') ?? 0
  }
  const pusher = await setup.start('pusher')
  await agents.tell(`floor ${pusher.address}`)
  for (let n = 1; n <= PUSHES; n++) {
    const arrived = agents.tell('next')
    const [sent, cpu] = [wallClock(), await pusher.cpu()]
    await pusher.tell(String(CHANGE))
    const times = after(sent, await arrived)
    print(`  floor ${n}`, { ...times, 'CPU s of it': (await pusher.cpu()) - cpu, load: load() })
  }
  const { rss, peak } = await kas.figures()
  print('  kas', { 'RSS MB': rss, 'peak MB': peak })
}

const after = (from: number, at: Record<string, string | number>): Record<string, number> =>
  Object.fromEntries(Object.entries(at).map(([name, time]) => [`${name} ms`, Number(time) - from]))
