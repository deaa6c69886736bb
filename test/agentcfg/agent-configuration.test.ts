import { equal, is, throws } from 'uvu/assert'
import { configurationFor, parseConfigurationFile } from '../../src/agentcfg/index.ts'
import { Failure, isFailure } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

const agent = { agentId: 7n, projectId: 8n, projectPath: 'team/config', berth: true }

function fileOf(text: string) {
  const { configuration } = parseConfigurationFile(Buffer.from(text), 'team/config')
  if (configuration) return configuration
  throw new Failure('invalid', text)
}

describe('agentcfg: what is sent', (it) => {
  it('names the agent and the project, and gives each manifest project its id', () => {
    const sent = configurationFor(fileOf('gitops: { manifest_projects: [{}, { id: a/b }] }'), agent)
    equal([sent.agentId, sent.projectId, sent.projectPath], [7n, 8n, 'team/config'])
    equal(
      sent.gitops?.manifestProjects.map(({ id }) => id),
      ['team/config', 'a/b'],
    )
  })

  it('keeps the access rules of people to itself, and passes on those of jobs', () => {
    const sent = configurationFor(
      fileOf('user_access: { access_as: { agent: {} } }\nci_access: { projects: [{ id: a }] }'),
      agent,
    )
    is('userAccess' in sent, false)
    is(sent.ciAccess?.projects[0]?.id, 'a')
  })

  it('sends an agent of another make no configuration whose limits it would not keep', () => {
    for (const key of [
      'namespaces: [a]',
      'allowed_kinds: [{ kind: Pod }]',
      'manifest_projects: [{ paths: [{ kustomize: a }] }]',
      'manifest_projects: [{ paths: [{ chart: { path: a } }] }]',
      'manifest_projects: [{ deletion: delete }]',
    ]) {
      const file = fileOf(`gitops: { ${key} }`)
      configurationFor(file, agent)
      throws(
        () => configurationFor(file, { ...agent, berth: false }),
        (thrown: unknown) => isFailure(thrown, 'invalid') && thrown.reason === 'AgentTooSimple',
        key,
      )
    }
  })

  it('leaves out what an agent of another make does anyway', () => {
    const file = fileOf('gitops: { manifest_projects: [{ deletion: orphan }] }')
    is(configurationFor(file, { ...agent, berth: false }).gitops?.manifestProjects[0]?.deletion, '')
    is(configurationFor(file, agent).gitops?.manifestProjects[0]?.deletion, 'orphan')
  })
})
