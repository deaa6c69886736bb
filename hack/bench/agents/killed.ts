import { pause, seconds, systemClock } from '../../../src/std/index.ts'
import { load, print, since, spreadOf } from '../figures.ts'
import { inParallel } from '../stage.ts'
import type { Setup, Watched } from './setup.ts'

/** Until statuses are written and nothing is left of the rush of the beginning. */
const CALM = seconds(30)
/** So long they are watched while nothing happens. */
const REST = seconds(20)
const KAS = 3

/** The agents of three kas at rest; then one of these is killed, and each of its agents is asked for at another one. */
export async function killed(setup: Setup, count: number): Promise<void> {
  const all = await setup.startKas(KAS)
  const [first, second] = all
  if (!first || !second) return
  const empty = Math.max(...all.map((kas) => kas.rss()))
  const front = await setup.start('front', ...all.map(({ facts }) => facts.listen ?? ''))
  const agents = await setup.startAgents(front.address)
  const { seconds: took } = await agents.tell('connect')
  await pause(systemClock, CALM)
  const cpu = await cpuOf(all)
  await pause(systemClock, REST)
  const figures = await Promise.all(all.map((kas) => kas.figures()))
  print(`${count} agents of ${KAS} kas at rest`, {
    'RSS MB': Math.max(...figures.map((each) => each.rss)),
    'without them': empty,
    'peak MB': Math.max(...figures.map((each) => each.peak)),
    'heap MB': Math.max(...figures.map((each) => each.heap)),
    'CPU ms per kas and second': ((await cpuOf(all)) - cpu) / KAS / (REST / 1000),
    'connected in s': Number(took),
    load: load(),
  })
  // Agents take the kas by turns.
  const theirs = Array.from({ length: Math.ceil(count / KAS) }, (_, n) => n * KAS)
  const ask = async () => {
    const times: number[] = []
    await inParallel(theirs.length, 32, async (at) => {
      times.push(await reach(setup, second, theirs[at] ?? 0, performance.now()))
    })
    return { ...spreadOf(times), load: load() }
  }
  print(`  ${theirs.length} asked for at another kas`, await ask())
  print('  and again', await ask())

  const died = performance.now()
  const [spent, ofAgents] = [await cpuOf([second]), await agents.cpu()]
  await first.kill()
  const after = await Promise.all(theirs.map((n) => reach(setup, second, n, died)))
  const { rss, peak } = await second.figures()
  print('  reached again after the kill', { ...spreadOf(after), 'RSS MB': rss, 'peak MB': peak, load: load() })
  print('  and what that took of a processor', {
    'kas ms': (await cpuOf([second])) - spent,
    'agents ms': seconds((await agents.cpu()) - ofAgents),
  })
}

/** Milliseconds of a processor that they have used. */
async function cpuOf(all: readonly Watched[]): Promise<number> {
  const each = await Promise.all(all.map(async (kas) => (await kas.figures()).metric('process_cpu_seconds_total')))
  return each.reduce((sum, cpu) => sum + seconds(cpu), 0)
}

/** Longer than anything that is to be measured. */
const PATIENCE = 120

/** Asks until there is an answer; gives how long after `from` that was. Milliseconds. */
async function reach(setup: Setup, kas: Watched, n: number, from: number): Promise<number> {
  while (true) {
    const answer = await setup.ask(kas, n)
    for await (const _ of answer);
    if (answer.statusCode === 200) return performance.now() - from
    if (since(from) > PATIENCE) throw new Error(`agent ${n} cannot be reached: the answer is ${answer.statusCode}`)
    await pause(systemClock, 50)
  }
}
