import * as assert from 'uvu/assert'
import { lacksNode, type NodeCluster, nodeCluster } from '../support/node.ts'
import { describe } from '../support/suite.ts'
import { apply, eventually } from '../support/verbs.ts'

const NAMESPACES = `
apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: v1
kind: Namespace
metadata: { name: guests, labels: { may: come-in } }
---
apiVersion: v1
kind: Service
metadata: { name: server, namespace: shop }
spec: { selector: { app: server }, ports: [{ port: 80, targetPort: 8080 }] }
`

/** Listens on 8080 and 9090, and asks others. */
const pod = (path: string, app: string, more = '') => {
  const [namespace, name] = path.split('/')
  return `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: ${namespace}, labels: { app: ${app} } }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - name: main
      image: localhost/busybox:1
      command: [sh, -c, 'httpd -p 8080 -h /tmp; exec httpd -f -p 9090 -h /tmp']
      ${more}
`
}

const PODS = { 'shop/server': 'server', 'shop/client': 'client', 'shop/stranger': 'stranger', 'guests/client': 'client' }

const policy = (spec: string) => `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: rule, namespace: shop }
spec: ${spec}
`

/** A new pod is open until the firewall has seen it, and a policy holds a moment after it was made: each waits for what stays. */
describe(
  'NetworkPolicies on a node of our own',
  (it) => {
    let cluster: NodeCluster
    const at = (path: string) => {
      const [namespace = '', name = ''] = path.split('/')
      return ['-n', namespace, name]
    }
    const inPod = (path: string, script: string) => cluster.kubectl('exec', ...at(path), '--', 'sh', '-c', script)
    const addressOf = (path: string) => cluster.kubectl('get', 'pod', ...at(path), '-o', 'jsonpath={.status.podIP}')
    const isOpen = async (from: string, address: string, port: number) => {
      const said = await inPod(from, `nc -w 2 ${address} ${port} < /dev/null > /dev/null 2>&1 && echo open || echo closed`)
      return said === 'open\n'
    }
    const opens = async (from: string, to: string, port = 8080) => isOpen(from, await addressOf(to), port)
    /** Those who reach the server. */
    const guestsOf = async (clients = ['shop/client', 'shop/stranger', 'guests/client']) => {
      const asked = await Promise.all(clients.map((client) => opens(client, 'shop/server')))
      return clients.filter((_, place) => asked[place])
    }
    const untilGuestsAre = (...expected: string[]) => eventually(async () => assert.equal(await guestsOf(), expected) ?? true)
    const untilReady = (path: string) => cluster.kubectl('wait', '--for=condition=Ready', '--timeout=120s', 'pod', ...at(path))
    const enforce = (spec: string) => apply(cluster.kube, policy(spec))

    it.before(async () => {
      cluster = await nodeCluster()
      await apply(cluster.kube, NAMESPACES)
      for (const [path, app] of Object.entries(PODS)) await apply(cluster.kube, pod(path, app))
      for (const path of Object.keys(PODS)) await untilReady(path)
    })
    it.after(() => cluster.remove())
    it.beforeEach(async () => {
      await cluster.kubectl('delete', 'networkpolicies', '-n', 'shop', '--all')
      await untilGuestsAre('shop/client', 'shop/stranger', 'guests/client')
    })

    it('lets nobody in where nobody is named', async () => {
      await enforce('{ podSelector: {}, policyTypes: [Ingress] }')
      await untilGuestsAre()
    })

    it('lets in the pods of a namespace with a label', async () => {
      await enforce('{ podSelector: {}, ingress: [{ from: [{ namespaceSelector: { matchLabels: { may: come-in } } }] }] }')
      await untilGuestsAre('guests/client')
    })

    it('lets in pods with a label, and not those of another namespace', async () => {
      await enforce('{ podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { app: client } } }] }] }')
      await untilGuestsAre('shop/client')
    })

    it('lets in to one port, and not to another', async () => {
      await enforce('{ podSelector: {}, ingress: [{ ports: [{ port: 9090 }] }] }')
      await untilGuestsAre()
      await eventually(() => opens('guests/client', 'shop/server', 9090))
    })

    it('lets out to one port, and not to another', async () => {
      await enforce(
        '{ podSelector: { matchLabels: { app: client } }, policyTypes: [Egress], egress: [{ ports: [{ port: 9090 }] }] }',
      )
      await untilGuestsAre('shop/stranger', 'guests/client')
      await eventually(() => opens('shop/client', 'shop/server', 9090))
    })

    it('lets out to a block of addresses without those that it excepts', async () => {
      const block = `{ cidr: 10.244.0.0/16, except: [${await addressOf('shop/server')}/32] }`
      await enforce(`{ podSelector: {}, policyTypes: [Egress], egress: [{ to: [{ ipBlock: ${block} }] }] }`)
      await untilGuestsAre('guests/client')
      await eventually(() => opens('shop/client', 'guests/client'))
    })

    it('lets a pod out to its own node whatever a policy says, as Kubernetes does', async () => {
      await enforce('{ podSelector: {}, policyTypes: [Egress] }')
      await untilGuestsAre('guests/client')
      assert.ok(await isOpen('shop/client', '10.244.0.1', 10_250))
      // The name server is there.
      assert.match(await inPod('shop/client', 'nslookup server.shop.svc.cluster.local'), /Address: 10\.96\./)
    })

    it('judges what comes by the address of a Service', async () => {
      await enforce('{ podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { app: client } } }] }] }')
      await untilGuestsAre('shop/client')
      const byService = (client: string) => isOpen(client, 'server.shop.svc.cluster.local', 80)
      await eventually(async () => !(await byService('guests/client')))
      await eventually(() => byService('shop/client'))
    })

    it('lets in a pod that is made later, and not its like in another namespace', async () => {
      await enforce('{ podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { app: client } } }] }] }')
      const late = ['shop/late', 'guests/late']
      for (const path of late) await apply(cluster.kube, pod(path, 'client'))
      for (const path of late) await untilReady(path)
      await eventually(async () => assert.equal(await guestsOf(late), ['shop/late']) ?? true)
    })

    it('lets the kubelet probe pods whom nobody else reaches', async () => {
      await enforce('{ podSelector: {}, policyTypes: [Ingress, Egress] }')
      await untilGuestsAre()
      const probe = '{ httpGet: { port: 8080, path: /ready }, periodSeconds: 1 }'
      await apply(cluster.kube, pod('shop/probed', 'probed', `readinessProbe: ${probe}`))
      await eventually(async () => (await inPod('shop/probed', 'pidof httpd')) !== '')
      await eventually(async () => !(await opens('guests/client', 'shop/probed')))
      await inPod('shop/probed', 'touch /tmp/ready')
      await untilReady('shop/probed')
    })

    it('opens again when the policy goes', async () => {
      await enforce('{ podSelector: {}, policyTypes: [Ingress] }')
      await untilGuestsAre()
      await cluster.kubectl('delete', 'networkpolicy', '-n', 'shop', 'rule')
      await untilGuestsAre('shop/client', 'shop/stranger', 'guests/client')
    })

    it('has its policies again when it was stopped and started in the same folder', async () => {
      await enforce('{ podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { app: client } } }] }] }')
      await cluster.stop()
      cluster = await nodeCluster(cluster.dir)
      await untilGuestsAre('shop/client')
    })
  },
  await lacksNode(),
)
