import { equal, is, match, not } from 'uvu/assert'
import { Environments, Previews } from '../../src/api/index.ts'
import { hours, timestamp } from '../../src/std/index.ts'
import { CART, counts, entry, NEXT, OLD, previewsIn } from '../cli/preview/stage.ts'
import { type Stage, setStage } from '../proxy/stage.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { HOME, letWork, visitor } from './visitor.ts'

const ADA = 'ada@example.com'
const KEEP = 'berth.dev/preview-keep'
const EXPIRE = 'berth.dev/preview-expire'

describe('Previews on the dashboard', (it) => {
  let stage: Stage
  it.before(async () => {
    stage = await setStage((_request, response) => response.end('the app'))
    await letWork(stage.cluster.kube, stage.namespace, ADA)
    await letWork(stage.cluster.kube, stage.namespace, 'vic@example.com', 'view')
  })
  it.after(() => stage.close())
  const there = () => previewsIn(stage.cluster, () => stage.namespace)
  const pathOf = (name: string) => `/previews/${stage.namespace}/${name}`
  const pushed = () => timestamp(Date.now() - hours(2))
  const inHours = (count: number) => timestamp(Date.now() + hours(count))
  const condition = (type: string, status: 'True' | 'False', reason: string, message: string) => ({
    ...{ type, status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' },
  })
  /** With an environment of a branch that expires, one that is kept, and one that is not well. */
  const shop = async (name: string) => {
    const since = pushed()
    const environments = [
      entry(`${name}-bug`, 'bug/<b>', {
        since,
        ready: false,
        reason: 'Degraded',
        message: 'Deployment web: <b>no pod',
        expires: inHours(70),
      }),
      entry(`${name}-cart`, 'feature/cart', { since, expires: inHours(70) }),
      entry(`${name}-docs`, 'docs', { since, expires: inHours(200) }),
      entry(`${name}-main`, 'main', { since }),
      entry(`${name}-new`, 'new', { since, ready: false, reason: 'Provisioning', message: 'Its namespace is being made.' }),
    ]
    await there().preview(
      name,
      { branches: { project: 'web', pattern: 'f*' } },
      {
        ...{ environments, expired: [{ branch: 'old', commit: OLD }] },
        counts: counts({ environments: 5, ready: 3, waiting: 2, expired: 1 }),
        conditions: [condition('Ready', 'False', 'EnvironmentsNotReady', 'Environment shop-bug')],
      },
    )
    await there().environment(name, `${name}-cart`, 'feature/cart')
  }
  const formOf = async (name: string, more: Record<string, string> = {}) => {
    const uid = (await stage.cluster.kube.get(Previews, there().at(name)))?.metadata.uid ?? ''
    return `${new URLSearchParams({ uid, environment: `${name}-cart`, commit: CART, ...more })}`
  }
  const post = async (email: string, path: string, body: string, origin = HOME) =>
    (await visitor(stage, email)).browser.ask(`${HOME}${path}`, {
      method: 'POST',
      headers: { origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' },
      body,
    })

  it('are listed, and on a page each with the environments of their branches', async () => {
    await shop('shop')
    const ada = await visitor(stage, ADA)
    const looking = await ada.follow(pathOf('shop'))
    const list = await eventually(async () => {
      const found = await ada.page('/previews')
      return found.body.includes('EnvironmentsNotReady') && found
    })
    match(
      list.body,
      /shop<\/a><\/h2>.*Not ready.*branches f\* of web · 3 of 5 environments ready · 2 waiting for room · 1 expired/s,
    )
    const { body } = await ada.page(pathOf('shop'))
    const at = `/deployments/${stage.namespace}/shop-cart`
    match(
      body,
      new RegExp(`feature/cart</h2>.*Ready.*<a href="${at}">shop-cart</a> · commit <code>ca47ca47ca47</code> · pushed`, 's'),
    )
    match(body, /bug\/&lt;b&gt;<\/h2>.*Degraded.*Deployment web: &lt;b&gt;no pod/s)
    match(body, /<li id="branch-shop-cart" class="card good">.*?expires <time.*?in 3 d/s)
    match(body, /<li id="branch-shop-docs" class="card good">.*?kept, expires <time/s)
    match(body, /<li id="branch-shop-main" class="card good">.*?kept as long as its branch/s)
    match(body, /<li id="branch-shop-new" class="card busy">.*?Its namespace is being made/s)
    match(body, /old<\/h2>.*Expired.*commit <code>01d001d001d0<\/code> · the next push brings it back/s)
    looking.events()
    await there().tell('shop', { environments: [entry('shop-cart', 'feature/cart', { ready: false, reason: 'Degraded' })] })
    await eventually(() => looking.events().some(({ data }) => data.say === 'feature/cart is degraded'))
    looking.close()
    const eve = await visitor(stage, 'eve@example.com')
    not.match((await eve.page('/previews')).body, /shop/)
    is((await eve.browser.ask(`${HOME}${pathOf('shop')}`)).status, 404)
  })

  it('have an environment kept, and ended after a question', async () => {
    await shop('web')
    const ada = await visitor(stage, ADA)
    await eventually(async () => (await ada.page(pathOf('web'))).body.includes('web-cart'))
    is((await ada.press(pathOf('web'), 'Keep feature/cart')).url.pathname, pathOf('web'))
    equal(await there().marksOf('web-cart'), { 'berth.dev/branch': 'feature/cart', [KEEP]: 'forever' })
    match((await ada.page(pathOf('web'))).body, new RegExp(`${pathOf('web')}/delete\\?environment=web-cart`))
    const question = `${pathOf('web')}/delete?environment=web-cart`
    match((await ada.page(question)).body, /All that is in web-cart is deleted.*commit <code>ca47ca47ca47/s)
    is((await there().marksOf('web-cart'))?.[EXPIRE], undefined)
    is((await ada.press(question, 'Delete the environment')).url.pathname, pathOf('web'))
    equal(await there().marksOf('web-cart'), { 'berth.dev/branch': 'feature/cart', [EXPIRE]: CART })
    is((await ada.browser.ask(`${HOME}${pathOf('web')}/delete?environment=none`)).status, 404)
  })

  it('let nobody change what they may only look at, and take no form of another site', async () => {
    await shop('seen')
    const vic = await visitor(stage, 'vic@example.com')
    await eventually(async () => (await vic.page(pathOf('seen'))).body.includes('seen-cart'))
    not.match((await vic.page(pathOf('seen'))).body, /<button|delete\?/)
    is((await post('vic@example.com', `${pathOf('seen')}/delete`, await formOf('seen'))).status, 403)
    is((await post(ADA, `${pathOf('seen')}/delete`, await formOf('seen'), 'https://evil.example.com')).status, 403)
    equal(await there().marksOf('seen-cart'), { 'berth.dev/branch': 'feature/cart' })
  })

  it('end no other environment than the one that was shown', async () => {
    await shop('pushed')
    const path = `${pathOf('pushed')}/delete`
    const before = await formOf('pushed')
    await there().tell('pushed', { environments: [entry('pushed-cart', 'feature/cart', { commit: NEXT })] })
    const late = await post(ADA, path, before)
    equal([late.status, late.body.includes('commit ca48ca48ca48 was pushed meanwhile')], [409, true])
    is((await post(ADA, path, await formOf('pushed', { commit: NEXT, uid: 'of-another' }))).status, 404)
    is((await post(ADA, path, await formOf('pushed', { environment: 'none' }))).status, 404)
    const { kube } = stage.cluster
    const other = { metadata: { annotations: { 'berth.dev/branch': 'another' } } }
    await kube.patch(Environments, there().at('pushed-cart'), other)
    is((await post(ADA, path, await formOf('pushed', { commit: NEXT }))).status, 409)
    await kube.patch(Previews, there().at('pushed'), { spec: { suspend: true } })
    const rests = await post(ADA, path, await formOf('pushed', { commit: NEXT }))
    equal([rests.status, rests.body.includes('is suspended, so nothing would be removed')], [409, true])
    is((await there().marksOf('pushed-cart'))?.[EXPIRE], undefined)
  })
})
