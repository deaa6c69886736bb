import { dirname } from 'node:path'
import * as assert from 'uvu/assert'
import { defined } from '../../src/std/index.ts'
import { startBerth } from '../cli/berth.ts'
import { kubectl } from '../support/builders/snapshots.ts'
import { lacksNode } from '../support/node.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { type AnyItem, PATIENT, type Site, startSite } from './pods/site.ts'
import { installWithTeam } from './pods/team.ts'

describe(
  'workspaces in pods of a real node',
  (it) => {
    let site: Site

    it.before(async () => {
      site = await startSite({ namespace: 'berth-system' })
      await installWithTeam(site, 'hello')
      await site.applyFile('workspaces.yaml')
    })
    it.after(() => site?.remove())

    const becomes = (name: string, state: string) =>
      site.untilIs(`jsonpath={.status.actualState}=${state}`, '-n', 'team-a', `workspace/${name}`)
    const podsOf = (name: string, part = 'main') =>
      site.items('pods', '-A', '-l', `berth.dev/workspace=${name},berth.dev/workspace-part=${part}`)
    const podOf = async (name: string): Promise<AnyItem> => {
      const [pod] = await podsOf(name)
      return pod
    }
    const inside = async (name: string, script: string) => {
      const { metadata } = await podOf(name)
      return site.inside(metadata.namespace, metadata.name, script)
    }
    const cloned = async (name: string): Promise<AnyItem> => {
      const all = await site.items('workspaces', '-n', 'team-a')
      const found = all.find(({ metadata }) => metadata.name === name)
      return found.status.conditions.find(({ type }: { type: string }) => type === 'ProjectCloned')
    }

    it('lets people in by a command, a shell and a port', async () => {
      await becomes('idle', 'Running')
      const env = { ...process.env, PATH: `${dirname(await kubectl())}:${process.env.PATH}` }
      const start = ([verb = '', ...given]: string[], input?: string) =>
        startBerth([verb, '-n', 'team-a', '--kubeconfig', site.cluster().kubeconfig, ...given], { env, ...defined({ input }) })
      const command = await start(['exec', 'idle', '--', 'sh', '-c', 'echo here; exit 42']).ended
      assert.equal([command.code, command.stdout], [42, 'here\n'], command.stderr)

      const forward = start(['forward', 'idle', ':8080', '--address', '127.0.0.1'])
      await eventually(() => forward.printed().stdout.includes('Forwarding from 127.0.0.1:'), PATIENT)
      forward.process.kill('SIGINT')
      assert.is((await forward.ended).code, 0)

      // Not the end of its input: of one that ends at once, a busy kubelet now and then loses that.
      const shell = await start(['ssh', 'idle'], 'exit 43\n').ended
      assert.is(shell.code, 43, shell.stderr)
    })

    it('stops one that only waits, and a terminal in it, without waiting for the end of its hour', async () => {
      await becomes('idle', 'Running')
      const { metadata } = await podOf('idle')
      const terminal = site
        .kubectl('exec', '-n', metadata.namespace, metadata.name, '--', 'sh', '-ic', 'while :; do sleep 1; done')
        .catch(() => 'ended')
      await eventually(async () => /sleep 1$/m.test(await inside('idle', 'ps -o args')), PATIENT)
      await site.berth('stop', 'idle', '-n', 'team-a')
      await becomes('idle', 'Stopped')
      assert.is(await terminal, 'ended')
      assert.equal(await podsOf('idle'), [])
    })

    /** Until there is a pod that is another than these, and that runs. */
    const runsAnew = (name: string, before: readonly string[]) =>
      eventually(async () => {
        const pods = await podsOf(name)
        const isAnew = pods.length === 1 && !before.includes(pods[0].metadata.uid) && pods[0].status.phase === 'Running'
        return isAnew && pods[0].metadata.uid
      }, PATIENT)

    it('starts none while the pod before it ends, whoever has ended that', async () => {
      await becomes('alone', 'Running')
      const { metadata } = await podOf('alone')
      await site.berth('stop', 'alone', '-n', 'team-a')
      await eventually(async () => (await podOf('alone'))?.metadata.deletionTimestamp, PATIENT)
      await site.berth('start', 'alone', '-n', 'team-a')
      const second = await runsAnew('alone', [metadata.uid])
      await becomes('alone', 'Running')
      assert.is(await inside('alone', 'wc -l < /projects/starts'), '2\n')

      const { name, namespace } = (await podOf('alone')).metadata
      await site.kubectl('delete', 'pod', '-n', namespace, name, '--wait=false')
      await runsAnew('alone', [metadata.uid, second])
      await becomes('alone', 'Running')
      assert.is(await inside('alone', 'wc -l < /projects/starts; ls /projects'), '3\nstarts\nthere\n')
    })

    it('clones the project before a pod beside the main one can put anything into its folder', async () => {
      await becomes('apart', 'Running')
      assert.is((await cloned('apart')).reason, 'Cloned')
      assert.is(await inside('apart', 'ls $PROJECT_SOURCE'), 'log\nproduction\n')
    })

    it('says so where files keep it from cloning, and clones when they are gone', async () => {
      await inside('apart', 'rm -r $PROJECT_SOURCE/.git /projects/.berth/cloned')
      await site.berth('restart', 'apart', '-n', 'team-a')
      await eventually(async () => (await cloned('apart')).reason === 'FolderNotEmpty', PATIENT)
      await becomes('apart', 'Running')
      const events = await site.items('events', '-n', 'team-a', '--field-selector', 'reason=FolderNotEmpty')
      assert.is(events[0]?.involvedObject.name, 'apart')

      await inside('apart', 'rm -r $PROJECT_SOURCE')
      await site.berth('restart', 'apart', '-n', 'team-a')
      await eventually(async () => (await cloned('apart')).reason === 'Cloned', PATIENT)
      await becomes('apart', 'Running')
      assert.is(await inside('apart', 'git -C $PROJECT_SOURCE status --porcelain; ls $PROJECT_SOURCE'), 'log\nproduction\n')
    })

    it('holds one to what its class allows, which its own credentials cannot change', async () => {
      await becomes('bounded', 'Running')
      assert.is((await cloned('bounded')).reason, 'Cloned')
      const { namespace } = (await podOf('bounded')).metadata
      const [quota] = await site.items('resourcequotas', '-n', namespace, '-l', 'berth.dev/workspace=bounded')
      assert.equal(quota.status.used, quota.status.hard)
      const account = `system:serviceaccount:${namespace}:namespace-manager`
      const asked = ['auth', 'can-i', 'patch', `resourcequotas/${quota.metadata.name}`, '-n', namespace, '--as', account]
      assert.match(await site.kubectl(...asked).catch(({ stdout }) => stdout), /^no/)
    })

    it('puts back what is removed beside the pods of one that runs, without another pod', async () => {
      const { namespace, uid } = (await podOf('bounded')).metadata
      const own = ['-n', namespace, '-l', 'berth.dev/workspace=bounded']
      const uids = async () => {
        const all = await site.items('serviceaccounts,networkpolicies', ...own)
        return all.map(({ metadata }) => metadata.uid)
      }
      const before = await uids()
      assert.is(before.length, 2)
      await site.kubectl('delete', 'serviceaccounts,networkpolicies', ...own)
      await eventually(async () => {
        const now = await uids()
        return now.length === 2 && !now.some((each) => before.includes(each))
      }, PATIENT)
      await becomes('bounded', 'Running')
      assert.is((await podOf('bounded')).metadata.uid, uid)
    })

    it('goes by SSH to the host of the project, though no image knows its user', async () => {
      const said = async () => {
        const all = await site.items('workspaces', '-n', 'team-a')
        return JSON.stringify(all.find(({ metadata }) => metadata.name === 'by-ssh').status)
      }
      await eventually(async () => (await said()).includes('cannot clone'), PATIENT)
      assert.match(await said(), 'ssh: connect to host 127.0.0.1 port 1: Connection refused')
    })
  },
  await lacksNode(),
)
