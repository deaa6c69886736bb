import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { equal, is } from 'uvu/assert'
import { fluxLayer, pushArtifact } from '../../support/artifacts.ts'
import { cosignKey, pushBundles, pushSimple } from '../../support/cosign.ts'
import { lacksRegistry, type Registry, serveRegistry } from '../../support/registry.ts'
import { describe, type It } from '../../support/suite.ts'
import { artifactStage } from './stage.ts'

const MAIN = { kind: 'tag', name: 'main' } as const

function signatures(it: It) {
  let stage: Awaited<ReturnType<typeof artifactStage>>
  let registry: Registry
  it.before(async () => {
    stage = await artifactStage()
    registry = await serveRegistry(join(stage.folder, 'registry'))
  })
  it.after(async () => {
    await registry.stop()
    stage.remove()
  })

  const [ann, never] = [cosignKey(), new AbortController().signal]
  const push = async (repository: string) => {
    const place = { registry: `http://${registry.host}`, repository }
    return { place, digest: await pushArtifact({ ...place, tag: 'main' }, [await fluxLayer({ a: repository })]) }
  }
  const beside = (repository: string, commit: string, host = registry.host) =>
    stage.at(`oci://${host}/${repository}`).signatures({ commit, revision: MAIN }, never)

  it('are none of what nobody has signed', async () => {
    const { digest } = await push('unsigned')
    equal(await beside('unsigned', digest), [])
  })

  it('are found in both forms', async () => {
    const { place, digest } = await push('signed')
    const [bundle, simple] = [ann.bundle(digest), ann.simple(digest)]
    await pushBundles(place, digest, [bundle])
    await pushSimple(place, digest, [simple])
    equal(await beside('signed', digest), [{ content: bundle, signature: undefined }, simple])
  })

  it('are found where a registry lists what refers to an artifact', async () => {
    const { place, digest } = await push('listed')
    const bundle = ann.bundle(digest)
    const manifest = await pushArtifact({ ...place, tag: 'bundle' }, [
      { mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json', bytes: bundle },
    ])
    const index = {
      manifests: [
        { digest: `sha256:${manifest}`, artifactType: 'application/vnd.dev.sigstore.bundle.v0.3+json' },
        { digest: `sha256:${digest}`, artifactType: 'application/spdx+json' },
        { digest: '../../../v2', artifactType: 'application/vnd.dev.sigstore.bundle.v0.3+json' },
        'none',
      ],
    }
    const front = createServer((asked, answer) => {
      if (asked.url?.startsWith(`/v2/listed/referrers/sha256:${digest}?`)) return void answer.end(JSON.stringify(index))
      const passed = request(`http://${registry.host}${asked.url}`, { method: asked.method, headers: asked.headers }, (given) => {
        answer.writeHead(given.statusCode ?? 0, given.headers)
        given.pipe(answer)
      })
      passed.end()
    })
    front.listen(0, '127.0.0.1')
    await once(front, 'listening')
    const address = front.address()
    const port = typeof address === 'object' ? address?.port : 0
    equal(await beside('listed', digest, `localhost:${port}`), [{ content: bundle, signature: undefined }])
    front.closeAllConnections()
    front.close()
  })

  it('are no more than are looked at', async () => {
    const { place, digest } = await push('many')
    await pushSimple(
      place,
      digest,
      Array.from({ length: 40 }, () => ann.simple(digest)),
    )
    is((await beside('many', digest)).length, 32)
  })

  it('are found beside one that is larger than any is', async () => {
    const { place, digest } = await push('large')
    const [large, simple] = [{ content: Buffer.alloc(2 ** 18 + 1), signature: 'AAAA' }, ann.simple(digest)]
    await pushSimple(place, digest, [large, simple])
    equal(await beside('large', digest), [simple])
  })
}

describe('signatures beside an artifact', signatures, await lacksRegistry())
