import { equal, is, match, ok } from 'uvu/assert'
import { type Agent, Agents, ConfigMaps, RoleBindings } from '../../../src/api/index.ts'
import { numberOf } from '../../../src/kas/projects/number.ts'
import { isRecord } from '../../../src/std/index.ts'
import { bindUser, deployer, developer as developerOf } from '../../support/builders/credentials.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { createProject } from '../running-kas.ts'
import { openFixture } from './fixture.ts'

describe('kas: who passes to the cluster of an agent', (it) => {
  const cluster = testCluster()
  let fixture: Awaited<ReturnType<typeof openFixture>>
  let namespace = ''
  let elsewhere = ''
  let agent: Agent
  let developer = ''
  let stranger = ''
  const id = () => numberOf(agent.metadata.uid ?? '')

  it.before(async () => {
    namespace = await cluster.namespace('k8s')
    elsewhere = await cluster.namespace('people')
    fixture = await openFixture({ kube: cluster.kube, namespace, kubeconfig: cluster.kubeconfig, everywhere: true })
    await createProject(cluster.kube, namespace, 'config', {
      url: 'https://git.example.com/config',
      path: `${namespace}/deep/config`,
    })
    await createProject(cluster.kube, namespace, 'shop', { url: 'https://git.example.com/shop', path: `${namespace}/sub/shop` })
    agent = await fixture.agent('dev', {})
    // Who may edit in the namespace of the project develops it: the role is the cluster's own.
    developer = (await developerOf(cluster.kube, namespace, 'developer')).token
    stranger = (await deployer(cluster.kube, elsewhere, { name: 'stranger' })).token
    await fixture.hearsOf('dev', 'shop')
  })
  it.after(async () => {
    await fixture.stop()
    await cluster.close()
  })

  const write = (file: Parameters<typeof fixture.write>[1]) => fixture.write({ name: 'dev', namespace }, file)
  const call = (as: 'pat' | 'ci', token: string, path: string, init: RequestInit = {}) =>
    fetch(`${fixture.url}${path}`, { ...init, headers: { authorization: `Bearer ${as}:${id()}:${token}`, ...init.headers } })

  /** As whom the cluster sees the visitor. */
  const self = async (as: 'pat' | 'ci', token: string, headers: Record<string, string> = {}) => {
    const answer = await call(as, token, '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
    })
    const body: unknown = await answer.json()
    const status = isRecord(body) ? body.status : undefined
    return {
      code: answer.status,
      user: isRecord(status) && isRecord(status.userInfo) ? status.userInfo : undefined,
      body: JSON.stringify(body),
    }
  }
  const PROJECT = () => ({ projects: [{ id: `${namespace}/sub/shop` }] })

  it('shows a developer to the cluster as GitLab would', async () => {
    write({ user_access: { access_as: { user: {} }, ...PROJECT() } })
    const { user } = await self('pat', developer)
    const project = fixture.project({ name: 'shop', namespace })
    is(user?.username, `gitlab:user:system:serviceaccount:${namespace}:developer`)
    equal(user?.groups, [
      'gitlab:user',
      `gitlab:project_role:${project?.id}:reporter`,
      `gitlab:project_role:${project?.id}:developer`,
      'system:authenticated',
    ])
    ok(isRecord(user?.extra))
    equal(user.extra['agent.gitlab.com/id'], [String(id())])
  })

  it('lets developers act as the agent where that is configured', async () => {
    write({ user_access: { access_as: { agent: {} }, ...PROJECT() } })
    is((await self('pat', developer)).user?.username, 'berth-admin')
  })

  it('tells strangers of a closed agent what it tells of one that does not exist', async () => {
    write({ user_access: { access_as: { user: {} }, ...PROJECT() } })
    const hide = (text: string) => text.replace(/[0-9a-f]{32}|\d{4,}/g, '…')
    const closed = await self('pat', stranger)
    const absent = await fetch(`${fixture.url}/version`, { headers: { authorization: `Bearer pat:12345:${stranger}` } })
    equal([closed.code, absent.status], [403, 403])
    is(hide(await absent.text()), hide(closed.body))
    is((await self('pat', 'nobody')).code, 401)
  })

  it('admits nobody by a group of the system, and never passes one on', async () => {
    write({
      user_access: {
        access_as: { user: {} },
        groups: [{ id: 'system:authenticated' }, { id: `system:serviceaccounts:${elsewhere}` }],
      },
    })
    is((await self('pat', stranger)).code, 403)
    write({
      ci_access: { projects: [{ id: `${namespace}/sub/shop`, access_as: { impersonate: { username: 'system:admin' } } }] },
    })
    is((await self('ci', developer)).code, 403)
    write({
      ci_access: {
        projects: [{ id: `${namespace}/sub/shop`, access_as: { impersonate: { username: 'x', groups: ['system:masters'] } } }],
      },
    })
    is((await self('ci', developer)).code, 403)
  })

  it('shows a job to the cluster as GitLab would, by the most specific entry', async () => {
    write({
      ci_access: {
        groups: [
          { id: namespace, access_as: { agent: {} } },
          { id: `${namespace}/sub`, access_as: { impersonate: { username: 'inner' } } },
        ],
        projects: [{ id: `${namespace}/sub/shop`, access_as: { ci_job: {} } }],
      },
    })
    const { user } = await self('ci', developer)
    const project = fixture.project({ name: 'shop', namespace })
    match(String(user?.username), /^gitlab:ci_job:\d+$/)
    equal(user?.groups, [
      'gitlab:ci_job',
      `gitlab:group:${namespace}`,
      `gitlab:group:${namespace}/sub`,
      `gitlab:project:${project?.id}`,
      'system:authenticated',
    ])
    write({
      ci_access: {
        groups: [
          { id: namespace, access_as: { agent: {} } },
          {
            id: `${namespace}/sub`,
            access_as: { impersonate: { username: 'inner', groups: ['a', 'b'], extra: [{ key: 'k/e', val: ['ü'] }] } },
          },
        ],
      },
    })
    const inner = (await self('ci', developer)).user
    is(inner?.username, 'inner')
    equal(inner?.groups, ['a', 'b', 'system:authenticated'])
    equal(inner?.extra, { 'k/e': ['ü'] })
  })

  it('does not take an entry for an environment as one for all', async () => {
    write({
      ci_access: {
        projects: [
          { id: `${namespace}/sub/shop`, environments: ['production'], access_as: { impersonate: { username: 'prod' } } },
        ],
      },
    })
    is((await self('ci', developer)).code, 403)
  })

  it('lets those only impersonate who act as the agent, and nobody of the system', async () => {
    write({ user_access: { access_as: { user: {} }, ...PROJECT() } })
    is((await self('pat', developer, { 'impersonate-user': 'else' })).code, 400)
    write({ user_access: { access_as: { agent: {} }, ...PROJECT() } })
    is((await self('pat', developer, { 'impersonate-user': 'else' })).user?.username, 'else')
    is((await self('pat', developer, { 'impersonate-user': 'system:admin' })).code, 400)
    is((await self('pat', developer, { 'impersonate-user': 'x', 'impersonate-group': 'system:masters' })).code, 400)
  })

  it('ends a watch when the right to it is taken away, and not before', async () => {
    write({ user_access: { access_as: { agent: {} }, ...PROJECT() } })
    const answer = await call('pat', developer, `/api/v1/namespaces/${namespace}/configmaps?watch=true`)
    is(answer.status, 200)
    let events = 0
    let ended: unknown
    const reading = (async () => {
      for await (const _ of answer.body ?? []) events++
    })().catch((thrown: unknown) => {
      ended = thrown
    })
    await eventually(() => events > 0)
    // The same right by another text.
    write({ user_access: { access_as: { agent: {} }, projects: [{ id: `${namespace}/deep/config` }, ...PROJECT().projects] } })
    is((await self('pat', developer)).code, 201)
    is(ended, undefined)
    write({ user_access: { access_as: { agent: {} }, projects: [{ id: `${namespace}/other` }] } })
    await reading
    ok(ended)
    is((await self('pat', developer)).code, 403)
  })

  it('ends a watch within seconds when the role is taken away, and lets in within seconds who gets one', async () => {
    write({ user_access: { access_as: { agent: {} }, ...PROJECT() } })
    const { token } = await deployer(cluster.kube, elsewhere, { name: 'passing' })
    is((await self('pat', token)).code, 403)
    await bindUser(cluster.kube, namespace, `system:serviceaccount:${elsewhere}:passing`, 'edit')
    await eventually(async () => (await self('pat', token)).code === 201)
    const answer = await call('pat', token, `/api/v1/namespaces/${namespace}/configmaps?watch=true`)
    is(answer.status, 200)
    const reading = (async () => {
      for await (const _ of answer.body ?? []);
    })().then(
      () => false,
      () => true,
    )
    await cluster.kube.delete(RoleBindings, { name: `system-serviceaccount-${elsewhere}-passing-edit`, namespace })
    ok(await reading, 'the watch was cut')
    is((await self('pat', token)).code, 403)
  })

  it('lets nobody act as the agent for being at home in its configuration project', async () => {
    await fixture.agent('closed', {})
    const configurationProject = `${namespace}/deep/config`
    await cluster.kube.patch(Agents, { name: 'closed', namespace }, { spec: { configurationProject } })
    const closed = numberOf((await cluster.kube.get(Agents, { name: 'closed', namespace }))?.metadata.uid ?? '')
    await eventually(() => fixture.knows({ name: 'closed', namespace }))
    await eventually(() => fixture.project({ name: 'config', namespace }) !== undefined)
    const ask = async () =>
      (await fetch(`${fixture.url}/version`, { headers: { authorization: `Bearer ci:${closed}:${developer}` } })).status
    is(await ask(), 403)
    fixture.write({ name: 'closed', namespace }, { ci_access: { projects: [{ id: configurationProject }] } })
    is(await ask(), 200)
  })

  it('takes no right from a path that strangers gave their project', async () => {
    // The policy of the cluster lets them, here.
    const paths = { name: 'berth-project-paths', namespace: 'berth-system' }
    await cluster.kube.patch(ConfigMaps, paths, { data: { [elsewhere]: namespace } })
    for (const [name, path] of [
      ['free', `${namespace}/free`],
      ['taken', `${namespace}/sub/shop`],
      ['own', `${elsewhere}/own`],
    ] as const)
      await eventually(() => createProject(cluster.kube, elsewhere, name, { url: 'https://git.example.com/x', path }))
    await cluster.kube.patch(ConfigMaps, paths, { data: { [elsewhere]: null } })
    await eventually(() => fixture.project({ name: 'own', namespace: elsewhere }) !== undefined)
    write({ ci_access: { groups: [{ id: namespace }] } })
    is((await self('ci', stranger)).code, 403)
    write({ ci_access: { projects: [{ id: `${namespace}/free` }, { id: `${namespace}/sub/shop` }] } })
    is((await self('ci', stranger)).code, 403)
    write({ ci_access: { projects: [{ id: `${elsewhere}/own`, access_as: { impersonate: { username: 'guest' } } }] } })
    const guest = (await developerOf(cluster.kube, elsewhere, 'guest')).token
    is((await self('ci', guest)).user?.username, 'guest')
  })

  it('takes nobody for a job who is only in the namespace of a project, or may only read it', async () => {
    const reader = (await deployer(cluster.kube, namespace, { name: 'reader', role: 'view' })).token
    const grantee = (await deployer(cluster.kube, elsewhere, { name: 'grantee' })).token
    await createProject(cluster.kube, namespace, 'granted', {
      url: 'https://git.example.com/granted',
      grants: { serviceAccounts: [{ name: '*', namespace: elsewhere }, { name: '*' }] },
    })
    await eventually(() => fixture.project({ name: 'granted', namespace }) !== undefined)
    write({ ci_access: { groups: [{ id: namespace }], projects: [{ id: `${namespace}/granted` }, ...PROJECT().projects] } })
    is((await self('ci', reader)).code, 403)
    is((await self('ci', grantee)).code, 403)
    is((await self('ci', developer)).code, 201)
  })

  it('closes an agent that is deleted', async () => {
    write({ user_access: { access_as: { agent: {} }, ...PROJECT() } })
    is((await self('pat', developer)).code, 201)
    await cluster.kube.delete(Agents, { name: 'dev', namespace })
    await eventually(async () => (await self('pat', developer)).code === 403)
  })
})
