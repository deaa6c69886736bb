import { is } from 'uvu/assert'
import { kubeFromSecret } from '../../../src/adapters/kube/index.ts'
import { labels } from '../../../src/api/index.ts'
import { createSurvey } from '../../../src/operator/workspace/survey.ts'
import { Secret, silentLog, systemClock } from '../../../src/std/index.ts'
import { tellingServer } from '../../support/builders/strange-server.ts'
import { describe } from '../../support/suite.ts'
import { kubeconfigFor } from '../../support/targets.ts'

describe('workspace: many objects in a target', (it) => {
  /** What a survey saw of a workspace, where each list of the target has one object of this size. */
  const seenOf = async (uid: string, size: number) => {
    const metadata = { name: 'big', labels: { [labels.workspaceUid]: uid } }
    const server = await tellingServer(JSON.stringify({ metadata: {}, items: [{ metadata, data: { x: 'x'.repeat(size) } }] }))
    const { url } = server
    const kube = kubeFromSecret(new Secret(kubeconfigFor(url)), { server: url, reach: undefined, insecureSkipTLSVerify: true })
    const made = Promise.withResolvers<void>()
    const survey = createSurvey({ kube, clock: systemClock, log: silentLog, namespace: 'a', count: () => 10, done: made.resolve })
    is(survey.isAwaited(uid), true)
    await made.promise
    const sighting = survey.take(uid)
    survey.close()
    await kube.close()
    await server.close()
    return sighting?.size
  }

  it('are asked for one by one where they are too many to be listed, rather than taken for all there are', async () => {
    is(await seenOf('a', 100), 7)
    is(await seenOf('a', 8_000_000), undefined)
  })
})
