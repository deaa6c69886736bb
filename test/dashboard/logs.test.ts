import { equal, match, ok } from 'uvu/assert'
import { kubeFromSecret } from '../../src/adapters/kube/index.ts'
import type { Workspace } from '../../src/api/index.ts'
import { markupOf } from '../../src/dashboard/html.ts'
import { logsView } from '../../src/dashboard/workspace-logs.ts'
import { Secret, systemClock } from '../../src/std/index.ts'
import { answeringServer, type StrangeServer, tellingServer } from '../support/builders/strange-server.ts'
import { describe } from '../support/suite.ts'
import { kubeconfigFor } from '../support/targets.ts'

describe('the logs of a workspace in a target that says whatever it likes', (it) => {
  it('are a page of them, not all', async () => {
    const names = Array.from({ length: 60 }, (_each, n) => `c-${n}`)
    const containerStatuses = names.map((name) => ({ name, state: { running: {} } }))
    const containers = names.map((name) => ({ name }))
    const pod = { metadata: { name: 'pod', annotations: { x: 'x'.repeat(30_000) } }, spec: { containers } }
    // Its logs say the same.
    const there = await tellingServer(JSON.stringify({ metadata: {}, items: [{ ...pod, status: { containerStatuses } }] }))
    const { view, close } = await logsIn(there)
    const parts = await view.fragments(0, new AbortController().signal)
    await close()
    equal(parts.filter(({ id }) => id.startsWith('log-')).length, 50)
    const text = parts.map(({ html }) => markupOf(html)).join('')
    match(text, /That is not all/)
    const logs = text.match(/x{1000}/g)?.length ?? 0
    ok(logs > 500 && logs <= 1000, `${logs} thousand characters of logs`)
  })

  it('are asked for no longer than somebody looks', async () => {
    const [asked, hungUp, leaving] = [Promise.withResolvers(), Promise.withResolvers(), new AbortController()]
    const there = await answeringServer((_request, response) => {
      asked.resolve(undefined)
      response.once('close', hungUp.resolve)
    })
    const { view, close } = await logsIn(there)
    const looking = view.fragments(0, leaving.signal)
    await asked.promise
    leaving.abort()
    await Promise.all([hungUp.promise, looking])
    await close()
  })
})

/** The view of the logs of a workspace whose target is that server. */
async function logsIn(there: StrangeServer) {
  const workspace: Workspace = {
    apiVersion: 'berth.dev/v1alpha1',
    kind: 'Workspace',
    metadata: { name: 'web', namespace: 'team-a', uid: 'u-1' },
    spec: {},
    status: { target: { name: 'there', namespace: 'home', apiURL: there.url } },
  }
  const kubernetesCredentials = { apiURL: there.url, clusterCredentialsSecret: 'key', allowInsecureSkipTLSVerify: true }
  const data = { kubeconfig: Buffer.from(kubeconfigFor(there.url)).toString('base64') }
  // It is all that is asked for at once: the workspace, its target and the Secret of that.
  const here = await tellingServer(JSON.stringify({ ...workspace, spec: { kubernetesCredentials }, type: 'Opaque', data }))
  const kube = kubeFromSecret(new Secret(kubeconfigFor(here.url)), { reach: undefined, insecureSkipTLSVerify: true })
  return {
    view: logsView({ kube, reach: { reach: undefined }, clock: systemClock }, workspace),
    close: () => Promise.all([kube.close(), there.close(), here.close()]),
  }
}
