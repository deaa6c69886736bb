import { is } from 'uvu/assert'
import { Store } from '../../../src/adapters/kube/store.ts'
import type { Agent, ConfigMap, GitProject } from '../../../src/api/index.ts'
import { findFor, projectOf } from '../../../src/kas/authorization/find.ts'
import type { Caller } from '../../../src/kas/ports/ports.ts'
import { pathHoldersOf } from '../../../src/kas/projects/path-holders.ts'
import { projectsOf } from '../../../src/kas/projects/project.ts'
import { describe } from '../../support/suite.ts'
import { project } from '../running-kas.ts'

type Spec = Partial<GitProject['spec']>

const GRANTED: Spec = {
  grants: { agents: [{ name: 'dev', namespace: 'team' }], serviceAccounts: [{ name: 'default', namespace: 'team' }] },
}
const dev = (spec: Partial<Agent['spec']> = {}): Agent => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Agent',
  metadata: { name: 'dev', namespace: 'team' },
  spec: { configurationProject: 'team/config', ...spec },
})
const account: Caller = { kind: 'service-account', namespace: 'team', name: 'default' }

/** GitProjects in the order in which they were made, each named by its uid, and what the platform lists. */
function given(made: [uid: string, namespace: string, path: string, spec?: Spec][], listed: Record<string, string> = {}) {
  const [cache, lists] = [new Store<GitProject>(), new Store<ConfigMap>()]
  lists.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'list', uid: 'l', resourceVersion: '1' }, data: listed })
  for (const [at, [uid, namespace, path, spec]] of made.entries()) {
    const object = project(namespace, uid, { url: 'https://example.com/x', path, ...spec })
    const creationTimestamp = `2030-01-01T00:00:0${at}Z`
    cache.put({ ...object, metadata: { ...object.metadata, uid, resourceVersion: '1', creationTimestamp } })
  }
  const projects = projectsOf(cache, pathHoldersOf(lists))
  return {
    agent: (path: string, spec?: Partial<Agent['spec']>) => projectOf(dev(spec), projects, path)?.uid,
    account: (path: string, projectUid?: string) =>
      findFor({ caller: account, wanted: { path, projectUid }, agent: undefined }, projects)?.uid,
  }
}

describe('what a path means', (it) => {
  it('is nothing that a stranger wrote into his own, older or granted as it may be', () => {
    const { agent, account: sync } = given([
      ['squatted', 'evil', 'platform/base', { visibility: 'public', ...GRANTED }],
      ['own', 'platform', 'platform/base', GRANTED],
    ])
    is(agent('platform/base'), 'own')
    is(sync('platform/base'), 'own')
    const before = given([['squatted', 'evil', 'platform/base', GRANTED]])
    is(before.agent('platform/base'), undefined)
    is(before.account('platform/base'), undefined)
  })

  it("is the own namespace's, whatever its path begins with", () => {
    const { agent } = given([
      ['theirs', 'platform', 'platform/base', GRANTED],
      ['ours', 'team', 'platform/base'],
    ])
    is(agent('platform/base'), 'ours')
  })

  it('is nothing that is open to all and granted to nobody', () => {
    const { agent, account: sync } = given([['open', 'platform', 'platform/base', { visibility: 'public' }]])
    is(agent('platform/base'), undefined)
    is(sync('platform/base'), undefined)
    is(sync('platform/base', 'open'), undefined)
  })

  it('is what the platform lists for a namespace, and nothing beside it', () => {
    const made: Parameters<typeof given>[0] = [
      ['evil', 'evil', 'acme/base', GRANTED],
      ['listed', 'platform', 'acme/base', GRANTED],
      ['beside', 'platform', 'acme/baseline', GRANTED],
    ]
    const { agent } = given(made, { platform: '\n acme/base \nacme/tools\n' })
    is(agent('acme/base'), 'listed')
    is(agent('acme/baseline'), undefined)
    is(given(made).agent('acme/base'), undefined)
  })

  it('is of the own namespace where it is the configuration, or of the one that the Agent names, with a grant', () => {
    const { agent } = given([
      ['theirs', 'platform', 'platform/config', GRANTED],
      ['private', 'closed', 'closed/config'],
    ])
    is(agent('platform/config', { configurationProject: 'platform/config' }), undefined)
    const elsewhere = { configurationProject: 'platform/config', configurationProjectNamespace: 'platform' }
    is(agent('platform/config', elsewhere), 'theirs')
    const closed = { configurationProject: 'closed/config', configurationProjectNamespace: 'closed' }
    is(agent('closed/config', closed), undefined)
  })

  it('does not matter to the operator, who names the project itself', () => {
    const { account: sync } = given([['old', 'platform', 'old/base', GRANTED]])
    is(sync('old/base'), undefined)
    is(sync('old/base', 'old'), 'old')
    is(sync('old/base', 'another'), undefined)
  })
})
