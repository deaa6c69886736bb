import { execFile } from 'node:child_process'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { equal, is, match, not, ok } from 'uvu/assert'
import type { WantedFiles } from '../../src/adapters/grpc/index.ts'
import { conditionOf, type GitProject, GitProjects, isTrue, Secrets } from '../../src/api/index.ts'
import { seconds } from '../../src/std/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { failureOf } from '../support/refusal.ts'
import { type Signer, signers } from '../support/signers.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { createAgent, createProject, createSecret, type RunningKas, runKas } from './running-kas.ts'

interface CoreEvent {
  type: string
  reason: string
  message: string
  involvedObject: { name: string }
}

const IDENTITY = ['-c', 'user.name=test', '-c', 'user.email=test@example.com']
const never = new AbortController().signal

describe('kas: signed commits', (it) => {
  const cluster = testCluster()
  let namespace = ''
  let host: GitHost
  let kas: RunningKas
  let agent = ''
  let people: Awaited<ReturnType<typeof signers>>
  let ann: Signer
  let bob: Signer
  let ending = new AbortController()
  const following: Promise<unknown>[] = []
  const start = () => runKas({ kubeconfig: cluster.kubeconfig, namespace })
  it.before(async () => {
    namespace = await cluster.namespace('kas')
    host = await gitHost()
    people = await signers()
    ann = await people.ssh('ann@example.com')
    bob = await people.ssh('bob@example.com')
    agent = await createAgent(cluster.kube, namespace, 'home')
    await createSecret(cluster.kube, namespace, 'ann', { allowed_signers: `ann@example.com ${ann.public}` })
    kas = await start()
  })
  it.afterEach(async () => {
    ending.abort()
    await Promise.all(following)
    ending = new AbortController()
  })
  it.after(async () => {
    await kas.stop()
    await people.close()
    await host.close()
    await cluster.close()
  })

  const soon = { within: seconds(20) }
  const given = async (name: string, verify: GitProject['spec']['verify']) => {
    const repository = await host.repository(name)
    const commit = await repository.commit({ a: '1' }, 'main', { sign: ann.sign })
    await createProject(cluster.kube, namespace, name, { url: repository.url, ...(verify && { verify }) })
    await readyFor(name, commit)
    follow(name)
    return { repository, commit }
  }
  /** Polls are made for whoever follows. */
  const follow = (name: string, want = wanted(name)) => {
    const { signal } = ending
    const quickly = { base: 50, max: 200 }
    following.push(kas.stream(agent).follow(want, { onBatch: () => undefined, backoff: quickly, signal }))
  }
  const readyFor = (name: string, commit: string) =>
    expectObject(
      cluster.kube,
      GitProjects,
      { name, namespace },
      ({ status }) => {
        ok(isTrue(status?.conditions, 'Ready'), JSON.stringify(status?.conditions))
        is(status?.refs?.[0]?.commit, commit)
      },
      soon,
    )
  /** What the project says of the commit that is refused. */
  const refusalOf = async (name: string, reason: string, commit: string) => {
    const { status } = await expectObject(
      cluster.kube,
      GitProjects,
      { name, namespace },
      (object) => {
        const ready = conditionOf(object.status?.conditions, 'Ready')
        is(ready?.reason, reason)
        match(ready?.message ?? '', commit)
      },
      soon,
    )
    return { message: conditionOf(status?.conditions, 'Ready')?.message ?? '', refs: status?.refs }
  }
  const wanted = (name: string): WantedFiles => ({ projectId: `${namespace}/${name}`, ref: { kind: 'default' }, globs: ['**'] })
  const served = async (name: string) => (await kas.stream(agent).fetchObjects(wanted(name), never))?.commitId

  it('serve one that is signed, and say by whom', async () => {
    const { commit } = await given('signed', { secretRef: { name: 'ann' } })
    is(await served('signed'), commit)
    const { status } = await readyFor('signed', commit)
    is(status?.refs?.[0]?.signer, `ann@example.com (ssh-ed25519 ${ann.fingerprint})`)
  })

  it('refuse one that is not signed: who has the one before is told why, and all others get that', async () => {
    const { repository, commit } = await given('unsigned', { secretRef: { name: 'ann' } })
    const unsigned = await repository.commit({ a: '2' })
    const { message, refs } = await refusalOf('unsigned', 'CommitNotSigned', unsigned)
    match(message, `commit ${unsigned} is not signed (refs/heads/main)`)
    match(message, `Secret ${namespace}/ann`)
    is(refs?.[0]?.commit, commit)
    is(await served('unsigned'), commit)
    const failure = await failureOf(() => kas.stream(agent).fetchObjects(wanted('unsigned'), never, commit))
    equal([failure.reason, failure.message.includes(unsigned)], ['CommitNotSigned', true])
    const event = await eventOf('unsigned', 'CommitNotSigned')
    equal([event.type, event.message.includes(unsigned)], ['Warning', true])
    const signed = await repository.commit({ a: '3' }, 'main', { sign: ann.sign })
    await readyFor('unsigned', signed)
    is(await served('unsigned'), signed)
  })

  it('tell of one that is refused on another branch by an Event, and leave the project Ready', async () => {
    const { repository, commit } = await given('side', { secretRef: { name: 'ann' } })
    const unsigned = await repository.commit({ a: '2' }, 'feature')
    follow('side', { ...wanted('side'), ref: { kind: 'branch', name: 'feature' } })
    const { message } = await eventOf('side', 'CommitNotSigned')
    match(message, `commit ${unsigned} is not signed (refs/heads/feature)`)
    await repository.branch('main', await repository.commit({ a: '3' }, 'main', { sign: ann.sign }))
    const { status } = await expectObject(
      cluster.kube,
      GitProjects,
      { name: 'side', namespace },
      ({ status: now }) => {
        ok(now?.refs?.[0]?.commit !== commit)
      },
      soon,
    )
    equal([status?.refs?.length, isTrue(status?.conditions, 'Ready')], [1, true])
  })

  it('keep what is in effect over a restart while the newest is refused', async () => {
    const { repository, commit } = await given('restart', { secretRef: { name: 'ann' } })
    const unsigned = await repository.commit({ a: '2' })
    await refusalOf('restart', 'CommitNotSigned', unsigned)
    await kas.stop()
    kas = await start()
    follow('restart')
    is(await served('restart'), commit)
    await refusalOf('restart', 'CommitNotSigned', unsigned)
  })

  it('refuse a key that is not allowed, name it, and take the commit when the key is added', async () => {
    await createSecret(cluster.kube, namespace, 'keys', { 'ann.pub': ann.public })
    const { repository, commit } = await given('keys', { secretRef: { name: 'keys' } })
    const second = await repository.commit({ a: '2' }, 'main', { sign: bob.sign })
    const { message } = await refusalOf('keys', 'CommitSignerNotAllowed', second)
    match(message, bob.fingerprint)
    is(await served('keys'), commit)
    await replaceKeys('keys', { 'bob.pub': bob.public, 'ann.pub': null })
    await readyFor('keys', second)
    // What is in effect does not go with its key; what comes next does not come.
    await replaceKeys('keys', { 'carl.pub': bob.public.replace('bob@', 'carl@'), 'bob.pub': null })
    const third = await repository.commit({ a: '3' }, 'main', { sign: ann.sign })
    await refusalOf('keys', 'CommitSignerNotAllowed', third)
    is(await served('keys'), second)
  })

  it('refuse all while the Secret has no key, or is not there, and name it', async () => {
    const { repository, commit } = await given('secretless', undefined)
    const patch = (name: string) =>
      cluster.kube.patch(GitProjects, { name: 'secretless', namespace }, { spec: { verify: { secretRef: { name } } } })
    await patch('nowhere')
    await refusalOf('secretless', 'SecretNotFound', `${namespace}/nowhere`)
    await createSecret(cluster.kube, namespace, 'nothing', { 'note.txt': 'nothing' })
    await patch('nothing')
    match((await refusalOf('secretless', 'SecretInvalid', `${namespace}/nothing`)).message, 'it has no public key')
    not.ok(await served('secretless').catch(() => undefined))
    await patch('ann')
    await readyFor('secretless', commit)
    is(await served('secretless'), commit)
    ok(repository.url)
  })

  it('look at every commit since the last one served, where that is asked', async () => {
    const { repository } = await given('every', { mode: 'EveryCommit', secretRef: { name: 'ann' } })
    const second = await repository.commit({ a: '2' }, 'main', { sign: ann.sign })
    await readyFor('every', second)
    await repository.commit({ a: '3' }, 'side')
    const hidden = await repository.commit({ a: '4' }, 'side')
    const top = await repository.commit({ a: '5' }, 'side', { sign: ann.sign })
    await repository.branch('main', top)
    const { message } = await refusalOf('every', 'CommitNotSigned', top)
    not.match(message, hidden)
    match(message, `, and comes with ${top} (refs/heads/main)`)
    is(await served('every'), second)
    // By force, from the last good one on.
    await repository.branch('main', second)
    await readyFor('every', second)
  })

  const eventOf = (name: string, reason: string) =>
    eventually(async () => {
      const { items } = await cluster.kube.read<{ items: CoreEvent[] }>(`/api/v1/namespaces/${namespace}/events`)
      return items.find((event) => event.involvedObject.name === name && event.reason === reason)
    })
  const replaceKeys = (name: string, data: Record<string, string | null>) => {
    const encoded = Object.entries(data).map(([key, text]) => [key, text === null ? null : Buffer.from(text).toString('base64')])
    return cluster.kube.patch(Secrets, { name, namespace }, { data: Object.fromEntries(encoded) })
  }

  const bare = async (name: string, words: string[], input?: string): Promise<string> => {
    const running = promisify(execFile)('git', [...IDENTITY, ...words], { cwd: join(host.folder, `${name}.git`) })
    if (input !== undefined) running.child.stdin?.end(input)
    return (await running).stdout.trim()
  }
  /** A signed commit with these parents, to which main leads from now on. */
  const lead = async (name: string, parents: string[], tree: string) => {
    const words = ['commit-tree', '-S', '-m', `on ${parents.join()}`, ...parents.flatMap((one) => ['-p', one]), tree]
    const commit = await bare(name, [...ann.sign, ...words])
    await bare(name, ['update-ref', 'refs/heads/main', commit])
    return commit
  }

  it('look at what a merge brings in, without its files where the server can leave them out', async () => {
    const { repository } = await given('merged', { mode: 'EveryCommit', secretRef: { name: 'ann' } })
    await bare('merged', ['config', 'uploadpack.allowFilter', 'true'])
    await repository.commit({ b: '1' }, 'side', { sign: ann.sign })
    const good = await repository.commit({ b: '2' }, 'side', { sign: ann.sign })
    await repository.branch('main', good)
    await readyFor('merged', good)
    const bad = await repository.commit({ b: '3' }, 'side')
    const merge = await lead('merged', [good, bad], `${bad}^{tree}`)
    const { message } = await refusalOf('merged', 'CommitNotSigned', merge)
    match(message, `commit ${bad} is not signed, and comes with ${merge} (refs/heads/main)`)
    is(await served('merged'), good)
    const again = await lead('merged', [good], `${bad}^{tree}`)
    await readyFor('merged', again)
    is(await served('merged'), again)
  })

  it('follow a branch that is pushed over by force while it can be told what is new', async () => {
    const { commit } = await given('forced', { mode: 'EveryCommit', secretRef: { name: 'ann' } })
    const second = await lead('forced', [commit], `${commit}^{tree}`)
    await readyFor('forced', second)
    await bare('forced', ['update-ref', 'refs/heads/main', commit])
    await readyFor('forced', commit)
    const alone = await lead('forced', [], `${commit}^{tree}`)
    await readyFor('forced', alone)
    const unsigned = await bare('forced', ['commit-tree', '-m', 'x', `${commit}^{tree}`])
    const top = await lead('forced', [unsigned], `${commit}^{tree}`)
    match((await refusalOf('forced', 'CommitNotSigned', top)).message, unsigned)
    is(await served('forced'), alone)
  })

  it('refuse what nobody can look at: a history that is gone, and one that is too long', async () => {
    const { commit } = await given('gone', { mode: 'EveryCommit', secretRef: { name: 'ann' } })
    const other = await host.repository('other')
    const root = await other.commit({ c: '1' }, 'main', { sign: ann.sign })
    const [here, there, away] = ['gone', 'other', 'away'].map((name) => join(host.folder, `${name}.git`))
    await rename(here ?? '', away ?? '')
    await rename(there ?? '', here ?? '')
    match((await refusalOf('gone', 'CommitHistoryUnknown', root)).message, commit)
    const patch = { spec: { verify: { mode: 'HEAD', secretRef: { name: 'ann' } } } }
    await cluster.kube.patch(GitProjects, { name: 'gone', namespace }, patch)
    await readyFor('gone', root)

    const long = await given('long', { mode: 'EveryCommit', secretRef: { name: 'ann' } })
    const commits = Array.from(
      { length: 1100 },
      () => 'commit refs/heads/main\ncommitter test <test@example.com> 0 +0000\ndata 0\n',
    )
    commits[0] = `${commits[0]}from ${long.commit}\n`
    await bare('long', ['fast-import', '--quiet', '--force'], commits.join('').replaceAll('refs/heads/main', 'refs/heads/side'))
    const top = await lead('long', ['refs/heads/side'], `${long.commit}^{tree}`)
    match((await refusalOf('long', 'CommitHistoryTooLong', top)).message, `more than 1000 commits lead to it from ${long.commit}`)
    is(await served('long'), long.commit)
  })
})
