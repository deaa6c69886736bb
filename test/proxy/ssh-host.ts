import type { Kube } from '../../src/adapters/kube/index.ts'
import { keyPairFrom } from '../../src/adapters/ssh/index.ts'
import { Secrets } from '../../src/api/index.ts'
import { Secret } from '../../src/std/index.ts'
import type { SshClient } from './ssh-client.ts'

/** Has the client know the host by the key that lies in the home namespace of the proxy; gives the line that says it. */
export async function trustHost(client: SshClient, kube: Kube, namespace: string): Promise<string> {
  const secret = await kube.get(Secrets, { name: 'berth-proxy-ssh', namespace })
  const { line } = keyPairFrom(new Secret(Buffer.from(secret?.data?.ssh_host_ed25519_key ?? '', 'base64').toString()))
  await client.know(line)
  return line
}
