import { equal, is } from 'uvu/assert'
import { createConfigurationFinder } from '../../../src/kas/agent-configuration/index.ts'
import type { CommitSnapshot } from '../../../src/kas/ports/ports.ts'
import { treeOf } from '../../../src/kas/projects/tree.ts'
import { parseYamlTree, type ReadYamlTree } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

const FILE = Buffer.from('gitops:\n  manifest_projects:\n    - id: team-a/shop\n')
const { signal } = new AbortController()

const commitOf = (commit: string, data: Uint8Array): CommitSnapshot => ({
  commit,
  refName: 'refs/heads/main',
  isFetched: true,
  earlier: undefined,
  tree: async () => treeOf([{ path: '.berth/agents/dev/config.yaml', blob: 'x', size: data.length }]),
  read: async () => [data],
  line: async () => undefined,
})

describe('kas: the configuration of an agent', (it) => {
  it('is read by a thread on behalf of its namespace, and once, however many pods ask for it and however often', async () => {
    const asked: (string | undefined)[] = []
    const read: ReadYamlTree = (text, options, tenant) => {
      asked.push(tenant)
      return Promise.resolve(parseYamlTree(text, options))
    }
    const find = createConfigurationFinder(read)
    const agent = { name: 'dev', namespace: 'team-a' }
    const ask = (commit: string, data: Uint8Array) => find(commitOf(commit, data), agent, 'team-a/config', signal)
    const found = await Promise.all(Array.from({ length: 100 }, () => ask('a', FILE)))
    for (const { parsed } of found) is(parsed.configuration?.gitops?.manifestProjects[0]?.id, 'team-a/shop')
    // The same file in a later commit; and another one.
    equal([(await ask('b', FILE)).commit, (await ask('b', FILE)).parsed], ['b', found[0]?.parsed])
    is((await ask('c', Buffer.from('a: ['))).parsed.mistakes?.length, 1)
    equal(asked, ['team-a', 'team-a'])
  })
})
