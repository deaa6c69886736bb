import { is, match } from 'uvu/assert'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { startBerth } from './berth.ts'

describe('a file that a flag names', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  const KAS = ['--kas-address', 'grpc://127.0.0.1:1']
  const POD = ['--namespace', 'home', '--pod-name', 'me']
  const NOWHERE = '/nowhere/file'
  const commands: [flag: string, words: string[]][] = [
    ['--token-file', ['agent', 'run', ...KAS, ...POD, '--token-file', NOWHERE]],
    ['--token-file', ['agentw', ...KAS, '--workspace', 'a/b', '--token-file', NOWHERE]],
    ['--kas-ca', ['operator', '--kas-ca', NOWHERE]],
    ['--git-ca', ['operator', '--git-ca', NOWHERE]],
  ]
  for (const [flag, words] of commands)
    it(`is told with ${flag} when it is not there, by ${words[0]}`, async () => {
      const { code, stderr } = await startBerth(words, { env: { KUBECONFIG: cluster.kubeconfig } }).ended
      is(code, 3)
      match(stderr, new RegExp(`cannot read ${NOWHERE}.*\\s+Name a file with ${flag}\\.`))
    })
})
