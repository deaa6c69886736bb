import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { parseAllDocuments } from 'yaml'
import type { AnyObject } from '../../src/api/index.ts'
import { lacksNode, type NodeCluster, nodeCluster } from '../support/node.ts'
import { describe } from '../support/suite.ts'
import { apply, eventually } from '../support/verbs.ts'

const OBJECTS = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: data, namespace: default }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: default }
spec:
  replicas: 1
  strategy: { type: Recreate }
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      terminationGracePeriodSeconds: 0
      securityContext: { runAsNonRoot: true, runAsUser: 1234, fsGroup: 2000, seccompProfile: { type: RuntimeDefault } }
      containers:
        - name: web
          image: localhost/busybox:1
          command: [sh, -c, 'echo began >> /data/starts; echo hello from a pod > /data/index.html; exec httpd -f -p 8080 -h /data']
          readinessProbe: { httpGet: { port: 8080, path: /index.html }, periodSeconds: 1 }
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
          volumeMounts: [{ name: data, mountPath: /data }]
      volumes: [{ name: data, persistentVolumeClaim: { claimName: data } }]
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: default }
spec: { selector: { app: web }, ports: [{ port: 80, targetPort: 8080 }] }
---
apiVersion: v1
kind: Pod
metadata: { name: client, namespace: default }
spec:
  terminationGracePeriodSeconds: 0
  containers: [{ name: client, image: localhost/busybox:1, command: [sleep, '10000'] }]
`

/** The HTTP status of a URL, whoever its certificate is of. */
const STATUS_OF = `
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  process.removeAllListeners('warning')
  const [url, token] = process.argv.slice(1)
  const { status } = await fetch(url, { headers: token ? { authorization: 'Bearer ' + token } : {} })
  process.stdout.write(String(status))
`

/** Of the bridge to which all pods are tied. */
const ADDRESS_OF_BRIDGE = `
  import { networkInterfaces } from 'node:os'
  process.stdout.write(networkInterfaces().cni0[0].mac)
`

describe(
  'a node of our own',
  (it) => {
    let cluster: NodeCluster
    const inClient = (script: string) => cluster.kubectl('exec', 'client', '--', 'sh', '-c', script)
    const inWeb = (script: string) => cluster.kubectl('exec', 'deploy/web', '--', 'sh', '-c', script)
    const inNetwork = async (script: string, ...parameters: string[]) => {
      const [program = '', ...rest] = [...cluster.enter, process.execPath, '--input-type=module', '--eval', script, ...parameters]
      return (await promisify(execFile)(program, rest)).stdout
    }
    const untilReady = (name: string) => cluster.kubectl('wait', '--for=condition=Available', `deploy/${name}`, '--timeout=120s')
    const bringUp = async (folder?: string) => {
      cluster = await nodeCluster(folder)
      for (const document of parseAllDocuments(OBJECTS)) await apply(cluster.kube, document.toJS() as AnyObject)
      await cluster.kubectl('wait', '--for=condition=Ready', 'pod/client', '--timeout=120s')
      await untilReady('web')
    }

    it.before(() => bringUp())
    it.after(() => cluster.remove())

    it('runs a pod without rights on a volume that is its own, and shows its log', async () => {
      assert.is(await inWeb('id -u; cat /data/starts'), '1234\nbegan\n')
      assert.is(await cluster.kubectl('logs', 'client'), '')
    })

    it('leads from one pod to another by the name of a Service', async () => {
      const page = () => inClient('wget -qO- http://web.default.svc/index.html').catch(() => '')
      assert.is(await eventually(page), 'hello from a pod\n')
    })

    it('keeps its hardware address, which pods remember, whatever pods come and go', async () => {
      assert.is(await inNetwork(ADDRESS_OF_BRIDGE), '0a:58:0a:f4:00:01')
    })

    it('lets a pod reach the API with its own token, and nobody without rights the kubelet', async () => {
      const token = await inClient('cat /var/run/secrets/kubernetes.io/serviceaccount/token')
      assert.is(await inClient('nc -w 5 kubernetes.default.svc 443 < /dev/null && echo open'), 'open\n')
      const ask = (url: string, ...headers: string[]) => inNetwork(STATUS_OF, url, ...headers)
      assert.is(await ask('https://10.96.0.1/version', token), '200')
      assert.is(await ask('https://10.244.0.1:10250/pods'), '401')
      assert.is(await ask('https://10.244.0.1:10250/pods', token), '403')
    })

    it('keeps what a volume holds while nothing runs', async () => {
      await cluster.kubectl('scale', 'deploy/web', '--replicas=0')
      await eventually(async () => (await cluster.kubectl('get', 'pods', '-l', 'app=web', '-o', 'name')) === '')
      await cluster.kubectl('scale', 'deploy/web', '--replicas=1')
      await untilReady('web')
      assert.is(await inWeb('cat /data/starts'), 'began\nbegan\n')
    })

    it('frees a volume when its claim goes', async () => {
      const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'brief', namespace: 'default' } }
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } }
      await apply(cluster.kube, { ...claim, spec } as AnyObject)
      const volumes = [{ name: 'brief', persistentVolumeClaim: { claimName: 'brief' } }]
      const container = {
        name: 'c',
        image: 'localhost/busybox:1',
        command: ['true'],
        volumeMounts: [{ name: 'brief', mountPath: '/brief' }],
      }
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'brief', namespace: 'default' } }
      await apply(cluster.kube, { ...pod, spec: { restartPolicy: 'Never', containers: [container], volumes } } as AnyObject)
      await cluster.kubectl('wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/brief', '--timeout=120s')
      const name = await cluster.kubectl('get', 'pvc', 'brief', '-o', 'jsonpath={.spec.volumeName}')
      await cluster.kubectl('delete', 'pod/brief', 'pvc/brief', '--wait=true')
      await eventually(async () => !(await cluster.kubectl('get', 'pv', '-o', 'name')).includes(name))
    })

    it('runs beside another node of the same name and addresses', async () => {
      const other = await nodeCluster()
      try {
        assert.is(await other.kubectl('get', 'nodes', '-o', 'name'), 'node/node-1\n')
        assert.is(await other.kubectl('get', 'pods', '-A', '-o', 'name'), '')
        assert.is(await inClient('wget -qO- http://web.default.svc/index.html'), 'hello from a pod\n')
      } finally {
        await other.remove()
      }
    })

    it('has its pods and volumes again when it was stopped and started in the same folder', async () => {
      await cluster.stop()
      await bringUp(cluster.dir)
      assert.is(await inWeb('cat /data/starts'), 'began\nbegan\nbegan\n')
      assert.is(await inClient('wget -qO- http://web.default.svc/index.html'), 'hello from a pod\n')
    })
  },
  await lacksNode(),
)
