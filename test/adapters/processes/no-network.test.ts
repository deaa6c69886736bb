import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { equal, is, match } from 'uvu/assert'
import { wordsForNoNetwork } from '../../../src/adapters/processes/index.ts'
import { createConfined, RENDER_LIMITS } from '../../../src/engines/render/confined.ts'
import { createKustomize } from '../../../src/engines/render/kustomize.ts'
import { minutes, silentLog } from '../../../src/std/index.ts'
import { kubectl } from '../../support/builders/snapshots.ts'
import { plainServer, type StrangeServer } from '../../support/builders/strange-server.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'

const words = await wordsForNoNetwork()

describe('words for no network', (it) => {
  it('are none where no program makes one', async () => {
    equal(await wordsForNoNetwork([]), [])
    equal(await wordsForNoNetwork(['/nonexistent/unshare']), [])
    equal(await wordsForNoNetwork(['/bin/false']), [])
  })
})

describe(
  'a process without a network',
  (it) => {
    let server: StrangeServer
    it.before(async () => {
      server = await plainServer((_, response) => response.end('{}'))
    })
    it.after(async () => {
      await server.close()
      is(server.seen, 0)
    })
    const url = () => `${server.url}/x.yaml`

    it('does not reach this machine, and is the one that was started', () => {
      const script = `fetch('${url()}').catch(({ cause }) => process.stdout.write(process.ppid + ' ' + cause.code))`
      const { stdout } = spawnSync(words[0] ?? '', [...words.slice(1), execPath, '--eval', script], {
        encoding: 'utf8',
        timeout: minutes(1),
      })
      is(stdout, `${process.pid} ENETUNREACH`)
    })

    it('is not to be had where namespaces are forbidden', () => {
      const module = join(import.meta.dirname, '../../../src/adapters/processes/index.ts')
      const script = `import { wordsForNoNetwork } from '${module}'; process.stdout.write(JSON.stringify(await wordsForNoNetwork()))`
      // Who is nobody in a user namespace may make no other one.
      const forbidding = ['-U', '--', execPath, '--input-type=module', '--eval', script]
      const { stdout, stderr } = spawnSync(words[0] ?? '', forbidding, { encoding: 'utf8', timeout: minutes(1) })
      is(stdout, '[]', stderr)
    })

    it('is what kustomize runs as', async () => {
      const kustomize = createKustomize(await kubectl(), createConfined(RENDER_LIMITS, silentLog))
      const files = [{ source: 'kustomization.yaml', data: Buffer.from(`resources: ["${url()}"]\n`) }]
      const { message } = await failureOf(() => kustomize(files, ''))
      match(message, 'connect: network is unreachable')
    })
  },
  words.length === 0 ? 'making a network namespace is not allowed here' : undefined,
)
