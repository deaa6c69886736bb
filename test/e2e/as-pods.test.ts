import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { minutes, pause, systemClock } from '../../src/std/index.ts'
import { lacksNode, type NodeCluster } from '../support/node.ts'
import { killServer } from '../support/servers.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { announced, arrivesIn } from './pods/application.ts'
import { type Elsewhere, KAS_THERE, startElsewhere } from './pods/elsewhere.ts'
import { type AnyItem, PATIENT, type Site, soon, startSite, uidWithRestarts } from './pods/site.ts'
import { installWithTeam } from './pods/team.ts'

const NAMESPACE = 'berth-system'
const DNS_IS_AWAY_FOR = minutes(1)
/** The DNS server of a node, which is a process beside its kubelet. */
function dnsOf({ enter }: NodeCluster): number {
  const file = enter.find((word) => word.startsWith('--net='))?.slice('--net='.length) ?? ''
  const network = readlinkSync(file)
  const isIt = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/comm`, 'utf8') === 'dns\n' && readlinkSync(`/proc/${pid}/ns/net`) === network
    } catch {
      return false // It has ended meanwhile.
    }
  }
  const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isIt(name))
  assert.is(found.length, 1, `${found.length} DNS servers`)
  return Number(found[0])
}

describe(
  'Berth as pods, with the roles that it ships',
  (it) => {
    let site: Site
    let elsewhere: Elsewhere
    let there: NodeCluster

    /** Whatever went wrong meanwhile: what is pushed arrives, in either cluster. */
    const arrives = async (word: string) => {
      await arrivesIn(site.cluster(), space, word)
      await arrivesIn(there, spaceThere, word)
    }
    const push = (word: string) => soon(() => site.push('web', announced(word)))

    /** What nobody is to make a second time, or to start again: namespaces with what led to them, and pods of people with their restarts. */
    const standing = async () => {
      const made = (await site.items('namespaces,deploymenttargets,gitopsdeployments', '-A')).map(({ metadata }) => metadata.uid)
      const pods = (items: AnyItem[]) => items.map(uidWithRestarts)
      const web = JSON.parse(await there.kubectl('get', 'pods', '-n', spaceThere, '-l', 'app=web', '-o', 'json')).items
      return [
        made,
        pods(await site.items('pods', '-n', space, '-l', 'app=web')),
        pods(web),
        pods([await site.workspacePod()]),
      ].map((all) => all.toSorted())
    }
    let space: string
    let spaceThere: string

    it.before(async () => {
      site = await startSite({
        namespace: NAMESPACE,
        values: {
          kas: { names: [KAS_THERE, '127.0.0.1'] },
          programs: {
            kas: { replicas: 3 },
            operator: { replicas: 2, env: { BERTH_KAS_API: `https://kas.${NAMESPACE}.svc:8154` } },
          },
        },
      })
      elsewhere = await startElsewhere(site)
      there = elsewhere.cluster
      await installWithTeam(site, 'hello')
    })
    it.after(async () => {
      await elsewhere?.remove()
      await site?.remove()
    })

    it('is three kas, and two operators of which one leads', async () => {
      const pods = await site.items('pods', '-n', NAMESPACE, '--field-selector', 'status.phase=Running')
      const count = (name: string) => pods.filter(({ metadata }) => metadata.labels['app.kubernetes.io/name'] === name).length
      assert.equal([count('berth-kas'), count('berth-operator')], [3, 2])
    })

    it('makes a claimed namespace, and runs there what was pushed', async () => {
      await site.untilIs('jsonpath={.status.phase}=Bound', '-n', 'team-a', 'deploymenttargetclaim/production')
      space = await site.spaceOf('production')
      await eventually(() => site.kubectl('rollout', 'status', '-n', space, 'deployment/web', '--timeout=60s'), PATIENT)
    })

    it('runs what is in an earlier wave before the rest of it is there', async () => {
      const timeOf = (what: string, field: string) => site.kubectl('get', what, '-n', space, '-o', `jsonpath={${field}}`)
      const [done, begun] = [
        await timeOf('job/migrate', '.status.completionTime'),
        await timeOf('deployment/web', '.metadata.creationTimestamp'),
      ]
      assert.ok(done !== '' && done <= begun, `the Job was done at ${done}, the Deployment made at ${begun}`)
    })

    it('lets an agent in from another cluster', async () => {
      await elsewhere.connect()
      await elsewhere.startAgent()
      const agents = async () => JSON.parse((await site.berth('agent', 'list', '-n', 'team-a', '-o', 'json')).stdout)
      await eventually(async () => (await agents())[0]?.pods === 2, PATIENT)
    })

    it('leads people to the cluster of the agent', async () => {
      const words = ['--server', elsewhere.server, '--certificate-authority', elsewhere.authority]
      const { stdout } = await site.berth('agent', 'kubeconfig', 'dev', '-n', 'team-a', ...words)
      const kubeconfig = join(site.folder, 'dev.yaml')
      await writeFile(kubeconfig, stdout)
      const pods = () => site.kubectl('--kubeconfig', kubeconfig, 'get', 'pods', '-A', '-o', 'name')
      await soon(async () => assert.match(await pods(), /^pod\/berth-agent-/m))
    })

    it('makes a claimed namespace in the cluster of the agent, and runs there what was pushed', async () => {
      await site.kubectl('patch', 'agent.berth.dev/dev', '-n', 'team-a', '--type=merge', '-p', '{"spec":{"spaces":true}}')
      await site.applyFile('team-elsewhere.yaml')
      await site.untilIs('jsonpath={.status.phase}=Bound', '-n', 'team-a', 'deploymenttargetclaim/elsewhere')
      spaceThere = await site.spaceOf('elsewhere')
      await eventually(() => there.kubectl('rollout', 'status', '-n', spaceThere, 'deployment/web', '--timeout=60s'), PATIENT)
      await arrives('hello')
    })

    it('gives a workspace its clone, from which somebody commits and pushes', async () => {
      await site.untilIs('jsonpath={.status.actualState}=Running', '-n', 'team-a', 'workspace/web')
      await site.inWorkspace(`
        sed -i s/hello/inside/ production/said.yaml
        git -c user.name=me -c user.email=me@example.com commit --quiet --all --message 'Say something else'
        git push --quiet
        echo mine > note
      `)
      await arrives('inside')
    })

    it('lets through and keeps out whom its network policies say', async () => {
      await site.applyFile('stranger.yaml')
      await site.untilIs('condition=Ready', '-n', 'stranger', 'pod/stranger')
      const [kas, otherKas] = await site.items('pods', '-n', NAMESPACE, '-l', 'app.kubernetes.io/name=berth-kas')
      const [web, otherWeb] = await site.items('pods', '-n', space, '-l', 'app=web')
      const [git] = await site.items('pods', '-n', 'git')
      const [stranger] = await site.items('pods', '-n', 'stranger')
      const workspace = await site.workspacePod()
      const inPod = ({ metadata }: AnyItem, script: string) => site.inside(metadata.namespace, metadata.name, script)
      const isReached = ({ status }: AnyItem, at: number, by: AnyItem) =>
        inPod(by, `nc -w 2 ${status.podIP} ${at} < /dev/null`).then(
          () => true,
          () => false,
        )
      // Both listen, so that whoever does not reach them was refused. The image of Berth has no program that only connects.
      const connect = `net.connect(8155, '${otherKas.status.podIP}').on('connect', () => process.exit(0)).on('error', () => process.exit(1))`
      await inPod(kas, `node -e "${connect}"`)
      await inPod(workspace, `httpd -p 9090 -h /tmp; nc -w 2 ${workspace.status.podIP} 9090 < /dev/null`)

      const reached = {
        'kas by anybody, as agents do': await isReached(otherKas, 8150, stranger),
        'kas by strangers, as other kas do': await isReached(otherKas, 8155, stranger),
        'a space by itself': await isReached(web, 8080, otherWeb),
        'a space by strangers': await isReached(web, 8080, stranger),
        'a space by workspaces': await isReached(web, 8080, workspace),
        'the Git server by workspaces of its class': await isReached(git, 8443, workspace),
        'a workspace by strangers': await isReached(workspace, 9090, stranger),
      }
      assert.equal(reached, {
        'kas by anybody, as agents do': true,
        'kas by strangers, as other kas do': false,
        'a space by itself': true,
        'a space by strangers': false,
        'a space by workspaces': false,
        'the Git server by workspaces of its class': true,
        'a workspace by strangers': false,
      })
    })

    it('stops a workspace, and starts it with its files', async () => {
      await site.berth('stop', 'web', '-n', 'team-a')
      await site.untilIs('jsonpath={.status.actualState}=Stopped', '-n', 'team-a', 'workspace/web')
      await site.berth('start', 'web', '-n', 'team-a')
      await site.untilIs('jsonpath={.status.actualState}=Running', '-n', 'team-a', 'workspace/web')
      assert.is(await site.inWorkspace('cat note'), 'mine\n')
    })

    it('runs a hook when all of it is healthy, and again with the next push', async () => {
      const textOf = (what: string, field: string) => site.kubectl('get', what, '-n', space, '-o', `jsonpath={${field}}`)
      const done = () => soon(async () => assert.is(await textOf('job/announce', '.status.succeeded'), '1'))
      const uidOf = (name: string) => textOf(`job/${name}`, '.metadata.uid')
      await push('first')
      await done()
      const [begun, available] = [
        await textOf('job/announce', '.metadata.creationTimestamp'),
        await textOf('deployment/web', '.status.conditions[?(@.type=="Available")].lastTransitionTime'),
      ]
      assert.ok(available !== '' && available <= begun, `available at ${available}, the hook was made at ${begun}`)
      const [first, migrated] = [await uidOf('announce'), await uidOf('migrate')]
      await push('second')
      await soon(async () => assert.is.not(await uidOf('announce'), first))
      await done()
      assert.is(await uidOf('migrate'), migrated)
    })

    it('goes on when the operator that leads is killed', async () => {
      const before = await standing()
      const leader = () =>
        site.kubectl('get', 'lease', '-n', NAMESPACE, 'berth-operator', '-o', 'jsonpath={.spec.holderIdentity}')
      const first = await leader()
      const [pod = ''] = first.split('_')
      await push('led')
      await site.kubectl('delete', 'pod', '-n', NAMESPACE, pod, '--grace-period=0', '--force')
      await arrives('led')
      await push('again')
      await arrives('again')
      assert.is.not(await leader(), first)
      assert.equal(await standing(), before)
    })

    it('goes on when the kas is killed that has the agent', async () => {
      const before = await standing()
      const pods = async (): Promise<(string | undefined)[]> => {
        const [agent] = await site.items('agents.berth.dev', '-n', 'team-a')
        return agent.status.connectedPods.map((each: { kas?: string }) => each.kas)
      }
      // The Lease of a kas has the name of its pod in its own.
      const [lease = ''] = await pods()
      const kas = (await site.items('pods', '-n', NAMESPACE)).find(({ metadata }) => lease.includes(metadata.name))
      await push('lost')
      await site.kubectl('delete', 'pod', '-n', NAMESPACE, kas.metadata.name, '--grace-period=0', '--force')
      await arrives('lost')
      await eventually(async () => {
        const now = await pods()
        return now.length === 2 && now.every((each) => each !== undefined && each !== lease)
      }, PATIENT)
      assert.equal(await standing(), before)
    })

    it('goes on when the API server was killed', async () => {
      const before = await standing()
      await killServer(site.cluster(), 'kube-apiserver')
      await site.cluster().startServer('kube-apiserver')
      await push('restarted')
      await arrives('restarted')
      assert.equal(await eventually(standing, PATIENT), before)
    })

    it('goes on when there was no DNS for a minute', async () => {
      const before = await standing()
      const dns = dnsOf(site.cluster())
      process.kill(dns, 'SIGSTOP')
      try {
        await push('unnamed')
        await pause(systemClock, DNS_IS_AWAY_FOR)
      } finally {
        process.kill(dns, 'SIGCONT')
      }
      await arrives('unnamed')
      assert.equal(await standing(), before)
    })

    it('goes on when the node was started anew', async () => {
      const uidsOf = (all: string[][]) => all.map((each) => each.map((line) => line.split(' ')[0]))
      const before = uidsOf(await standing())
      await elsewhere.disconnect()
      await site.restart()
      await elsewhere.connect()
      await push('anew')
      await arrives('anew')
      await site.untilIs('jsonpath={.status.actualState}=Running', '-n', 'team-a', 'workspace/web')
      assert.is(await eventually(() => site.inWorkspace('cat note'), PATIENT), 'mine\n')
      assert.equal(uidsOf(await standing()), before)
    })
  },
  await lacksNode(),
)
