import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { is, match } from 'uvu/assert'
import { parse, stringify } from 'yaml'
import { deployer } from '../../support/builders/credentials.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { mcpClient } from './client.ts'

describe('the cluster of berth mcp', (it) => {
  const cluster = testCluster()
  let folder = ''
  it.before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-mcp-'))
  })
  it.after(async () => {
    await rm(folder, { recursive: true })
    await cluster.close()
  })

  it('is asked by one connection for all calls, and by another when it no longer accepts the credentials', async () => {
    const namespace = await cluster.namespace('mcp')
    const [runs, credentials, file] = [join(folder, 'runs'), join(folder, 'credentials'), join(folder, 'kubeconfig')]
    const config = parse((await deployer(cluster.kube, namespace)).kubeconfig)
    const give = (token: string) =>
      writeFile(
        credentials,
        JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token } }),
      )
    const accepted = config.users[0].user.token
    const args = ['-c', 'echo run >> "$1"; cat "$2"', 'sh', runs, credentials]
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args, interactiveMode: 'Never' }
    await writeFile(file, stringify({ ...config, users: [{ ...config.users[0], user: { exec } }] }))
    const count = async () => (await readFile(runs, 'utf8')).split('run').length - 1

    await give(accepted)
    const mcp = await mcpClient(file, '-n', namespace)
    try {
      const who = `User "system:serviceaccount:${namespace}:deployer" cannot list`
      for (let call = 0; call < 3; call++) match((await mcp.call('list_workspaces')).text, who)
      is(await count(), 1)
    } finally {
      await mcp.close()
    }

    await give('wrong')
    const late = await mcpClient(file, '-n', namespace)
    try {
      match((await late.call('list_workspaces')).text, 'Log in again')
      await give(accepted)
      match((await late.call('list_workspaces')).text, `User "system:serviceaccount:${namespace}:deployer" cannot list`)
    } finally {
      await late.close()
    }
  })
})
