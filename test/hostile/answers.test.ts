import { is, not } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import { GitOpsDeploymentManagedEnvironments, GitOpsDeployments, Secrets } from '../../src/api/index.ts'
import { managedEnvironment, managedSecret } from '../support/builders/environments.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { answeringServer, type StrangeServer } from '../support/builders/strange-server.ts'
import { describe } from '../support/suite.ts'
import { kubeconfigFor } from '../support/targets.ts'
import { bringUp, type Installation } from './installation.ts'

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
      await mallory.create(Secrets, managedSecret('evil', name, kubeconfigFor(internal.url)))
      const spec = { apiURL: internal.url, credentialsSecret: name, allowInsecureSkipTLSVerify: true, namespaces: ['evil'] }
      await mallory.create(GitOpsDeploymentManagedEnvironments, managedEnvironment('evil', name, spec))
      const { url: repoURL } = await berth.repository('evil', name, { 'a.yaml': JSON.stringify(configMap('a')) })
      const seen = internal.seen
      await berth.follow('evil', name, {
        source: { repoURL, path: '.', targetRevision: 'main' },
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
