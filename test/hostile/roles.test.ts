import type { ClientRequest, IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { is, ok } from 'uvu/assert'
import { serverMetric } from '../../hack/bench/waiting.ts'
import { isAllowed } from '../../src/adapters/kube/index.ts'
import { type Agent, Agents, apiVersionOf, conditionOf, GitProjects, RoleBindings, Roles } from '../../src/api/index.ts'
import { pause, seconds, systemClock } from '../../src/std/index.ts'
import { createProject } from '../kas/running-kas.ts'
import { accountToken, developer, untilMay } from '../support/builders/credentials.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { bringUp, type Installation } from './installation.ts'

/** GitProjects that a configuration names; their visitors develop the last one, so that each is asked about before. */
const PROJECTS = 200
const LAST = `p${PROJECTS - 1}`
const VISITORS = 12
const FLAPS = 300
/** How many questions are asked to see how long one takes. */
const SAMPLE = 400

/** Madmin leads `evil`. Accounts of his watch through an agent of his, and each time that a role changes there, everybody's right may be another. */
describe('hostile: roles that change all the time', (it) => {
  let berth: Installation
  let adas = ''
  const open: ClientRequest[] = []
  it.before(async () => {
    berth = await bringUp(['team-a', 'evil'])
    const { kube } = berth
    const { url } = await berth.host.repository('empty')
    const projects = Array.from({ length: PROJECTS }, (_, at) => ({ id: `evil/p${at}` }))
    for (const { id } of projects) await createProject(kube, 'evil', id.replace('evil/', ''), { url, pollInterval: '1h' })
    await bringAgent('evil', 'mine', projects)
    await bringAgent('team-a', 'dev', [{ id: 'team-a/config' }])
    adas = (await developer(kube, 'team-a', 'job')).token
    await eventually(async () => (await visit('team-a', 'dev', adas, '/version')).statusCode === 200)
  })
  it.after(async () => {
    for (const request of open) request.destroy()
    await berth.stop()
  })

  async function bringAgent(namespace: string, name: string, projects: object[]): Promise<void> {
    const configuration = {
      '.berth/agents/mine/config.yaml': { ci_access: { projects } },
      '.berth/agents/dev/config.yaml': { ci_access: { projects } },
    }
    await berth.repository(namespace, 'config', configuration)
    await berth.agent(namespace, name, { path: `${namespace}/config` })
    const isRead = ({ status }: Agent) => conditionOf(status?.conditions, 'ConfigurationValid')?.status === 'True'
    await expectObject(berth.kube, Agents, { name, namespace }, isRead)
  }
  const visit = (namespace: string, agent: string, token: string, path: string) => {
    const { address, ca } = berth.doorOf('kas', 'kubernetesApi')
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const headers = { authorization: `Bearer ${token}` }
    const url = `https://${address}/k8s/namespaces/${namespace}/agents/${agent}${path}`
    open.push(get(url, { ca, headers }, (answer) => resolve(answer.on('error', () => undefined).resume())).on('error', reject))
    return promise
  }
  /** Questions that the API server has been asked so far about what somebody may do. */
  const asked = () =>
    serverMetric(
      berth.kube,
      (line) => line.startsWith('apiserver_request_total{') && line.includes('resource="subjectaccessreviews"'),
    )
  /** How many questions one after the other are answered in a second. */
  const perSecond = async () => {
    const began = performance.now()
    for (let at = 0; at < SAMPLE; at++)
      await isAllowed(berth.kube, { user: 'nobody', groups: [] }, { ...question, namespace: 'evil' })
    return (SAMPLE / (performance.now() - began)) * 1000
  }
  const developLast = async (names: readonly string[]) => {
    const { kube } = berth
    const metadata = { name: 'develops', namespace: 'evil' }
    const rules = [{ apiGroups: [GitProjects.group], resources: [GitProjects.plural], resourceNames: [LAST], verbs: ['develop'] }]
    await kube.create(Roles, { apiVersion: apiVersionOf(Roles), kind: Roles.kind, metadata, rules })
    const subjects = names.map((name) => ({ kind: 'ServiceAccount', name, namespace: 'evil' }) as const)
    const roleRef = { apiGroup: Roles.group, kind: 'Role', name: metadata.name } as const
    await kube.create(RoleBindings, {
      apiVersion: apiVersionOf(RoleBindings),
      kind: RoleBindings.kind,
      metadata,
      roleRef,
      subjects,
    })
    await untilMay(kube, 'evil', 'system:serviceaccount:evil:visitor-0', question)
  }
  const question = { group: GitProjects.group, resource: GitProjects.plural, verb: 'develop', name: LAST }

  it('have kas ask no more than it would one after the other, for a while and then a tenth of the time', async () => {
    const { kube } = berth
    const names = Array.from({ length: VISITORS }, (_, at) => `visitor-${at}`)
    const tokens = await Promise.all(names.map((name) => accountToken(kube, 'evil', name)))
    await developLast(names)
    for (const token of tokens)
      is((await visit('evil', 'mine', token, '/api/v1/namespaces/evil/configmaps?watch=1')).statusCode, 200)
    const sample = await perSecond()
    const before = await asked()
    const start = performance.now()
    for (let at = 0; at < FLAPS; at++) {
      await kube.patch(RoleBindings, { name: 'default-edit', namespace: 'evil' }, { metadata: { annotations: { at: `${at}` } } })
      await pause(systemClock, seconds(0.1))
    }
    const took = (performance.now() - start) / 1000
    const more = (await asked()) - before
    // Twice as many as at the best time: those of kas need not take as long.
    const most = 2 * (5 + took / 10) * Math.max(sample, await perSecond())
    ok(more < most, `${more} questions, more than ${most}`)
    is((await visit('team-a', 'dev', adas, '/version')).statusCode, 200)
  })
})
