import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { NODE_ADDRESS } from './node/credentials.ts'
import { RECIPE_FOLDER } from './programs/recipe.ts'
import type { Tool } from './programs/tools.ts'
import type { Layout } from './servers/layout.ts'

/** The programs that keep running, in the order in which they start. */
export const SERVERS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kwok'] as const satisfies Tool[]
export type ServerName = (typeof SERVERS)[number]

/** Where the servers run. */
export interface ControlPlaneSite {
  port: number
  /** In the network of a node of ours; without it on the machine's loopback. */
  hasNode: boolean
}

/** Only what Kubernetes objects need to live; no cloud, no certificates, no node addresses. A wrong name ends it at start. */
const CONTROLLERS = [
  'namespace-controller',
  'garbage-collector-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'root-ca-certificate-publisher-controller',
  'clusterrole-aggregation-controller',
  'resourcequota-controller',
  'deployment-controller',
  'replicaset-controller',
  'statefulset-controller',
  'daemonset-controller',
  'job-controller',
  'cronjob-controller',
  'disruption-controller',
  'endpointslice-controller',
  'pod-garbage-collector-controller',
  'ttl-after-finished-controller',
  'persistentvolume-binder-controller',
  'persistentvolume-protection-controller',
  'persistentvolumeclaim-protection-controller',
  'node-lifecycle-controller',
  'taint-eviction-controller',
  'validatingadmissionpolicy-status-controller',
]

/** `port` is the API server's: the only one that is opened. etcd listens on a socket, the others serve nothing. */
export const FLAGS: Record<ServerName, (layout: Layout, site: ControlPlaneSite) => string[]> = {
  etcd: (layout) => [
    `--data-dir=${layout.data}`,
    // Losing power may lose the cluster, which is disposable; not waiting for the disk halves the time of every test.
    '--unsafe-no-fsync',
    '--listen-client-urls=unix://etcd.sock',
    '--listen-peer-urls=unix://etcd-peer.sock',
    // Nobody else joins, but etcd insists on an address of this form.
    '--advertise-client-urls=http://127.0.0.1:1',
    '--initial-advertise-peer-urls=http://127.0.0.1:1',
    '--initial-cluster=default=http://127.0.0.1:1',
    '--auto-compaction-mode=periodic',
    '--auto-compaction-retention=5m',
    '--quota-backend-bytes=4294967296',
    '--log-level=warn',
  ],
  'kube-apiserver': (layout, { port, hasNode }) => [
    '--etcd-servers=unix:etcd.sock',
    `--secure-port=${port}`,
    ...(hasNode ? besideNode(layout) : ALONE),
    `--cert-dir=${layout.certificates}`,
    `--token-auth-file=${layout.tokens}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${layout.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${layout.serviceAccountKey}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--allow-privileged=true',
    '--profiling=false',
  ],
  'kube-controller-manager': (layout) => [
    `--kubeconfig=${layout.kubeconfig}`,
    '--secure-port=0',
    '--leader-elect=false',
    `--root-ca-file=${layout.authority}`,
    `--service-account-private-key-file=${layout.serviceAccountKey}`,
    // A namespace takes dozens of requests to delete; at the default of 20 a second, a test run waits for nothing else.
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
    '--concurrent-namespace-syncs=20',
    '--profiling=false',
    `--controllers=${CONTROLLERS.join(',')}`,
  ],
  'kube-scheduler': (layout) => [
    `--kubeconfig=${layout.kubeconfig}`,
    '--secure-port=0',
    '--leader-elect=false',
    '--profiling=false',
  ],
  kwok: (layout) => [
    `--kubeconfig=${layout.kubeconfig}`,
    '--manage-all-nodes',
    '--node-lease-duration-seconds=40',
    '--cidr=10.100.0.1/16',
    ...stageFiles().map((file) => `--config=${file}`),
  ],
}

/** On loopback, with RBAC alone. */
const ALONE = [
  '--bind-address=127.0.0.1',
  // Loopback is refused in EndpointSlices, so nobody keeps the endpoints of the `kubernetes` Service.
  '--advertise-address=127.0.0.1',
  '--endpoint-reconciler-type=none',
  '--authorization-mode=RBAC',
]

/** In the network of a node of ours, whose pods and kubelet it knows. */
const besideNode = ({ kubeletAuthority, kubeletClient }: Layout): string[] => [
  '--bind-address=0.0.0.0',
  `--advertise-address=${NODE_ADDRESS}`,
  '--authorization-mode=Node,RBAC',
  // Whoever may make a Service could take over any address of the node's, Berth's and the API server's among them.
  '--enable-admission-plugins=DenyServiceExternalIPs',
  `--kubelet-certificate-authority=${kubeletAuthority}`,
  `--kubelet-client-certificate=${kubeletClient.certificate}`,
  `--kubelet-client-key=${kubeletClient.certificateKey}`,
  '--kubelet-preferred-address-types=InternalIP',
]

const STAGES = join(RECIPE_FOLDER, 'stages')

const stageFiles = (): string[] =>
  readdirSync(STAGES)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => join(STAGES, name))
