import { createHmac } from 'node:crypto'
import { equal, is, match, ok } from 'uvu/assert'
import { createObjectStream, type WantedFiles } from '../../src/adapters/grpc/index.ts'
import { ConfigMaps, GitProjects, isTrue } from '../../src/api/index.ts'
import { Secret, systemClock } from '../../src/std/index.ts'
import { createAgent, createProject, createSecret } from '../kas/running-kas.ts'
import { accountToken } from '../support/builders/credentials.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { type GitHost, gitHost, type TestRepository } from '../support/git-host.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { expectObject } from '../support/verbs.ts'
import { bringUp, filesOf, type Installation, sourceOf } from './installation.ts'

const FLOOD = 2000
const REPLAYS = 300
const PUSH = '{"ref":"refs/heads/main"}'

/** Mallory has `edit` in `evil`, accounts and an agent of her own, and knows the names of what is in `team-a`. */
describe('hostile: the doors of kas', (it) => {
  let berth: Installation
  /** The host of `hooked`, which is asked when a webhook says so, or in an hour. */
  let hooked: GitHost
  let repository: TestRepository
  it.before(async () => {
    hooked = await gitHost()
    berth = await bringUp(['team-a', 'evil'])
    const { url } = await berth.repository('team-a', 'private', { 'app/app.yaml': configMap('app') })
    await berth.follow('team-a', 'app', { source: sourceOf(url, { path: 'app' }) })
    repository = await hooked.repository('hooked')
    await repository.commit(filesOf({ 'app.yaml': configMap('hooked', { is: 'old' }) }))
    await createSecret(berth.kube, 'team-a', 'hook', { secret: 'hook' })
    const spec = { url: repository.url, pollInterval: '1h', webhookSecretRef: { name: 'hook' } }
    await createProject(berth.kube, 'team-a', 'hooked', spec)
    await berth.follow('team-a', 'hooked', { source: sourceOf(repository.url) })
    for (const name of ['app', 'hooked']) await expectObject(berth.kube, ConfigMaps, { name, namespace: 'team-a' }, () => true)
  })
  it.after(async () => {
    await berth.stop()
    await hooked.close()
  })

  /** What the door of webhooks says of a project of team-a. */
  const announcePush = async (name: string, signature: string) => {
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature }
    const url = `http://${berth.doorOf('kas', 'webhooks').address}/webhooks/team-a/${name}`
    const answer = await fetch(url, { method: 'POST', headers, body: PUSH })
    return { status: answer.status, text: await answer.text() }
  }

  /** A token of her account of this name, made for kas. */
  const account = async (name: string) => new Secret(await accountToken(berth.kube, 'evil', name, ['berth-kas']))
  /** What kas says to who asks so. */
  const refused = async (token: Secret<string>, wanted: Partial<WantedFiles>) => {
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

  it('read no pattern at length, neither a stranger’s nor one that is held against what there is', async () => {
    const token = new Secret(await createAgent(berth.kube, 'evil', 'costly'))
    const globs = Array.from({ length: 100 }, (_, at) => `${at}${'x'.repeat(470)}${'{a,b}'.repeat(7)}`)
    match(await refused(token, { globs }), /team-a\/private/)
    const deep = Array.from({ length: 100 }, (_, at) => `${at}${`/${'a'.repeat(39)}`.repeat(100)}`)
    const { url } = await berth.repository('evil', 'deep', Object.fromEntries(deep.map((path) => [path, configMap('deep')])))
    const spec = { url, grants: { agents: [{ name: 'costly' }] } }
    await berth.kube.patch(GitProjects, { name: 'deep', namespace: 'evil' }, { spec })
    match(await refused(token, { projectId: 'evil/deep', globs }), /paths stand for patterns of more than 32768 characters/)
    const costly = { projectId: 'evil/deep', globs: [`**/*${'a'.repeat(420)}b${'{a,b}'.repeat(6)}`] }
    match(await refused(token, costly), /takes too long for all files under its folder/)
  })

  it('are not made to hurry by who does not know the secret of a webhook; who knows it is heard, and his word repeated costs little', async () => {
    const { status, text } = await announcePush('private', 'sha256=0')
    hooked.traffic()
    for (let n = 0; n < FLOOD; n += 20) {
      const asked = Array.from({ length: 20 }, (_, at) =>
        announcePush(at % 2 === 0 ? 'hooked' : 'absent', `sha256=${'0'.repeat(64)}`),
      )
      for (const answer of await Promise.all(asked)) if (answer.status !== 429) equal(answer, { status, text })
    }
    is(status, 401)
    is(hooked.traffic().requests, 0)
    await repository.commit(filesOf({ 'app.yaml': configMap('hooked', { is: 'new' }) }))
    const genuine = `sha256=${createHmac('sha256', 'hook').update(PUSH).digest('hex')}`
    is((await announcePush('hooked', genuine)).status, 202)
    await expectObject(berth.kube, ConfigMaps, { name: 'hooked', namespace: 'team-a' }, ({ data }) => data?.is === 'new')
    hooked.traffic()
    for (let n = 0; n < REPLAYS; n++) is((await announcePush('hooked', genuine)).status, 202)
    const { requests } = hooked.traffic()
    ok(requests < REPLAYS / 2, `${requests}`)
    await expectObject(berth.kube, GitProjects, { name: 'private', namespace: 'team-a' }, ({ status: now }) =>
      isTrue(now?.conditions, 'Ready'),
    )
  })
})
