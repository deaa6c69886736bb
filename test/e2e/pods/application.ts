import * as assert from 'uvu/assert'
import type { NodeCluster } from '../../support/node.ts'
import { soon } from './site.ts'

/** Lets everybody who may use the Agent into its cluster, with the rights of the agent. */
export const AGENT_CONFIGURATION = `
user_access:
  access_as: { agent: {} }
  projects: [{ id: team-a/config }]
`

/** Takes two seconds. */
const job = (name: string, annotation: string): string => `
apiVersion: batch/v1
kind: Job
metadata: { name: ${name}, annotations: { ${annotation} } }
spec:
  template:
    spec:
      restartPolicy: Never
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: RuntimeDefault } }
      containers:
        - name: ${name}
          image: localhost/busybox:1
          command: [sleep, '2']
          resources: { requests: { cpu: 10m, memory: 16Mi }, limits: { memory: 32Mi } }
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
`

/** An application that needs something done before it, and of which one word may be another with each push. */
export const application = (word: string) => ({
  'production/kustomization.yaml': 'resources: [web.yaml, said.yaml, migrate.yaml]',
  'production/said.yaml': `{ apiVersion: v1, kind: ConfigMap, metadata: { name: said }, data: { word: ${word} } }`,
  'production/migrate.yaml': job('migrate', "argocd.argoproj.io/sync-wave: '-1'"),
  'production/web.yaml': `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: RuntimeDefault } }
      containers:
        - name: web
          image: localhost/busybox:1
          command: [httpd, -f, -p, '8080']
          readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 }
          resources: { requests: { cpu: 10m, memory: 16Mi }, limits: { memory: 32Mi } }
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
`,
})

/** The same, with something that is done after it. */
export const announced = (word: string) => ({
  ...application(word),
  'production/kustomization.yaml': 'resources: [web.yaml, said.yaml, migrate.yaml, announce.yaml]',
  'production/announce.yaml': job('announce', 'argocd.argoproj.io/hook: PostSync'),
})

/** Waits until that word is in a namespace of a cluster. */
export const arrivesIn = (cluster: NodeCluster, space: string, word: string) =>
  soon(async () => assert.is(await cluster.kubectl('get', 'configmap', 'said', '-n', space, '-o', 'jsonpath={.data.word}'), word))
