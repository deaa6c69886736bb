import { equal, is } from 'uvu/assert'
import { parseConfigurationFile } from '../../src/agentcfg/index.ts'
import { type Agent, keyOf } from '../../src/api/index.ts'
import { rememberConfigurations } from '../../src/kas/agent-configuration/index.ts'
import { Failure } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

type Listener = (now: Agent | undefined, before: Agent | undefined) => void

const agent = (uid: string, configurationProject = 'team/config'): Agent => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Agent',
  metadata: { name: 'dev', namespace: 'home', uid },
  spec: { configurationProject },
})
const ref = { name: 'dev', namespace: 'home' }

function fileOf(project: string) {
  const text = `flux: {}\nuser_access: { access_as: { user: {} }, projects: [{ id: ${project} }] }`
  const { configuration } = parseConfigurationFile(Buffer.from(text), '')
  if (configuration) return configuration
  throw new Failure('invalid', text)
}

describe('kas: what is remembered of configurations', (it) => {
  const given = () => {
    const listeners: Listener[] = []
    const memory = rememberConfigurations({
      onChange(listener) {
        listeners.push(listener)
        return () => void listeners.splice(listeners.indexOf(listener), 1)
      },
    })
    const news: string[] = []
    memory.onChange((one) => news.push(keyOf(one)))
    const change: Listener = (now, before) => {
      for (const listener of listeners) listener(now, before)
    }
    return { memory, news, change, listeners }
  }

  it('is the access rules of the last file, and the same object while they are the same', () => {
    const { memory, news } = given()
    is(memory.of(ref), undefined)
    memory.keep(ref, 'u1', fileOf('a/b'))
    const first = memory.of(ref)
    equal([first?.userAccess?.projects[0]?.id, first?.flux], ['a/b', undefined])
    memory.keep(ref, 'u1', fileOf('a/b'))
    is(memory.of(ref), first)
    memory.keep(ref, 'u1', fileOf('c/d'))
    is(memory.of(ref)?.userAccess?.projects[0]?.id, 'c/d')
    equal(news, ['home/dev', 'home/dev'])
  })

  it('goes with the Agent, and with the project that it was read from', () => {
    for (const now of [undefined, agent('u2'), agent('u1', 'other/config')]) {
      const { memory, news, change, listeners } = given()
      memory.keep(ref, 'u1', fileOf('a/b'))
      change(agent('u1'), agent('u1'))
      is(memory.of(ref)?.userAccess?.projects.length, 1)
      change(now, agent('u1'))
      is(memory.of(ref), undefined)
      is(news.length, 2)
      memory.stop()
      is(listeners.length, 0)
    }
  })
})
