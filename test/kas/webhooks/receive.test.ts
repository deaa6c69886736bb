import { createHmac } from 'node:crypto'
import { equal, is } from 'uvu/assert'
import type { ServedRequest } from '../../../src/adapters/http/index.ts'
import { projectFrom } from '../../../src/kas/projects/project.ts'
import { receiveWebhooks } from '../../../src/kas/webhooks/index.ts'
import { Failure, seconds, silentLog } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

const pushOf = (ref: string | undefined) => Buffer.from(JSON.stringify({ ref }))
const signed = (secret: string, ref?: string) => `sha256=${createHmac('sha256', secret).update(pushOf(ref)).digest('hex')}`

/** A kas behind one ingress, with two projects whose secret can be changed. */
function door() {
  const clock = steppedClock()
  const names = ['shop', 'blog']
  const projects = names.map((name) =>
    projectFrom({
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'GitProject',
      metadata: { name, namespace: 'team-a', uid: name, creationTimestamp: '2030-01-01T00:00:00Z' },
      spec: { url: `https://git.example.com/${name}`, path: name, webhookSecretRef: { name: 'hook' } },
    }),
  )
  const state = { secret: 'one', reads: 0 }
  const pokes: string[] = []
  const respond = receiveWebhooks({
    clock,
    log: silentLog,
    answered: { add: () => undefined },
    projects: { get: ({ name }) => projects.find(({ ref }) => ref.name === name) },
    polls: { poke: ({ name }, ref = 'all') => pokes.push(`${name} ${ref}`) },
    credentials: {
      async forWebhooks() {
        state.reads++
        if (state.secret === '') throw new Failure('invalid', 'Secret team-a/hook has no key secret')
        return state.secret
      },
    },
  })
  const post = async (name: string, proof?: string, ref?: string): Promise<number> => {
    const header = (key: string) => (key === 'x-berth-signature' ? proof : undefined)
    const request: ServedRequest = {
      method: 'POST',
      path: `/webhooks/team-a/${name}`,
      body: pushOf(ref),
      peer: '10.0.0.1',
      header,
    }
    return (await respond(request)).status
  }
  const flood = async (name: string, count: number, proof?: string) => {
    for (let at = 0; at < count; at++) await post(name, proof)
  }
  const push = (name: string, ref: string) => post(name, signed(state.secret, ref), ref)
  return { clock, state, pokes, post, push, flood }
}

const MAIN = 'refs/heads/main'

describe('webhooks that come from one address', (it) => {
  it('are taken when they are genuine, however many others prove nothing', async () => {
    const { post, flood } = door()
    await flood('shop', 300)
    await flood('nowhere', 300, signed('guess'))
    await flood('shop', 300, signed('guess'))
    equal([await post('shop'), await post('shop', signed('guess')), await post('nowhere')], [429, 429, 429])
    equal([await post('shop', signed('one')), await post('blog', signed('one'))], [202, 202])
  })

  it('have no Secret read for each forgery', async () => {
    const { clock, state, flood } = door()
    await flood('shop', 300, signed('guess'))
    const first = state.reads
    is(first <= 32, true, `${first} reads`)
    for (let second = 0; second < 60; second++) {
      await flood('shop', 20, signed('guess'))
      await clock.step(seconds(1))
    }
    is(state.reads - first <= 70, true, `${state.reads - first} reads in a minute`)
    state.secret = ''
    await clock.step(seconds(60))
    const before = state.reads
    await flood('shop', 300, signed('guess'))
    is(state.reads - before <= 32, true, 'nor where the Secret is of no use')
  })

  it('are taken with a new secret at once, and with the old one no more after a moment', async () => {
    const { clock, state, post } = door()
    is(await post('shop', signed('one')), 202)
    state.secret = 'two'
    is(await post('shop', signed('two')), 202)
    is(await post('shop', signed('one')), 401)
    state.secret = 'three'
    await clock.step(seconds(10))
    equal([await post('shop', signed('two')), await post('shop', signed('three'))], [401, 202])
  })
})

describe('pushes in quick succession', (it) => {
  it('are all heard: those beyond the limit once, when there is room again', async () => {
    const { clock, pokes, push } = door()
    for (let n = 0; n < 100; n++) is(await push('shop', MAIN), 202)
    is(pokes.length, 30)
    await clock.step(seconds(1))
    equal(pokes.slice(30), [`shop ${MAIN}`])
    await clock.step(seconds(60))
    is(pokes.length, 31, 'and not again')
  })

  it('to several branches are told of as a push to any', async () => {
    const { clock, pokes, push } = door()
    for (let n = 0; n < 31; n++) await push('shop', MAIN)
    await push('shop', 'refs/heads/next')
    await push('blog', MAIN)
    await clock.step(seconds(1))
    equal(pokes.slice(30), [`blog ${MAIN}`, 'shop all'])
  })

  it('wake nothing later when they are forged', async () => {
    const { clock, pokes, push, flood } = door()
    for (let n = 0; n < 30; n++) await push('shop', MAIN)
    await flood('shop', 100, signed('guess'))
    await clock.step(seconds(10))
    is(pokes.length, 30)
  })
})
