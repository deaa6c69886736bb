import { is, not } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import { GitOpsDeploymentManagedEnvironments, GitOpsDeployments } from '../../src/api/index.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { answeringServer, type StrangeServer } from '../support/builders/strange-server.ts'
import { describe } from '../support/suite.ts'
import { kubeconfigFor } from '../support/targets.ts'
import { bringCluster, bringUp, type Installation, sourceOf } from './installation.ts'

const INSIDE = 'REFLECTED'

/** A tenant who names a machine of the platform as his cluster reads there what it answers, unless nothing of it is shown. */
describe('hostile: answers of another machine', (it) => {
  let berth: Installation
  let mallory: Kube
  let internal: StrangeServer
  let answer: { http: number; text: string }
  it.before(async () => {
    internal = await answeringServer((_, response) => response.writeHead(answer.http).end(answer.text))
    berth = await bringUp(['evil'])
    mallory = await berth.person('mallory', 'evil', 'edit')
  })
  it.after(async () => {
    await internal.close()
    await berth.stop()
  })

  const answers = [
    { what: 'that is no API', http: 403, text: `${INSIDE} `.repeat(20), words: /HTTP 403/ },
    {
      what: 'that answers like one',
      http: 403,
      text: JSON.stringify({ kind: 'Status', code: 403, reason: 'Forbidden', message: INSIDE, details: { name: INSIDE } }),
      words: /HTTP 403 \(Forbidden\)/,
    },
  ]
  for (const [at, { what, words, ...given }] of answers.entries())
    it(`are not shown to whoever named it as a cluster: one ${what}`, async () => {
      answer = given
      const name = `reader-${at}`
      const spec = { apiURL: internal.url, allowInsecureSkipTLSVerify: true, namespaces: ['evil'] }
      await bringCluster(mallory, { name, namespace: 'evil' }, kubeconfigFor(internal.url), spec)
      const { url } = await berth.repository('evil', name, { 'a.yaml': configMap('a') })
      const seen = internal.seen
      await berth.follow('evil', name, {
        source: sourceOf(url),
        destination: { environment: name, namespace: 'evil' },
      })
      await berth.told('evil', name, words)
      is(internal.seen > seen, true)
      const shown = [
        await mallory.list(GitOpsDeployments, { namespace: 'evil' }),
        await mallory.list(GitOpsDeploymentManagedEnvironments, { namespace: 'evil' }),
      ]
      not.match(JSON.stringify(shown), INSIDE)
    })
})
