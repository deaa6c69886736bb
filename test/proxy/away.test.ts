import { is, match } from 'uvu/assert'
import { freePort } from '../../src/adapters/control-plane/index.ts'
import { describe } from '../support/suite.ts'
import { SIGN_IN } from './running-proxy.ts'
import { type Stage, setStage } from './stage.ts'

describe('an identity provider that is away', (it) => {
  let stage: Stage
  it.before(async () => {
    stage = await setStage(
      (_request, response) => response.end('the app'),
      async () => ({
        oidcIssuer: `http://127.0.0.1:${await freePort()}`,
      }),
    )
  })
  it.after(() => stage.close())

  it('is told to whoever wants to sign in, and counted and logged under the number that they see', async () => {
    await stage.workspace('web')
    const { status, body, url } = await stage.browser().open('https://3000-web.ws.example.com/')
    is(url.host, SIGN_IN)
    is(status, 503)
    match(body, 'Nobody can sign in just now')
    const [, number = 'none'] = /\b([0-9a-f]{16})\b/.exec(body) ?? []
    const line = stage.proxy
      .log()
      .split('\n')
      .find((one) => one.includes(number) && one.includes('"level":50'))
    match(line ?? '', /the identity provider 127.* does not say how to sign in.*A request could not be decided/)
    const metrics = await (await fetch(`http://${stage.proxy.addresses.operations}/metrics`)).text()
    match(metrics, /^berth_proxy_requests_total\{outcome="sign-in-away",status="5xx"\} 1$/m)
  })
})
