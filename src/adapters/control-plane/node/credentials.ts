import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../../std/index.ts'
import { createAuthority, issueCertificate, type KeyAndCertificate } from '../../certificates/index.ts'
import { adminToken, kubeconfigFor, kubeletToken, MOST_UPTIME } from '../servers/credentials.ts'
import type { Layout } from '../servers/layout.ts'

/** The address of a node of ours, in its own network (hack/node). */
export const NODE_ADDRESS = '10.244.0.1'
/** The first address of the Services, which is the API's (flags.ts). */
const API_SERVICE = '10.96.0.1'
/**
 * What a node and its API server show each other, all of one authority whose key nobody keeps: the API server's certificate, for it has
 * addresses in the node's network too; the kubelet's; and the one by which the kubelet knows the API server. In `conf`: the files of
 * the node.
 */
export async function writeNodeCredentials(layout: Layout, url: string, conf: string, node: string): Promise<void> {
  const validity = { clock: systemClock, lifetime: MOST_UPTIME }
  const authority = await createAuthority('berth-node', validity)
  const api = await issueCertificate(
    authority,
    {
      name: 'kube-apiserver',
      dnsNames: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
      addresses: ['127.0.0.1', NODE_ADDRESS, API_SERVICE],
      usages: ['server'],
    },
    validity,
  )
  const kubelet = await issueCertificate(authority, { name: node, addresses: [NODE_ADDRESS], usages: ['server'] }, validity)
  const client = { name: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] }
  const apiToKubelet = await issueCertificate(authority, { ...client, usages: ['client'] }, validity)

  // The authority follows, as in the file that the API server makes where there is none.
  write(layout, { ...api, certificate: `${api.certificate}${authority.certificate}` })
  write(layout.kubeletClient, apiToKubelet)
  writeFileSync(layout.kubeletAuthority, authority.certificate)
  write({ certificate: join(conf, 'kubelet.crt'), certificateKey: join(conf, 'kubelet.key') }, kubelet)
  writeFileSync(join(conf, 'authority.crt'), authority.certificate)

  const kubeconfig = (token: string) => kubeconfigFor(url, authority.certificate, token)
  writeFileSync(join(conf, 'admin.kubeconfig'), kubeconfig(adminToken(layout)), PRIVATE)
  writeFileSync(join(conf, 'kubelet.kubeconfig'), kubeconfig(kubeletToken(layout, node)), PRIVATE)
}

const PRIVATE = { mode: 0o600 }

function write(files: { certificate: string; certificateKey: string }, { certificate, key }: KeyAndCertificate): void {
  writeFileSync(files.certificate, certificate)
  writeFileSync(files.certificateKey, key, PRIVATE)
}
