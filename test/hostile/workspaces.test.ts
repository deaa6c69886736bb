import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { text } from 'node:stream/consumers'
import { equal, is, match, not, ok } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import { annotations, ConfigMaps, conditionOf, DeploymentTargets, labels, Secrets, Workspaces } from '../../src/api/index.ts'
import { accountToken, allow, tokenOf } from '../support/builders/credentials.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { expectGone, expectObject } from '../support/verbs.ts'
import { workspace } from '../support/workspaces.ts'
import { bringUp, type Installation } from './installation.ts'

const WEB = { name: 'web', namespace: 'team-a' }
const ACCOUNT = { name: 'workspace-web', namespace: 'team-a' }
const RUNNING = ['BASH_ENV', 'GIT_ASKPASS', 'LD_PRELOAD', 'NODE_OPTIONS']
const asking = (url: string, options: RequestOptions) =>
  new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const answered = async (answer: IncomingMessage) => resolve({ status: answer.statusCode, text: await text(answer) })
    request(url, options, (answer) => answered(answer).catch(reject))
      .on('error', reject)
      .end()
  })
const base64 = (plain: string) => Buffer.from(plain).toString('base64')

/** Alice develops in `web`. Carl may patch workspaces and nothing else; Bob has `edit`, as she has. */
describe('hostile: another’s workspace', (it) => {
  let berth: Installation
  let alice: Kube
  let bob: Kube
  let carl: Kube
  it.before(async () => {
    berth = await bringUp(['team-a'])
    alice = await berth.person('alice', 'team-a', 'edit')
    bob = await berth.person('bob', 'team-a', 'edit')
    await allow(berth.kube, 'team-a', 'carl', {
      group: 'berth.dev',
      resource: 'workspaces',
      verbs: ['get', 'list', 'update', 'patch'],
    })
    carl = berth.as('carl')
    await alice.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'alice-git',
        namespace: 'team-a',
        labels: { [labels.gitCredentials]: 'true' },
        annotations: { [annotations.gitOwner]: 'alice' },
      },
      data: { username: base64('alice'), password: base64('hers alone') },
    })
    await berth.repository('team-a', 'shop', { 'README.md': 'A shop.' })
    await alice.create(Workspaces, workspace('team-a', 'web', { project: { gitProject: 'shop' } }))
    await expectObject(berth.kube, Workspaces, WEB, ({ status }) => status?.actualState === 'Running')
  })
  it.after(() => berth.stop())

  const inTarget = async () => {
    const [target] = await berth.kube.list(DeploymentTargets, { namespace: 'team-a' })
    return { name: 'workspace-web-git', namespace: target?.spec.kubernetesCredentials.defaultNamespace ?? '' }
  }
  const byCopy = { spec: { git: { userName: 'Carl', delivery: 'ByCopy', credentialsSecretRef: { name: 'alice-git' } } } }
  const refresh = (value: string) => ({ metadata: { annotations: { [annotations.refreshVariables]: value } } })

  it('is kept from nothing by when somebody says that it was used', async () => {
    // A date to JavaScript, and none to the API server.
    const note = { metadata: { annotations: { [annotations.lastActivity]: '+010000-01-01T00:00:00Z' } } }
    await carl.patch(Workspaces, WEB, note)
    for (const [desiredState, state] of [
      ['Stopped', 'Stopped'],
      ['Running', 'Running'],
    ] as const) {
      await alice.patch(Workspaces, WEB, { spec: { desiredState } })
      await expectObject(berth.kube, Workspaces, WEB, ({ status }) => status?.actualState === state)
    }
  })

  it('has its password given to nobody but its pods, whose tokens are for it alone', async () => {
    const uid = (await berth.kube.get(Workspaces, WEB))?.metadata.uid ?? ''
    const mayMake = await accountToken(bob, 'team-a', 'workspace-web', [`berth-git/${uid}`])
    const tokens = [
      mayMake,
      await tokenOf(bob, ACCOUNT, ['berth-git/of-another']),
      await tokenOf(bob, ACCOUNT, ['berth-kas']),
      '',
    ]
    // As the pods of the workspace ask.
    const { data } = await expectObject(berth.kube, ConfigMaps, await inTarget(), () => true)
    for (const token of tokens) {
      const headers = { authorization: `Bearer ${token}`, 'berth-git-url': data?.url ?? '' }
      const answer = await asking(`${data?.['kas-url']}/info/refs`, { headers, ca: data?.['kas-ca.crt'] })
      is(answer.status, 403)
      not.match(answer.text, /password|hers alone/)
    }
  })

  it('keeps its way to Git, so that nobody has the owner’s password copied to where he can read it', async () => {
    for (const as of [carl, bob])
      match(await refusalOf(as.patch(Workspaces, WEB, byCopy)), 'spec.git can be changed by the owner, alice,')
    const ref = await inTarget()
    is(await berth.kube.get(Secrets, ref), undefined)
    // She may: so it would have been there.
    await alice.patch(Workspaces, WEB, byCopy)
    const copy = await expectObject(berth.kube, Secrets, ref, ({ data }) => data?.password !== undefined)
    is(copy.data?.password, base64('hers alone'))
  })

  it('takes nothing that makes its programs run code from a Secret that others can write', async () => {
    const data = Object.fromEntries([...RUNNING, 'REGION'].map((name) => [name, base64('/bin/evil')]))
    for (const [level, of] of [
      ['group', ''],
      ['user', 'alice'],
    ] as const) {
      const notes = { [annotations.variablesOf]: of, [annotations.variablesType]: level === 'user' ? 'file' : 'environment' }
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: `evil-${level}`, namespace: 'team-a', labels: { [labels.variablesLevel]: level }, annotations: notes },
        data,
      }
      match(await refusalOf(bob.create(Secrets, secret)), 'gives variables to the workspaces of others: ask an admin')
      await berth.kube.create(Secrets, secret)
      match(await refusalOf(bob.patch(Secrets, secret.metadata, { data: { REGION: 'eHg=' } })), 'ask an admin')
      match(await refusalOf(bob.patch(Secrets, secret.metadata, { metadata: { labels: null } })), 'ask an admin')
    }
    const words = 'berth.dev/refresh-variables of annotations can be changed by the owner, alice,'
    for (const as of [carl, bob]) match(await refusalOf(as.patch(Workspaces, WEB, refresh('now'))), words)
    await alice.patch(Workspaces, WEB, refresh('hers'))
    const { status } = await expectObject(berth.kube, Workspaces, WEB, (now) => now.status?.variables?.refresh === 'hers')
    equal(
      status?.variables?.list?.map(({ name }) => name),
      ['REGION'],
    )
    is(status?.variables?.leftOut?.length, 2 * RUNNING.length)
    match(conditionOf(status?.conditions, 'VariablesInherited')?.message ?? '', 'it makes programs run code')
    const frozen = (await berth.kube.list(Secrets)).filter(({ metadata }) => metadata.name.startsWith('workspace-web-variables'))
    ok(frozen.length > 0)
    for (const secret of frozen) ok(!Object.keys(secret.data ?? {}).some((name) => RUNNING.includes(name)))
  })

  it('is held at its end by nobody else, and keeps what Berth has written on it', async () => {
    for (const metadata of [
      { finalizers: ['example.com/held'] },
      { finalizers: ['berth.dev/held'] },
      { labels: { 'berth.dev/own': 'x' } },
    ])
      match(await refusalOf(carl.patch(Workspaces, WEB, { metadata })), 'can be changed by the owner, alice,')
    await carl.patch(Workspaces, WEB, { metadata: { labels: { 'example.com/own': 'x' } } })
  })

  it('is its owner’s until it is gone, as what gives it variables is an admin’s', async () => {
    const ref = { name: 'leaving', namespace: 'team-a' }
    const stays = { metadata: { ...ref, finalizers: ['example.com/stays'] } }
    await alice.create(Workspaces, { ...workspace('team-a', 'leaving', { desiredState: 'Stopped' }), ...stays })
    await bob.create(Secrets, { apiVersion: 'v1', kind: 'Secret', ...stays, data: { TAR_OPTIONS: base64('--to-command=evil') } })
    for (const kind of [Workspaces, Secrets]) await bob.delete(kind, ref)
    const devfile = { inline: 'schemaVersion: 2.2.0\nevents: { postStop: [] }' }
    for (const as of [carl, bob])
      match(await refusalOf(as.patch(Workspaces, ref, { spec: { devfile } })), 'spec.devfile can be changed by the owner, alice,')
    const inherited = { metadata: { labels: { [labels.variablesLevel]: 'group' } } }
    match(await refusalOf(bob.patch(Secrets, ref, inherited)), 'ask an admin')
    for (const kind of [Workspaces, Secrets]) {
      // As the garbage collector does.
      await bob.patch(kind, ref, { metadata: { finalizers: [] } })
      await expectGone(berth.kube, kind, ref)
    }
  })

  it('can be stopped and started by those who may patch it, as before', async () => {
    for (const desiredState of ['Stopped', 'Running'] as const) {
      await carl.patch(Workspaces, WEB, { spec: { desiredState } })
      await expectObject(berth.kube, Workspaces, WEB, ({ status }) => status?.actualState === desiredState)
    }
  })
})
