import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { buildGo, lacksGo } from '../support/go-program.ts'
import { lacksNode, type NodeCluster } from '../support/node.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { AGENT_CONFIGURATION, application, arrivesIn } from './pods/application.ts'
import { type Elsewhere, KAS_THERE, startElsewhere } from './pods/elsewhere.ts'
import { type AnyItem, PATIENT, type Site, soon, startSite, uidWithRestarts } from './pods/site.ts'
import { installWithTeam } from './pods/team.ts'

const SNAPSHOTS = join(import.meta.dirname, '..', 'support', 'etcd-snapshot')
const NAMESPACE = 'berth-system'
/** As etcd is started (adapters/control-plane/flags.ts). */
const PEER = 'http://127.0.0.1:1'

const run = promisify(execFile)
const LATER_CONFIGURATION = `${AGENT_CONFIGURATION}
gitops:
  manifest_projects: [{ id: team-a/later, default_namespace: default, deletion: delete, paths: [{ glob: /*.yaml }] }]
`
const later = (word: string) => ({
  ...application(word),
  'production/kustomization.yaml': 'resources: [web.yaml, said.yaml, more.yaml]',
  'production/more.yaml': '{ apiVersion: v1, kind: ConfigMap, metadata: { name: more } }',
})

describe(
  'a cluster that gets the state of an hour ago',
  (it) => {
    let site: Site
    let elsewhere: Elsewhere
    let etcd: string

    const itemsOf = async (cluster: NodeCluster, ...words: string[]): Promise<AnyItem[]> =>
      JSON.parse(await cluster.kubectl('get', ...words, '-o', 'json')).items
    const untilBound = (claim: string) =>
      site.untilIs('jsonpath={.status.phase}=Bound', '-n', 'team-a', `deploymenttargetclaim/${claim}`)
    /** What was made in spaces, with its uid; pods also with their restarts. */
    const madeIn = async (cluster: NodeCluster) => {
      const spaces = await itemsOf(cluster, 'namespaces', '-l', 'app.kubernetes.io/managed-by=berth')
      const inSpaces = await Promise.all(
        spaces.map(async ({ metadata: { name, uid } }) => [
          `${name} ${uid}`,
          ...(await itemsOf(cluster, 'configmaps', '-n', name)).map(({ metadata }) => `${metadata.name} ${metadata.uid}`),
          ...(await itemsOf(cluster, 'pods', '-n', name)).map(uidWithRestarts),
        ]),
      )
      const byAgent = await itemsOf(cluster, 'configmap', '-n', 'default', '--field-selector', 'metadata.name=by-agent')
      return [...inSpaces.flat(), ...byAgent.map(({ metadata }) => `${metadata.name} ${metadata.uid}`)].toSorted()
    }
    const volumes = async () => (await site.items('pvc', '-A', '-l', 'berth.dev/workspace')).map(({ metadata }) => metadata.uid)
    const snapshot = () => join(site.folder, 'snapshot.db')

    it.before(async () => {
      etcd = await buildGo(SNAPSHOTS)
      const operator = { env: { BERTH_KAS_API: `https://kas.${NAMESPACE}.svc:8154` } }
      site = await startSite({ namespace: NAMESPACE, values: { kas: { names: [KAS_THERE] }, programs: { operator } } })
      elsewhere = await startElsewhere(site)
      await installWithTeam(site, 'before')
      await elsewhere.connect()
      await elsewhere.startAgent()
      await site.kubectl('patch', 'agent.berth.dev/dev', '-n', 'team-a', '--type=merge', '-p', '{"spec":{"spaces":true}}')
      await site.applyFile('team-elsewhere.yaml')
      for (const claim of ['production', 'elsewhere']) await untilBound(claim)
      await site.untilIs('jsonpath={.status.actualState}=Running', '-n', 'team-a', 'workspace/web')
      await arrivesIn(site.cluster(), await site.spaceOf('production'), 'before')
      await arrivesIn(elsewhere.cluster, await site.spaceOf('elsewhere'), 'before')
      await site.inWorkspace('echo early > early')
      await run(etcd, ['save', snapshot(), '--endpoints', `unix://${join(site.folder, 'node', 'etcd.sock')}`])
    })
    it.after(async () => {
      await elsewhere?.remove()
      await site?.remove()
    })

    let there: string[]
    let spaces: string[]
    let laterSpace: string

    it('has more by then, here and in the cluster of the agent', async () => {
      await site.push('web', later('after'))
      await site.push('later', { 'by-agent.yaml': '{ apiVersion: v1, kind: ConfigMap, metadata: { name: by-agent } }' })
      await site.push('config', { '.berth/agents/dev/config.yaml': LATER_CONFIGURATION })
      await site.applyFile('later.yaml')
      await untilBound('later')
      laterSpace = await site.spaceOf('later')
      spaces = [await site.spaceOf('production'), await site.spaceOf('elsewhere')]
      await arrivesIn(elsewhere.cluster, laterSpace, 'after')
      for (const claim of [spaces[1] ?? '', laterSpace])
        await elsewhere.cluster.kubectl('rollout', 'status', '-n', claim, 'deployment/web', `--timeout=${PATIENT.within}ms`)
      await eventually(() => elsewhere.cluster.kubectl('get', 'configmap', 'more', '-n', spaces[1] ?? ''), PATIENT)
      await eventually(() => elsewhere.cluster.kubectl('get', 'configmap', 'by-agent', '-n', 'default'), PATIENT)
      await site.inWorkspace('echo late > late')
      there = await madeIn(elsewhere.cluster)
    })

    it('finds its namespaces, workspaces and volumes, and takes nothing away that it does not know any more', async () => {
      const before = {
        volumes: await volumes(),
        namespace: await site.kubectl('get', 'ns', spaces[0] ?? '', '-o', 'jsonpath={.metadata.uid}'),
      }
      await elsewhere.disconnect()
      await site.restart(async (folder) => {
        const data = join(folder, 'etcd')
        await rm(data, { recursive: true })
        const member = ['--initial-cluster', `default=${PEER}`, '--initial-advertise-peer-urls', PEER]
        await run(etcd, [
          'restore',
          snapshot(),
          '--data-dir',
          data,
          ...member,
          '--bump-revision',
          '1000000000',
          '--mark-compacted',
        ])
      })
      // Unlike a real one, the API server has another port than before. With the leases of etcd it has lost what it would correct.
      await eventually(() => site.kubectl('delete', 'endpoints', '-n', 'default', 'kubernetes'), PATIENT)
      await elsewhere.connect()
      const claims = await eventually(() => site.items('deploymenttargetclaims', '-n', 'team-a'), PATIENT)
      assert.not.ok(claims.some(({ metadata }) => metadata.name === 'later'))

      await soon(() => site.push('web', later('restored')))
      await arrivesIn(site.cluster(), spaces[0] ?? '', 'restored')
      await arrivesIn(elsewhere.cluster, spaces[1] ?? '', 'restored')
      for (const claim of ['production', 'elsewhere']) await untilBound(claim)
      assert.equal([await site.spaceOf('production'), await site.spaceOf('elsewhere')], spaces)
      await site.untilIs('jsonpath={.status.actualState}=Running', '-n', 'team-a', 'workspace/web')
      assert.is(await eventually(() => site.inWorkspace('cat early late'), PATIENT), 'early\nlate\n')
      const namespace = await site.kubectl('get', 'ns', spaces[0] ?? '', '-o', 'jsonpath={.metadata.uid}')
      assert.equal({ volumes: await volumes(), namespace }, before)
      assert.equal(await madeIn(elsewhere.cluster), there)
    })

    it('makes anew what came later, beside what is left of it', async () => {
      await site.applyFile('later.yaml')
      await untilBound('later')
      await arrivesIn(elsewhere.cluster, await site.spaceOf('later'), 'restored')
      const left = there.filter((line) => line.startsWith(`${laterSpace} `))
      assert.equal(
        (await madeIn(elsewhere.cluster)).filter((line) => left.includes(line)),
        left,
      )
    })
  },
  (await lacksNode()) ?? (await lacksGo(SNAPSHOTS)),
)
