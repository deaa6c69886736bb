import { is, match, ok } from 'uvu/assert'
import { createMemory } from '../../../../src/adapters/kube/memory.ts'
import { labels } from '../../../../src/api/index.ts'
import { createWakeups } from '../../../../src/engines/controller/index.ts'
import type { Target } from '../../../../src/operator/workspace/place/target.ts'
import { createTargetConnections } from '../../../../src/operator/workspace/watch/connections.ts'
import { Secret, silentLog, systemClock } from '../../../../src/std/index.ts'
import { answeringServer, type StrangeServer } from '../../../support/builders/strange-server.ts'
import { describe } from '../../../support/suite.ts'
import { kubeconfigFor } from '../../../support/targets.ts'
import { eventually } from '../../../support/verbs.ts'
import { workspace } from '../../../support/workspaces.ts'

const EACH = 4 * 2 ** 20

/** Every page has a hundred pods, and there is always one more. */
function endlessPages(): Promise<StrangeServer> {
  let page = 0
  return answeringServer(({ url = '' }, response) => {
    page++
    const items = Array.from({ length: 100 }, (_, at) => ({
      metadata: { name: `pod-${page}-${at}`, namespace: 'dev', uid: `${page}-${at}`, resourceVersion: '1' },
      spec: { text: 'x'.repeat(2000) },
    }))
    const isEndless = url.includes('/pods')
    response.end(
      JSON.stringify({
        metadata: { resourceVersion: '1', ...(isEndless && { continue: 'more' }) },
        items: isEndless ? items : [],
      }),
    )
  })
}

const targetOf = (tenant: string, apiURL: string): Target => ({
  claimName: 'dev',
  claimUid: '1',
  name: 'dev',
  namespace: 'dev',
  apiURL,
  tenant,
  skipTLSVerify: true,
  kubeconfig: new Secret(kubeconfigFor(apiURL)),
  version: '1',
  subject: { field: 'spec.kubernetesCredentials.apiURL' },
})

const emptyServer = () => answeringServer((_, response) => response.end('{"metadata":{"resourceVersion":"1"},"items":[]}'))

describe('the workspaces in a cluster of a stranger', (it) => {
  it('are not seen where it has more objects than a tenant has room for, and nothing of another tenant is missing', async () => {
    const [hostile, decent] = await Promise.all([endlessPages(), emptyServer()])
    const memory = createMemory({ all: 4 * EACH, each: EACH })
    const watch = createTargetConnections({
      clock: systemClock,
      log: silentLog,
      wakeups: createWakeups(),
      reach: { refuseLocal: false, memory },
      workspace: () => undefined,
    })
    const see = (tenant: string, apiURL: string) => {
      const one = workspace(tenant, 'web')
      one.metadata.uid = `${tenant} ${apiURL}`
      return { connection: watch.of(one, targetOf(tenant, apiURL)), release: () => watch.release(one) }
    }
    const first = see('evil', hostile.url)
    await eventually(() => /the target has more objects than are kept in memory/.test(first.connection.why()))
    is(first.connection.isReady(), false)
    match(first.connection.why(), /of one namespace \(4 MiB\)/)
    ok(hostile.seen < 100, 'it is not asked on and on')

    const other = see('team-a', decent.url)
    await eventually(() => other.connection.isReady())
    for (const { release } of [first, other]) release()
    await eventually(() => memory.has('evil', EACH / 2, true))
    await Promise.all([hostile.close(), decent.close()])
  })

  it('are listed together only where so many workspaces of the tenant lead there', async () => {
    const items = Array.from({ length: 10 }, (_, at) => ({
      metadata: { name: `web-${at}`, namespace: 'dev', resourceVersion: '1', labels: { [labels.workspaceUid]: `${at}` } },
    }))
    const server = await answeringServer(({ url = '' }, response) =>
      response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: url.includes('/deployments') ? items : [] })),
    )
    /** Whether the first workspace waits for a list, where those of the Deployments are of this namespace and in this target. */
    const isListed = async (namespace: string, apiURL: string) => {
      const [one, two] = [workspace('team-a', 'one'), workspace(namespace, 'web')]
      one.metadata.uid = '0'
      two.status = { target: { claimName: 'dev', name: 'dev', namespace: 'dev', apiURL } }
      const watch = createTargetConnections({
        clock: systemClock,
        log: silentLog,
        wakeups: createWakeups(),
        workspace: () => two,
      })
      const connection = watch.of(one, targetOf('team-a', server.url))
      await eventually(() => connection.isReady())
      const isAwaited = connection.survey.isAwaited('0')
      watch.release(one)
      return isAwaited
    }
    is(await isListed('team-a', server.url), true)
    is(await isListed('team-b', server.url), false)
    is(await isListed('team-a', 'https://elsewhere.example'), false)
    await server.close()
  })
})
