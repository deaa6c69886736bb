import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { equal, is, match, not, ok } from 'uvu/assert'
import type { Pod, WorkspaceSpec } from '../../../../src/api/index.ts'
import { cloneReason } from '../../../../src/operator/workspace/actual-state/clones.ts'
import { CLONER, type CopiedSecret, foundFiles, type GitPlan, gitPlanOf } from '../../../../src/operator/workspace/git/index.ts'
import { Failure, Secret } from '../../../../src/std/index.ts'
import { type GitHost, gitHost, type TestRepository } from '../../../support/git-host.ts'
import { describe } from '../../../support/suite.ts'
import { eventually } from '../../../support/verbs.ts'
import { type PodFolder, podFolder } from './pod.ts'

const CREDENTIAL = { username: 'bert', password: new Secret('s3cret') }

/** A pod whose cloner has ended well with these last words. */
const podThatSaid = (message: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'workspace-web' },
  status: {
    initContainerStatuses: [
      {
        name: CLONER,
        image: '',
        ready: true,
        restartCount: 0,
        state: { terminated: { exitCode: 0, message } },
      },
    ],
  },
})

describe('workspace: the clone', (it) => {
  const folders: PodFolder[] = []
  let host: GitHost
  let closed: GitHost
  let repository: TestRepository
  const commits: string[] = []

  it.before(async () => {
    host = await gitHost()
    closed = await gitHost({ credential: CREDENTIAL })
    repository = await host.repository('shop')
    commits.push(await repository.commit({ 'a.txt': '1' }), await repository.commit({ 'a.txt': '2' }))
    commits.push(await repository.commit({ 'a.txt': '3' }, 'feature/x'))
    await repository.tag('v1', commits[0] ?? '')
  })
  it.after(async () => {
    await Promise.all(folders.map((folder) => folder.remove()))
    await Promise.all([host.close(), closed.close()])
  })

  const planOf = (url: string, spec: WorkspaceSpec = {}, copied?: CopiedSecret, defaultBranch?: string): GitPlan => {
    const workspace = {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'Workspace',
      metadata: { name: 'web', namespace: 'team-a', uid: '1234' },
      spec: { owner: 'alice "the" \\ cat', ...spec },
    }
    const project = { url, path: 'team/shop', ...(defaultBranch !== undefined && { defaultBranch }) }
    const plan = gitPlanOf(workspace, project, { settings: { dnsZone: 'example.com' }, git: {}, copied })
    if (!plan) throw new Failure('internal', 'no plan')
    return plan
  }
  const pod = async (plan: GitPlan, more: Record<string, string> = {}) => {
    const folder = await podFolder(plan, more)
    folders.push(folder)
    return folder
  }
  const of = (ref?: string) => planOf(repository.url, { project: { gitProject: 'shop', ...(ref !== undefined && { ref }) } })
  const lastWords = (folder: PodFolder) => readFile(folder.lastWords, 'utf8')

  it('checks out branches, tags and commits, and branches can be pushed', async () => {
    const cases: [ref: string | undefined, commit: string | undefined, head: string][] = [
      [undefined, commits[1], 'main'],
      ['feature/x', commits[2], 'feature/x'],
      ['refs/heads/feature/x', commits[2], 'feature/x'],
      ['v1', commits[0], 'HEAD'],
      ['refs/tags/v1', commits[0], 'HEAD'],
      [commits[0], commits[0], 'HEAD'],
    ]
    for (const [ref, commit, head] of cases) {
      const folder = await pod(of(ref))
      const { code, err } = await folder.clone()
      is(code, 0, err)
      is((await folder.git('shop', 'rev-parse', 'HEAD')).out.trim(), commit, ref)
      is((await folder.git('shop', 'rev-parse', '--abbrev-ref', 'HEAD')).out.trim(), head, ref)
      if (head !== 'HEAD') is((await folder.git('shop', 'push', '--dry-run', '--quiet')).code, 0, ref)
      is((await folder.git('shop', 'status', '--porcelain')).out, '')
    }
  })

  it('means the default branch of the GitProject where the workspace names none', async () => {
    const folder = await pod(planOf(repository.url, {}, undefined, 'feature/x'))
    is((await folder.clone()).code, 0)
    is((await folder.git('shop', 'rev-parse', 'HEAD')).out.trim(), commits[2])
  })

  it('happens once: what a person did since is there after the next start', async () => {
    const folder = await pod(of())
    is((await folder.clone()).code, 0)
    await writeFile(join(folder.projects, 'shop', 'mine.txt'), 'mine')
    host.traffic()
    is((await folder.clone()).code, 0)
    is(host.traffic().requests, 0)
    is(await readFile(join(folder.projects, 'shop', 'mine.txt'), 'utf8'), 'mine')
  })

  it('never touches files that are there already', async () => {
    const folder = await pod(of())
    await mkdir(join(folder.projects, 'shop'))
    await writeFile(join(folder.projects, 'shop', 'mine.txt'), 'mine')
    is((await folder.clone()).code, 0)
    equal(await readdir(join(folder.projects, 'shop')), ['mine.txt'])
    match(await lastWords(folder), 'nothing is cloned')
  })

  it('says with each start that there were files, as the status understands it, and clones when they are gone', async () => {
    const folder = await pod(of())
    const mine = join(folder.projects, 'shop', 'mine.txt')
    await mkdir(join(folder.projects, 'shop'))
    await writeFile(mine, 'mine')
    for (const _ of ['first', 'second']) {
      await writeFile(folder.lastWords, '')
      is((await folder.clone()).code, 0)
      is(foundFiles([podThatSaid(await lastWords(folder))]), true)
    }
    await rm(mine)
    is((await folder.clone()).code, 0)
    is(foundFiles([podThatSaid(await lastWords(folder))]), false)
    is(await readFile(join(folder.projects, 'shop', 'a.txt'), 'utf8'), '2')
  })

  it('takes a clone that somebody has made of it himself', async () => {
    const folder = await pod(of())
    is((await folder.git('.', 'clone', '--quiet', repository.url, 'shop')).code, 0)
    is((await folder.clone()).code, 0)
    is(foundFiles([podThatSaid(await lastWords(folder))]), false)
  })

  it('is broken off at once when the pod ends', async () => {
    const folder = await pod(of())
    await folder.write('slow/git', '#!/bin/sh\nsleep 1000\n')
    const cloning = folder.startCloning({ first: 'slow' })
    await eventually(() => cloning.hasStarted('sleep'))
    is(await cloning.end(), 1)
  })

  it('is waited for by other pods, also when they start again, and so are files that are there instead', async () => {
    const folder = await pod(of())
    const waiting = folder.startWaiting()
    await eventually(() => waiting.hasStarted('sleep'))
    is((await folder.clone()).code, 0)
    is(await waiting.code, 0)
    is(await folder.startWaiting().code, 0)

    const other = await pod(of())
    await mkdir(join(other.projects, 'shop'))
    const mine = join(other.projects, 'shop', 'mine.txt')
    await writeFile(mine, 'mine')
    is((await other.clone()).code, 0)
    is(await other.startWaiting().code, 0)
    await rm(mine)
    const again = other.startWaiting()
    await eventually(() => again.hasStarted('sleep'))
    is((await other.clone()).code, 0)
    is(await again.code, 0)
  })

  it('is not waited for by a pod that ends', async () => {
    const waiting = (await pod(of())).startWaiting()
    await eventually(() => waiting.hasStarted('sleep'))
    is(await waiting.end(), 1)
  })

  it('leaves nothing of a clone that was broken off, and begins again', async () => {
    const folder = await pod(of())
    await mkdir(join(folder.projects, '.berth', 'clone', '.git'), { recursive: true })
    await writeFile(join(folder.projects, '.berth', 'clone', 'half.txt'), 'half')
    await mkdir(join(folder.projects, 'shop'))
    is((await folder.clone()).code, 0)
    equal((await readdir(join(folder.projects, 'shop'))).sort(), ['.git', 'a.txt'])
    equal((await readdir(join(folder.projects, '.berth'))).sort(), ['clone.log', 'cloned'])
  })

  it('says in one line what is wrong, and leaves nothing', async () => {
    const cases: [plan: GitPlan, says: RegExp][] = [
      [of('nowhere'), /^cannot clone http\S+shop\.git: ref nowhere: fatal: couldn't find remote ref nowhere$/],
      [of('-x'), /^cannot clone http\S+shop\.git: the ref -x begins with a dash$/],
      [planOf(`${host.url}/absent.git`), /^cannot clone http\S+absent\.git: fatal: .*not found$/],
      [planOf(`${closed.url}/shop.git`), /^cannot clone http\S+shop\.git: fatal: could not read Username/],
    ]
    for (const [plan, says] of cases) {
      const folder = await pod(plan)
      const { code, err } = await folder.clone()
      is(code, 1, err)
      match(await lastWords(folder), says)
      equal(await readdir(folder.projects), ['.berth'])
    }
  })

  it('never says what stands before the host of a URL', async () => {
    const url = closed.url.replace('://', '://bert:hunter2@')
    const folder = await pod(planOf(`${url}/shop.git`))
    const { code, out, err } = await folder.clone()
    is(code, 1)
    const words = await lastWords(folder)
    match(words, /^cannot clone http:..127[^@]+shop.git: fatal: Authentication failed/)
    not.match([words, out, err].join(), /hunter2/)
  })

  it('takes an empty repository as it is', async () => {
    const empty = await host.repository('empty')
    const folder = await pod(planOf(empty.url))
    is((await folder.clone()).code, 0)
    ok((await stat(join(folder.projects, 'shop', '.git'))).isDirectory())
    match(await lastWords(folder), 'it is empty')
  })

  it('runs nothing of what a ref or a URL says', async () => {
    const folder = await pod(of('$(touch ../pwned)`touch ../pwned`;touch ../pwned'))
    is((await folder.clone()).code, 1)
    equal(await readdir(folder.projects), ['.berth'])
  })

  it('uses the copy of the Secret where there is one, for that host only', async () => {
    const shop = await closed.repository('shop')
    await shop.commit({ 'a.txt': '1' })
    const copied = { data: { username: 'x', password: 'x' }, version: '1' }
    const more = { '../secret/username': 'bert\n', '../secret/password': 's3cret\n' }
    const folder = await pod(planOf(shop.url, { git: { delivery: 'ByCopy' } }, copied), more)
    is((await folder.clone()).code, 0, await lastWords(folder))
    equal(await folder.fill('protocol=http\nhost=example.com\npath=shop.git\n\n'), { code: 0, out: '', err: '' })
    is((await folder.git('shop', 'config', 'user.name')).out, 'alice "the" \\ cat\n')
    is((await folder.git('shop', 'config', 'user.email')).out, 'alice-the-cat@noreply.example.com\n')
  })

  it('goes by SSH with the key of the Secret, to known hosts only', async () => {
    const copied = { data: { 'ssh-privatekey': 'x', known_hosts: 'x' }, version: '1' }
    const folder = await pod(planOf('ssh://git@git.example.com/team/shop.git', {}, copied))
    const { out } = await folder.git('.', 'config', '--system', 'core.sshCommand')
    match(out, /^\S+\/git\/ssh\.sh$/m)
    await folder.write('tools/ssh', '#!/bin/sh\nprintf "%s\\n" "$@" > "$(dirname "$0")/words"\nexit 1\n')
    is(await folder.startCloning({ first: 'tools' }).code, 1)
    const words = await folder.read('tools/words')
    match(
      words,
      /^-i\n\S+\/secret\/ssh-privatekey\n-o\nIdentitiesOnly=yes\n-o\nUserKnownHostsFile=\S+\/secret\/known_hosts\n-o\nStrictHostKeyChecking=yes\n/,
    )
  })

  it('says what SSH says of a user without a name', async () => {
    const copied = { data: { 'ssh-privatekey': 'x', known_hosts: 'x' }, version: '1' }
    const folder = await pod(planOf('ssh://git@git.example.com/team/shop.git', {}, copied))
    await folder.write('tools/id', '#!/bin/sh\n[ "$1" = -u ] && echo 5001\n')
    await folder.write('tools/ssh', '#!/bin/sh\necho "No user exists for uid 5001" >&2\nexit 255\n')
    is(await folder.startCloning({ first: 'tools' }).code, 1)
    match(await lastWords(folder), ': SSH needs a name for user 5001: have one in /etc/passwd of the image')
  })

  it('gives the user a name where the image lets it', async () => {
    const copied = { data: { 'ssh-privatekey': 'x', known_hosts: 'x' }, version: '1' }
    const folder = await pod(planOf('ssh://git@git.example.com/team/shop.git', {}, copied))
    await folder.write('tools/id', '#!/bin/sh\n[ "$1" = -u ] && echo 5001\n')
    await folder.write('tools/ssh', '#!/bin/sh\nexit 1\n')
    await folder.write('../passwd', 'root:x:0:0::/root:/bin/sh\n')
    is(await folder.startCloning({ first: 'tools' }).code, 1)
    match(await folder.read('../passwd'), /^root:\S+\nuser:x:5001:0::\S+\/home:\/bin\/sh\n$/)
  })

  it('says what SSH has said: Git only knows that it could not read', async () => {
    const copied = { data: { 'ssh-privatekey': 'x', known_hosts: 'x' }, version: '1' }
    const folder = await pod(planOf('ssh://git@127.0.0.1:1/team/shop.git', {}, copied))
    is((await folder.clone()).code, 1)
    const words = await lastWords(folder)
    match(words, 'ssh: connect to host 127.0.0.1 port 1: Connection refused')
    is(cloneReason(CLONER, words), 'CloneHostSilent')
  })
})
