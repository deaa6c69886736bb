import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match } from 'uvu/assert'
import { describe } from '../support/suite.ts'
import { berth } from './berth.ts'

describe('berth agent kubeconfig', (it) => {
  let folder = ''
  it.before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-kubeconfig-'))
  })
  it.after(() => rm(folder, { recursive: true }))

  /** With a kubeconfig whose user is this. */
  const printed = async (user: object, ...more: string[]) => {
    const kubeconfig = join(folder, 'kubeconfig')
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'x',
      clusters: [{ name: 'x', cluster: { server: 'https://management.example.com' } }],
      users: [{ name: 'x', user }],
      contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    }
    await writeFile(kubeconfig, JSON.stringify(config))
    return berth(['agent', 'kubeconfig', 'dev', '-n', 'team-a', '--kubeconfig', kubeconfig, ...more])
  }
  const userIn = (text: string) => JSON.parse(text).users[0].user

  it('leads to kas with the token of the current context', async () => {
    const { code, stdout, stderr } = await printed({ token: 'mine' }, '--server', 'https://kas.example.com/')
    is(code, 0, stderr)
    const { clusters } = JSON.parse(stdout)
    is(clusters[0].cluster.server, 'https://kas.example.com/k8s/namespaces/team-a/agents/dev')
    equal(userIn(stdout), { token: 'mine' })
  })

  it('takes over an exec plugin as it is', async () => {
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'login',
      args: ['--now'],
      interactiveMode: 'IfAvailable',
    }
    equal(userIn((await printed({ exec })).stdout), { exec })
  })

  it('refuses a certificate and a server to which kubectl would send no token', async () => {
    const bare = await printed({ 'client-certificate-data': 'eA==', 'client-key-data': 'eA==' })
    equal([bare.code, bare.stdout], [7, ''])
    match(bare.stderr, /neither a token nor an exec plugin/)
    const plain = await printed({ token: 'mine' }, '--server', 'http://kas.example.com')
    equal([plain.code, plain.stdout], [7, ''])
    match(plain.stderr, /https:/)
  })
})
