import { createServer, request as httpRequest, type ServerResponse } from 'node:http'
import { equal, is } from 'uvu/assert'
import { html } from '../../src/dashboard/html.ts'
import { createLive } from '../../src/dashboard/live.ts'
import type { SignedInUser } from '../../src/dashboard/ports.ts'
import type { LiveView } from '../../src/dashboard/view.ts'
import { minutes, seconds, silentLog } from '../../src/std/index.ts'
import { listen } from '../../src/std/listen.ts'
import { steppedClock } from '../support/clock.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'

/** Answers of a server to somebody who asks and reads nothing. */
async function deaf() {
  const answers: ServerResponse[] = []
  const server = createServer((_request, response) => void answers.push(response))
  const port = await listen(server, '127.0.0.1', 0)
  return {
    async answer() {
      const count = answers.length
      const asked = httpRequest({ host: '127.0.0.1', port, agent: false })
      asked.on('error', () => undefined).on('response', () => undefined)
      asked.end()
      const answer = await eventually(() => answers[count])
      return { answer, hangUp: () => asked.destroy() }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** What keeps one page up to date, and what it holds on to meanwhile. */
function stageOf(text = 'well') {
  const clock = steppedClock()
  const live = createLive({ clock, log: silentLog })
  const listeners = new Set<() => void>()
  const state = { holds: true }
  const hear = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  const user: SignedInUser = {
    person: { user: 'ada', groups: [] },
    until: clock.now() + minutes(10),
    holds: () => state.holds,
    onSignOut: hear,
  }
  const view: LiveView = {
    fragments: async () => [{ id: 'now', list: 'parts', html: html`<p id="now">${text}</p>` }],
    page: () => ({ title: 'a page', content: html`` }),
    watch: (listener) => [hear(listener)],
  }
  const follow = (to: ServerResponse) => {
    const { body } = live.follow(user, view)
    if (typeof body !== 'function') throw new TypeError('no function')
    body(to)
  }
  /** What is held on to: places, listeners, timers. */
  const held = () => [live.size, listeners.size, clock.waiting()]
  const signOut = () => {
    state.holds = false
    for (const listener of [...listeners]) listener()
  }
  return { clock, live, follow, held, signOut }
}

describe('what keeps a page up to date', (it) => {
  const nobody = deaf()
  it.after(async () => (await nobody).close())
  const guest = async () => (await nobody).answer()

  it('says once that it is over, to whoever does not read, and then goes', async () => {
    const { clock, follow, held, signOut } = stageOf('x'.repeat(1_000_000))
    const { answer } = await guest()
    follow(answer)
    await clock.step(seconds(1))
    signOut()
    signOut()
    equal(held(), [0, 0, 1])
    await clock.step(minutes(11))
    is(answer.destroyed, true)
    equal(held(), [0, 0, 0])
  })

  it('holds on to nothing for whoever has hung up before it begins', async () => {
    const { follow, held } = stageOf()
    const { answer, hangUp } = await guest()
    hangUp()
    await eventually(() => answer.closed)
    follow(answer)
    equal(held(), [0, 0, 0])
  })

  it('closes the oldest of more than twenty at once', async () => {
    const { live, follow, held } = stageOf()
    const all: { answer: ServerResponse }[] = []
    while (all.length < 22) all.push(await guest())
    for (const { answer } of all) follow(answer)
    equal(
      all.map(({ answer }) => answer.destroyed),
      all.map((_, at) => at < 2),
    )
    is(live.size, 20)
    live.stop()
    equal(held(), [0, 0, 0])
  })
})
