import { equal, match, ok } from 'uvu/assert'
import { createObjectStream, type Wanted } from '../../src/adapters/grpc/index.ts'
import { ConfigMaps, GitProjects, isTrue } from '../../src/api/index.ts'
import { Secret, systemClock } from '../../src/std/index.ts'
import { createAgent, createProject } from '../kas/running-kas.ts'
import { accountToken } from '../support/builders/credentials.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { expectObject } from '../support/verbs.ts'
import { bringUp, type Installation, sourceOf } from './installation.ts'

const FLOOD = 2000

/** Mallory has `edit` in `evil`, accounts and an agent of her own, and knows the names of what is in `team-a`. */
describe('hostile: the doors of kas', (it) => {
  let berth: Installation
  it.before(async () => {
    berth = await bringUp(['team-a', 'evil'])
    const repository = await berth.repository('team-a', 'private', { 'app/app.yaml': configMap('app') })
    await berth.follow('team-a', 'app', { source: sourceOf(repository.url, { path: 'app' }) })
    await expectObject(berth.kube, ConfigMaps, { name: 'app', namespace: 'team-a' }, () => true)
  })
  it.after(() => berth.stop())

  /** A token of her account of this name, made for kas. */
  const account = async (name: string) => new Secret(await accountToken(berth.kube, 'evil', name, ['berth-kas']))
  /** What kas says to who asks so. */
  const refused = async (token: Secret<string>, wanted: Partial<Wanted>) => {
    const { address, ca } = berth.doorOf('kas', 'listen')
    const stream = createObjectStream({ address: `grpcs://${address}`, ca, token: async () => token, clock: systemClock })
    const whole = { projectId: 'team-a/private', ref: { kind: 'default' as const }, globs: ['**'], ...wanted }
    try {
      return await refusalOf(stream.fetchObjects(whole, AbortSignal.timeout(60_000)))
    } finally {
      stream.close()
    }
  }

  it('believe nobody but the operator on whose behalf he asks, whatever the call carries and whatever he is called', async () => {
    const { uid = '' } = (await berth.kube.get(GitProjects, { name: 'private', namespace: 'team-a' }))?.metadata ?? {}
    const tokens = [
      await account('plain'),
      await account('berth-operator'),
      new Secret(await createAgent(berth.kube, 'evil', 'mine')),
    ]
    const claims = [{}, { projectUid: uid }, { namespace: 'team-a' }, { namespace: 'team-a', serviceAccount: 'default' }]
    for (const token of tokens) {
      const absent = await refused(token, { projectId: 'team-a/absent', namespace: 'team-a' })
      for (const claim of claims) {
        const said = await refused(token, claim)
        // Nor is she told that it is there.
        equal(said, absent.replaceAll('team-a/absent', 'team-a/private'))
        match(said, /team-a\/private/)
      }
    }
  })

  it('are not made to hurry by who does not know the secret of a webhook', async () => {
    await createProject(berth.kube, 'evil', 'own', { url: `${berth.host.url}/evil-own.git` })
    const { address } = berth.doorOf('kas', 'webhooks')
    berth.host.traffic()
    const statuses = new Set<number>()
    const knock = async (n: number) => {
      const project = n % 2 === 0 ? 'team-a/private' : 'evil/own'
      const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${String(n).padStart(64, '0')}` }
      const answer = await fetch(`http://${address}/webhooks/${project}`, {
        method: 'POST',
        headers,
        body: '{"ref":"refs/heads/main"}',
      })
      statuses.add(answer.status)
      await answer.arrayBuffer()
    }
    for (let n = 0; n < FLOOD; n += 20) await Promise.all(Array.from({ length: 20 }, (_, at) => knock(n + at)))
    ok(
      [...statuses].every((status) => status >= 400 && status < 500),
      `${[...statuses]}`,
    )
    ok(berth.host.traffic().requests < FLOOD / 10, 'its polls alone')
    await expectObject(berth.kube, GitProjects, { name: 'private', namespace: 'team-a' }, ({ status }) =>
      isTrue(status?.conditions, 'Ready'),
    )
  })
})
