import * as assert from 'uvu/assert'
import { kubeFromSecret } from '../../../src/adapters/kube/index.ts'
import { ConfigMaps } from '../../../src/api/index.ts'
import { isFailure, Secret } from '../../../src/std/index.ts'
import { tellingServer } from '../../support/builders/strange-server.ts'
import { describe } from '../../support/suite.ts'
import { kubeconfigFor } from '../../support/targets.ts'
import { whyNotFollowed } from './failing-watch.ts'

const PAGE = JSON.stringify({ metadata: { continue: 'more', resourceVersion: '1' }, items: [] })

describe('a list whose pages have no end', (it) => {
  const open = async () => {
    const server = await tellingServer(PAGE)
    const { url } = server
    const kube = kubeFromSecret(new Secret(kubeconfigFor(url)), { server: url, reach: undefined, insecureSkipTLSVerify: true })
    return {
      server,
      kube,
      async close() {
        await kube.close()
        await server.close()
      },
    }
  }

  it('is a fault of the server, however often it says that there is more', async () => {
    const { kube, server, close } = await open()
    const all = async () => {
      for await (const page of kube.pages(ConfigMaps)) assert.equal(page, [])
    }
    const failure = await all().catch((thrown: unknown) => thrown)
    assert.ok(isFailure(failure, 'unavailable'))
    assert.match(failure.message, /the list of configmaps does not end/)
    assert.ok(server.seen < 200)
    await close()
  })

  it('is one where the list was to come at once', async () => {
    const { kube, server, close } = await open()
    const failure = await kube.list(ConfigMaps).catch((thrown: unknown) => thrown)
    assert.ok(isFailure(failure, 'unavailable'))
    assert.match(failure.message, /the list of configmaps comes in pages, which nobody asked for/)
    assert.is(server.seen, 1)
    await close()
  })

  it('is one for a watch too', async () => {
    const { kube, close } = await open()
    assert.match((await whyNotFollowed(kube)).message, /the list of configmaps does not end/)
    await close()
  })
})
