import { equal, is, ok } from 'uvu/assert'
import { Agents, conditionOf } from '../../src/api/index.ts'
import { describe } from '../support/suite.ts'
import { expectObject } from '../support/verbs.ts'
import { bringUp, type Installation } from './installation.ts'

/** Whoever may read an Agent can write the digest of its token into one of his own. */
describe('hostile: a copied digest', (it) => {
  let berth: Installation
  it.before(async () => {
    berth = await bringUp(['team-a', 'evil'])
  })
  it.after(() => berth.stop())

  const dev = { name: 'dev', namespace: 'team-a' }
  const connected = () =>
    expectObject(berth.kube, Agents, dev, ({ status }) => conditionOf(status?.conditions, 'Connected')?.status === 'True')

  it('throws nobody out, and lets nobody in, whichever Agent is the older one', async () => {
    const mallory = await berth.person('mallory', 'evil', 'admin')
    const mine = { name: 'mine', namespace: 'evil' }
    const bare = { apiVersion: 'berth.dev/v1alpha1', kind: 'Agent', spec: { configurationProject: 'evil/own' } }
    await mallory.create(Agents, { ...bare, metadata: mine })
    await berth.repository('team-a', 'config', { '.berth/agents/dev/config.yaml': '{}' })
    await berth.agent('team-a', 'dev', { path: 'team-a/config' })
    const { spec, status } = await connected()
    ok(spec.tokens)
    await mallory.patch(Agents, mine, { spec: { tokens: spec.tokens } })
    await mallory.create(Agents, { ...bare, metadata: { ...mine, name: 'young' }, spec: { ...bare.spec, tokens: spec.tokens } })
    for (const name of ['mine', 'young']) {
      const told = ({ status: its }: { status?: { tokens?: { copied?: boolean }[] } }) => its?.tokens?.[0]?.copied === true
      const copy = await expectObject(berth.kube, Agents, { ...mine, name }, told)
      is(conditionOf(copy.status?.conditions, 'Connected')?.reason, 'TokenCopied')
    }
    // The very connection goes on: a new one would have another number and another time.
    equal((await connected()).status?.connectedPods, status?.connectedPods)
  })
})
