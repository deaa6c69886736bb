import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { is, match, not, ok } from 'uvu/assert'
import { WorkspaceClasses, Workspaces } from '../../src/api/index.ts'
import { systemClock } from '../../src/std/index.ts'
import { lacksOpenSsh, type SshClient, sshClient } from '../proxy/ssh-client.ts'
import { lacksChromium } from '../support/chromium.ts'
import { lacksNode } from '../support/node.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { type People, startPeople, type Tools, typeLine, untilPrompt, untilShown } from './pods/people.ts'
import { PATIENT, type Site, serveGit, startSite } from './pods/site.ts'

const [ADA, GRACE] = ['ada@example.com', 'grace@example.com']

const devfile = (tag: string) => `
schemaVersion: 2.2.0
components:
  - name: tools
    container: { image: 'localhost/berth-workspace:${tag}', mountSources: true, cpuRequest: 10m, memoryRequest: 16Mi, memoryLimit: 64Mi }
`
const manifest = (name: string, workspaceClassName: string, sshKeys: string[]) =>
  JSON.stringify({
    apiVersion: 'berth.dev/v1alpha1',
    kind: 'Workspace',
    metadata: { name, namespace: 'team-a' },
    spec: { workspaceClassName, project: { gitProject: 'web', ref: 'main' }, sshKeys },
  })

const secondsSince = (began: number): string => ((systemClock.now() - began) / 1000).toFixed(1)

describe(
  'the way into a workspace, by the programs of a person,',
  (it) => {
    let site: Site
    let people: People
    let ada: Tools
    let client: SshClient
    let url: string
    let own: Page
    let shared: Page

    it.before(async () => {
      site = await startSite({ namespace: 'berth-system' })
      people = await startPeople(site)
      await serveGit(site)
      await site.install({ proxy: people.proxy })
      await people.begin()
      await site.berth('onboard', 'team-a', '--berth-namespace', site.namespace)
      await site.push('web', { '.devfile.yaml': devfile(site.tag) })
      await site.applyFile('way-in.yaml')
      ada = await people.tools(ADA)
      client = await sshClient('')
    })
    it.after(async () => {
      await client?.close()
      await people?.close()
      await site?.remove()
    })

    const workspace = (name: string) => site.cluster().kube.get(Workspaces, { name, namespace: 'team-a' })
    /** By the owner, with `kubectl apply`. */
    const applied = async (name: string, className: string, sshKeys: string[] = []) => {
      const file = join(await mkdtemp(join(site.folder, 'manifest-')), 'workspace.yaml')
      await writeFile(file, manifest(name, className, sshKeys))
      await ada.kubectl('apply', '-f', file)
    }
    /** Of the client of a person, by the name that `berth ssh-config` has given. */
    const ssh = (...words: string[]): [string, string[]] => [
      'ssh',
      ['-F', join(client.folder, '.ssh/config'), '-o', 'IdentityAgent=none', '-o', 'BatchMode=yes', 'web.team-a.berth', ...words],
    ]

    it('begins with a manifest, and leads its owner, who signs in, to a terminal in the clone', async () => {
      await applied('web', 'browser', [await client.makeKey('key')])
      await site.untilIs('jsonpath={.status.actualState}=Running', '-n', 'team-a', 'workspace/web')
      is((await workspace('web'))?.spec.owner, ADA)
      url = (await ada.berth(['open', 'web', '-n', 'team-a', '--print'])).trim()
      own = await people.page()
      await own.goto(url)
      await people.signIn(own, ADA)
      await untilPrompt(own)
      is(new URL(own.url()).host, new URL(url).host)
      is(await own.title(), 'web')
      await typeLine(own, 'pwd', /^\/projects\/web$/m)
      // It goes through the pager, as what is longer does.
      await typeLine(own, 'git log --format=%an:%s', /^a:change$/m)
      not.match(await untilPrompt(own), 'error:')
    })

    it('takes what the owner types: a file, a commit with its message, and a push', async () => {
      await typeLine(own, 'echo "$((6 * 7))" > note; git add note; git commit --quiet', /^# Changes to be committed:$/m)
      await own.keyboard.type('iNote it')
      await own.keyboard.press('Escape')
      // Keys that follow it too fast are taken for one key.
      await untilShown(own, /^- .*COMMIT_EDITMSG/m)
      await typeLine(own, ':x', /\$$/)
      await typeLine(own, 'git push --quiet; echo "pushed: $?"', /^pushed: 0$/m)
      const there = await site.inside(
        'git',
        'git',
        'cd /repositories/web.git; git log -1 --format="%ae %s" main; git show main:note',
      )
      is(there, `${ADA} Note it\n42\n`)
    })

    it('lets the owner in by OpenSSH, which knows the host from `berth ssh-config`', async () => {
      const words = ['ssh-config', '-n', 'team-a', '--write', '--identity', join(client.folder, 'key')]
      await ada.berth(words, client.folder)
      const { stdout } = await promisify(execFile)(...ssh('pwd; cat note'))
      is(stdout, '/projects/web\n42\n')
    })

    it('tells a colleague whom to ask, and shows them a terminal once it is shared', async () => {
      shared = await people.page()
      await shared.goto(url)
      await people.signIn(shared, GRACE)
      await shared.getByText(`Ask ${ADA}, whose it is, to share it with you.`).waitFor()
      is(await shared.title(), 'You may not open the workspace web')
      const [port] = (await workspace('web'))?.status?.ports ?? []
      await ada.berth(['share', 'web', '-n', 'team-a', '--port', port?.name ?? '', '--user', GRACE, '--as', 'pair'])
      await eventually(async () => (await shared.goto(url))?.status() === 200, PATIENT)
      await untilPrompt(shared)
      match(await typeLine(shared, 'echo "$(cat note) by hand"', /^42 by hand$/m), 'web')
    })

    it('ends the terminal of the colleague when the share is taken back, and no other', async () => {
      // A page that is open knows of its socket no more than what comes over it.
      const again = await shared.context().newPage()
      const opened = again.waitForEvent('websocket')
      await again.goto(url)
      const closed = (await opened).waitForEvent('close', { timeout: PATIENT.within })
      await untilPrompt(again)
      const began = systemClock.now()
      const wasClosed = closed.then(() => secondsSince(began))
      await ada.berth(['share', 'web', '-n', 'team-a', '--remove', 'pair'])
      const took = secondsSince(began)
      console.log(`revoked by \`berth share --remove\`, which took ${took} s: the socket was closed after ${await wasClosed} s`)
      await again.getByText('Reconnect').waitFor()
      is((await shared.goto(url))?.status(), 403)
      await typeLine(own, 'echo "still $((40 + 2))"', /^still 42$/m)
    })

    it('ends a session of OpenSSH when its key is taken away', async () => {
      const open = spawn(...ssh('echo in; cat'))
      const said = text(open.stderr)
      await once(open.stdout, 'data')
      const closed = once(open, 'close')
      const began = systemClock.now()
      const wasClosed = closed.then(() => secondsSince(began))
      await ada.kubectl('patch', 'workspace/web', '-n', 'team-a', '--type=merge', '-p', '{"spec":{"sshKeys":[]}}')
      const took = secondsSince(began)
      is((await closed)[0], 255, await said)
      console.log(`revoked by \`kubectl patch\`, which took ${took} s: ssh ended after ${await wasClosed} s`)
    })

    /** From `kubectl apply` to a prompt, for somebody who has signed in and opens the page as soon as there is an address. */
    const promptOf = async (name: string, className: string): Promise<string> => {
      const page = await own.context().newPage()
      const [load = 0] = loadavg()
      const began = systemClock.now()
      const running = applied(name, className)
        .then(() => eventually(async () => (await workspace(name))?.status?.actualState === 'Running', PATIENT))
        .then(() => secondsSince(began))
      const address = await eventually(async () => (await workspace(name))?.status?.url, PATIENT)
      const addressed = secondsSince(began)
      await page.goto(address)
      await untilPrompt(page)
      const took = secondsSince(began)
      await page.close()
      return `${took} s (an address after ${addressed}, Running after ${await running}; load ${load.toFixed(1)})`
    }

    it('shows by itself the terminal of a workspace that is being started, also from a warm pool', async () => {
      const cold = await promptOf('cold', 'browser')
      const isWarm = async () =>
        (await site.cluster().kube.get(WorkspaceClasses, { name: 'warm' }))?.status?.warmPool?.ready === 1
      await eventually(isWarm, PATIENT)
      const warm = await promptOf('warm', 'warm')
      console.log(`from \`kubectl apply\` to a prompt in the browser: ${cold}; from a warm pool: ${warm}`)
      ok((await workspace('warm'))?.status?.target?.claimName?.startsWith('warm-'))
    })
  },
  (await lacksNode()) ?? (await lacksChromium()) ?? lacksOpenSsh(),
)
