import { equal, is, ok } from 'uvu/assert'
import { freePort } from '../../../src/adapters/control-plane/ports.ts'
import { createRegistryHub, type Registry } from '../../../src/kas/routing/index.ts'
import { systemClock } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { ask, connectAgent, type Kas, named, openKas, secretFile } from './kas-stage.ts'

/** A registry whose every answer comes when the test lets it. */
function slowRegistry() {
  const questions: PromiseWithResolvers<string[]>[] = []
  const listeners = new Set<(url: string) => void>()
  const begun = Promise.withResolvers<void>()
  let known: string[] | undefined
  const registry: Registry = {
    register: () => undefined,
    unregister: () => undefined,
    kasOf() {
      if (known) return Promise.resolve(known)
      const question = Promise.withResolvers<string[]>()
      questions.push(question)
      return question.promise
    },
    follow(_, listener) {
      listeners.add(listener)
      return { begun: begun.promise, stop: () => void listeners.delete(listener) }
    },
    stop: () => undefined,
  }
  return {
    hub: { join: () => registry },
    questions,
    begin: begun.resolve,
    /** From then on the registry knows it, too. */
    arrive(url: string) {
      known = [url]
      for (const tell of listeners) tell(url)
    },
  }
}

describe('agents that come while a slow registry is asked', (it) => {
  let secret: Awaited<ReturnType<typeof secretFile>>
  const closing: (() => Promise<void>)[] = []
  it.before(async () => {
    secret = await secretFile()
  })
  it.afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })
  it.after(() => secret.remove())

  const kas = async (options: Parameters<typeof openKas>[1]): Promise<Kas> => {
    const one = await openKas(secret.file, options)
    closing.push(() => one.kill())
    return one
  }
  const answerOf = (questions: PromiseWithResolvers<string[]>[], n: number, urls: string[]) =>
    eventually(() => {
      questions[n]?.resolve(urls)
      return questions[n] !== undefined
    })

  it('are found although the registry, read before, does not name them', async () => {
    const registry = slowRegistry()
    const [first, second] = [await kas({ hub: registry.hub }), await kas({ hub: createRegistryHub(systemClock) })]
    const asked = ask(first.router, 1n, 'x')
    registry.begin()
    await eventually(() => registry.questions.length === 1)
    closing.push(connectAgent(second, 1n, named('came')))
    registry.arrive(`grpc://${second.privateApi}`)
    registry.questions[0]?.resolve([])
    equal(await asked, ['came', 'x'])
  })

  it('are found although they came before arrivals were told: the registry is read after that, never before', async () => {
    const registry = slowRegistry()
    const [first, second] = [await kas({ hub: registry.hub }), await kas({ hub: createRegistryHub(systemClock) })]
    const asked = ask(first.router, 1n, 'x')
    closing.push(connectAgent(second, 1n, named('came')))
    await eventually(async () => (await ask(second.router, 1n)).length === 1)
    is(registry.questions.length, 0)
    registry.begin()
    await answerOf(registry.questions, 0, [`grpc://${second.privateApi}`])
    equal(await asked, ['came', 'x'])
  })

  it('are found although the registry is asked whether their kas is gone, and says so, while they come', async () => {
    const registry = slowRegistry()
    const port = await freePort()
    const url = `grpc://127.0.0.1:${port}`
    const first = await kas({ hub: registry.hub })
    const asked = ask(first.router, 1n, 'x')
    registry.begin()
    // Nobody is there yet: it is asked, fails, and the registry is read again.
    await answerOf(registry.questions, 0, [url])
    await eventually(() => registry.questions.length === 2)
    const second = await kas({ hub: createRegistryHub(systemClock), privateApi: `127.0.0.1:${port}` })
    closing.push(connectAgent(second, 1n, named('came')))
    registry.arrive(url)
    registry.questions[1]?.resolve([])
    equal(await asked, ['came', 'x'])
  })

  it('are found at this kas while the registry answers nothing at all', async () => {
    const registry = slowRegistry()
    const only = await kas({ hub: registry.hub })
    const asked = ask(only.router, 1n, 'x')
    closing.push(connectAgent(only, 1n, named('here')))
    equal(await asked, ['here', 'x'])
    ok(registry.questions.length === 0)
  })
})
