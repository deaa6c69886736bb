import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, not } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import { ConfigMaps, conditionOf, GitOpsDeployments, GitProjects } from '../../src/api/index.ts'
import { pause, Secret, seconds, systemClock } from '../../src/std/index.ts'
import { createProject, createSecret } from '../kas/running-kas.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { plainServer, type StrangeServer, silentServer } from '../support/builders/strange-server.ts'
import { type GitHost, gitHost, type TestRepository } from '../support/git-host.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { kubeconfigFor } from '../support/targets.ts'
import { expectObject } from '../support/verbs.ts'
import { bringCluster, bringUp, filesOf, type Installation, sourceOf } from './installation.ts'

const CONTENT = 'for the eyes of team-a'
const SLOW = 10

/** Team-a has a private repository. Madmin, admin of `evil`, knows its URL, its commits and the name of the Secret, and makes projects of his own. */
describe('hostile: repositories', (it) => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-repositories-'))
  const trace = join(folder, 'trace')
  let berth: Installation
  let madmin: Kube
  let guarded: GitHost
  let vault: TestRepository
  let [commit, own] = ['', '']
  const strangers: StrangeServer[] = []
  it.before(async () => {
    guarded = await gitHost({ credential: { username: 'berth', password: new Secret('secret') } })
    berth = await bringUp(['team-a', 'team-b', 'evil'])
    madmin = await berth.person('madmin', 'evil', 'admin')
    vault = await guarded.repository('vault')
    await createSecret(berth.kube, 'team-a', 'vault', { username: 'berth', password: 'secret' })
    await createProject(berth.kube, 'team-a', 'vault', { url: vault.url, credentialsSecretRef: { name: 'vault' } })
    await berth.follow('team-a', 'vault', { source: sourceOf(vault.url) })
    commit = await live('first')
    own = (await berth.repository('evil', 'own', { 'a.yaml': configMap('own') })).url
  })
  it.after(async () => {
    await Promise.all(strangers.map((each) => each.close()))
    await berth.stop()
    await guarded.close()
    rmSync(folder, { recursive: true })
  })

  /** What team-a pushes is brought into its namespace. */
  async function live(turn: string): Promise<string> {
    const pushed = await vault.commit(filesOf({ 'a.yaml': configMap('vault', { is: CONTENT, turn }) }))
    await expectObject(berth.kube, ConfigMaps, { name: 'vault', namespace: 'team-a' }, ({ data }) => data?.turn === turn)
    return pushed
  }
  const assertNothing = async () => {
    const his = [
      await madmin.list(ConfigMaps, { namespace: 'evil' }),
      await madmin.list(GitOpsDeployments, { namespace: 'evil' }),
      await madmin.list(GitProjects, { namespace: 'evil' }),
    ]
    not.match(JSON.stringify(his), CONTENT)
    is(existsSync(trace), false)
  }
  const stranger = async (made: Promise<StrangeServer>) => {
    const server = await made
    strangers.push(server)
    return server.url
  }

  it('tell by whom a commit is on one line, whatever he made of his name and of its message', async () => {
    const said = { author: 'Mad\u202emin @all', message: 'Look\u001b[2J\nhere\n\nAnd there.\n' }
    const pushed = await vault.commit({ 'more.txt': 'x' }, 'main', said)
    const { status } = await expectObject(
      berth.kube,
      GitOpsDeployments,
      { name: 'vault', namespace: 'team-a' },
      (deployment) => deployment.status?.lastOutcome?.revision === pushed,
    )
    const about = { author: 'Mad\\u202emin @all', subject: 'Look\\u001b[2J here' }
    equal(status?.lastOutcome, { revision: pushed, result: 'Succeeded', ...about })
    commit = await live('second')
  })

  it('are not read by who has no credentials for them, whatever leads there', async () => {
    const { host } = new URL(vault.url)
    const redirecting = await stranger(
      plainServer(({ url }, response) => response.writeHead(302, { location: `${guarded.url}${url}` }).end()),
    )
    const ways: [name: string, url: string, words: RegExp, credentials?: string][] = [
      ['same', vault.url, /^AuthenticationFailed/],
      ['dots', `http://${host}/x/../vault.git`, /^AuthenticationFailed/],
      ['case', `http://${host}/VAULT.git`, /^AuthenticationFailed/],
      ['slashes', `http://${host}//vault.git`, /^AuthenticationFailed/],
      ['redirected', `${redirecting}/vault.git`, /^RepositoryMoved/],
      ['metadata', 'http://169.254.169.254/latest/meta-data', /^AddressNotAllowed/],
      ['secret-of', vault.url, /^SecretNotFound/, '../team-a/vault'],
      ['secret-in', vault.url, /^SecretNotFound/, 'team-a/vault'],
    ]
    const wrong = [
      `http://berth@${host}/vault.git`,
      `file://${guarded.folder}/vault.git`,
      `${guarded.folder}/vault.git`,
      `ext::touch ${trace}`,
      `--upload-pack=touch ${trace}`,
    ]
    for (const [name, url, words, credentials] of ways) {
      const spec = { url, ...(credentials !== undefined && { credentialsSecretRef: { name: credentials } }) }
      await createProject(madmin, 'evil', name, spec)
      await expectObject(berth.kube, GitProjects, { name, namespace: 'evil' }, ({ status }) => {
        const { reason, message } = conditionOf(status?.conditions, 'Ready') ?? {}
        return words.test(`${reason}: ${message}`)
      })
    }
    for (const url of wrong) match(await refusalOf(createProject(madmin, 'evil', 'wrong', { url })), 'spec.url')
    await berth.follow('evil', 'same', { source: sourceOf(vault.url) })
    await berth.told('evil', 'same', /AuthenticationFailed/)
    await assertNothing()
  })

  it('are not read by the name of a commit, or of a ref that is an option', async () => {
    const revisions = [commit, commit.slice(0, 12), `refs/heads/${commit}`, `--upload-pack=touch ${trace}`, `--output=${trace}`]
    for (const [at, revision] of revisions.entries())
      await berth.follow('evil', `ref-${at}`, { source: sourceOf(own, { targetRevision: revision }) })
    for (const at of revisions.keys()) await berth.told('evil', `ref-${at}`, /RefNotFound|RefInvalid/)
    await assertNothing()
  })

  it("are followed by their owner's project alone, though another of that URL grants more and chooses another branch", async () => {
    const to = (name: string) => ({ grants: { serviceAccounts: [{ name, namespace: 'team-b' }] } })
    const { url, ...common } = await berth.host.repository('common')
    await common.commit(filesOf({ 'a.yaml': configMap('common', { of: 'main' }) }))
    await common.commit(filesOf({ 'a.yaml': configMap('common', { of: 'a branch' }) }), 'bait')
    await createProject(berth.kube, 'team-a', 'common', { url, ...to('default') })
    await berth.follow('team-b', 'common', { source: { repoURL: url, path: '.' } })
    const brought = { name: 'common', namespace: 'team-b' }
    await expectObject(berth.kube, ConfigMaps, brought, ({ data }) => data?.of === 'main')
    await createProject(madmin, 'evil', 'common', { url, defaultBranch: 'bait', ...to('*') })
    // The operator hears of projects and deployments by two watches: here it has heard of the project.
    await berth.follow('evil', 'common', { source: { repoURL: url, path: '.' } })
    await berth.told('evil', 'common', /"project":"evil\/common"/)
    await berth.follow('team-b', 'later', { source: { repoURL: url, path: '.' } })
    await berth.told('team-b', 'later', /GitProjectAmbiguous/)
    await berth.kube.delete(GitProjects, { name: 'common', namespace: 'team-a' })
    await berth.told('team-b', 'common', /GitProjectChanged/)
    is((await berth.kube.get(ConfigMaps, brought))?.data?.of, 'main')
  })

  it('are brought to their owner meanwhile, however many hosts and clusters say nothing, or never end', async () => {
    const silent = await stranger(silentServer())
    const dripping = await stranger(
      plainServer(async (_, response) => {
        response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
        for (; !response.destroyed; await pause(systemClock, seconds(1))) response.write('0')
      }),
    )
    for (let at = 0; at < SLOW; at++)
      for (const [kind, server] of Object.entries({ silent: silent.replace('https:', 'http:'), dripping })) {
        const [name, url] = [`${kind}-${at}`, `${server}/${at}.git`]
        await createProject(madmin, 'evil', name, { url })
        await berth.follow('evil', name, { source: sourceOf(url) })
      }
    for (let at = 0; at < SLOW; at++) {
      const name = `cluster-${at}`
      const spec = { apiURL: silent, allowInsecureSkipTLSVerify: true }
      await bringCluster(madmin, { name, namespace: 'evil' }, kubeconfigFor(silent), spec)
      await berth.follow('evil', name, { source: sourceOf(own), destination: { environment: name, namespace: 'evil' } })
    }
    for (let turn = 0; turn < 5; turn++) await live(`beside silence ${turn}`)
    for (const { url, seen } of strangers) is.not(seen, 0, url)
  })
})
