import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, not, ok } from 'uvu/assert'
import { Agents, type KubeObject } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { documents } from '../support/verbs.ts'
import { berth } from './berth.ts'

const TOKEN = /berth-agent-[A-Za-z0-9]{50}/
const IMAGE = ['--image', 'example.com/berth:1']
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

describe('berth agent', (it) => {
  const cluster = testCluster()
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('agents')
  })
  it.after(() => cluster.close())

  const run = (...words: string[]) => berth(['agent', ...words, '-n', namespace, '--kubeconfig', cluster.kubeconfig])
  const made = async (name: string, ...more: string[]) => {
    const { code, stdout, stderr } = await run('create', name, '--project', 'team/config', ...more)
    is(code, 0, stderr)
    return stdout
  }
  const tokensOf = async (name: string) => (await cluster.kube.get(Agents, { name, namespace }))?.spec.tokens ?? []

  it('create makes the Agent, prints the token once, and keeps only its digest', async () => {
    const said = await made('dev', '--kas-address', 'grpcs://kas.example.com')
    const [token = ''] = TOKEN.exec(said) ?? []
    match(said, `berth agent manifest dev -n ${namespace} --namespaces NAMES | kubectl --context TARGET apply -f -`)
    match(said, 'berth agent run --kas-address grpcs://kas.example.com')
    const agent = await cluster.kube.get(Agents, { name: 'dev', namespace })
    is(agent?.spec.configurationProject, 'team/config')
    is(agent?.spec.tokens?.[0]?.sha256, sha256(token))
    ok(agent?.spec.tokens?.[0]?.createdAt)
    not.match(JSON.stringify(agent), token)
    const again = await run('create', 'dev', '--project', 'team/config')
    equal([again.code, again.stdout], [1, ''])
    match(again.stderr, `berth agent token add dev -n ${namespace}`)
  })

  it('create speaks to scripts, and refuses what makes no sense', async () => {
    const data = JSON.parse(await made('scripted', '-o', 'json', '--expires-in', '1h30m'))
    match(data.token, TOKEN)
    const [token] = await tokensOf('scripted')
    const lasts = Date.parse(token?.expiresAt ?? '') - Date.parse(token?.createdAt ?? '')
    is(lasts, 90 * 60_000)
    is((await run('create', 'bad', '--project', 'x/y', '--expires-in', 'soon')).code, 7)
    is((await run('create', 'Bad_Name', '--project', 'x/y')).code, 7)
    is((await run('create', 'bad')).code, 2)
    is(await cluster.kube.get(Agents, { name: 'bad', namespace }), undefined)
  })

  it('create names the namespace of the configuration, where that is another one', async () => {
    await made('elsewhere', '--project-namespace', 'team')
    is((await cluster.kube.get(Agents, { name: 'elsewhere', namespace }))?.spec.configurationProjectNamespace, 'team')
  })

  it('trust names the projects that are held back, and trusts those that are named, or all', async () => {
    await made('trusting')
    const ref = { name: 'trusting', namespace }
    const known = ['a', 'b', 'c'].map((letter) => ({
      path: `team/${letter}`,
      uid: `old-${letter}`,
      ...(letter !== 'c' && { replacedBy: { namespace: 'team', name: letter, uid: `new-${letter}` } }),
    }))
    await cluster.kube.patch(Agents, ref, { status: { knownProjects: known } }, { subresource: 'status' })
    const trusted = async () => (await cluster.kube.get(Agents, ref))?.spec.trustedProjects
    const looked = await run('trust', 'trusting', '--dry-run')
    match(looked.stdout, /team\/a +team\/a +new-a\nteam\/b +team\/b +new-b\n$/)
    is(await trusted(), undefined)
    const one = await run('trust', 'trusting', 'team/a', '-o', 'json')
    equal(JSON.parse(one.stdout), [{ path: 'team/a', namespace: 'team', name: 'a', uid: 'new-a', before: 'old-a' }])
    equal(await trusted(), [{ path: 'team/a', uid: 'new-a' }])
    is((await run('trust', 'trusting')).code, 0)
    equal(await trusted(), [
      { path: 'team/a', uid: 'new-a' },
      { path: 'team/b', uid: 'new-b' },
    ])
    const unknown = await run('trust', 'trusting', 'team/c')
    equal([unknown.code, unknown.stderr.includes('waits for no GitProject with the path team/c')], [3, true])
    match((await run('trust', 'elsewhere')).stdout, /waits for no GitProject/)
  })

  it('token add, list and revoke', async () => {
    await made('tokens')
    const added = await run('token', 'add', 'tokens', '--name', 'next', '--description', 'for the second cluster')
    is(added.code, 0, added.stderr)
    match(added.stdout, new RegExp(`^${TOKEN.source}\n$`))
    is((await tokensOf('tokens'))[1]?.sha256, sha256(added.stdout.trim()))
    is((await run('token', 'add', 'tokens', '--name', 'next')).code, 1)
    const { stdout } = await run('token', 'list', 'tokens')
    match(stdout, /next +valid +\S+ +never +for the second cluster/)
    const digest = (await tokensOf('tokens'))[1]?.sha256
    const copied = { tokens: [{ sha256: digest, copied: true }] }
    await cluster.kube.patch(Agents, { name: 'tokens', namespace }, { status: copied }, { subresource: 'status' })
    match((await run('token', 'list', 'tokens')).stdout, /next +copied /)
    const listed = (await run('token', 'list', 'tokens', '-o', 'json')).stdout
    not.match(listed, /sha256|[0-9a-f]{64}/)
    is((await run('token', 'revoke', 'tokens', 'first')).code, 0)
    equal(
      (await tokensOf('tokens')).map(({ name }) => name),
      ['next'],
    )
    const unknown = await run('token', 'revoke', 'tokens', 'first')
    is(unknown.code, 3)
    match(unknown.stderr, 'It has next.')
    is((await run('token', 'list', 'nobody')).code, 3)
  })

  it('list shows what is connected and why not', async () => {
    await made('listed')
    const { stdout } = await run('list')
    match(stdout, /listed +0 +- +team\/config +NotSeen/)
    const rows: { name: string }[] = JSON.parse((await run('list', '-o', 'json', '-A')).stdout)
    ok(rows.some(({ name }) => name === 'listed'))
    const trouble = { id: 'team/shop', reason: 'SourceFailed', message: 'the path is not in the commit' }
    const conditions = [
      { type: 'Ready', status: 'True', reason: 'Connected', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' },
    ]
    const status = { conditions, projects: [trouble, { id: 'team/well' }] }
    await cluster.kube.patch(Agents, { name: 'listed', namespace }, { status }, { subresource: 'status' })
    const told = (await run('list')).stdout.replaceAll(/\s+/g, ' ')
    match(told, 'Connected; team/shop: SourceFailed: the path is not in the commit')
  })

  const kindsOf = (objects: KubeObject[]) =>
    objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`)

  it('manifest prints what the API server takes, with a token of its own', async () => {
    await made('mani', '--kas-address', 'grpcs://kas.example.com:8443')
    const { code, stdout, stderr } = await run('manifest', 'mani', '--image', 'example.com/berth:1', '--cluster-admin')
    is(code, 0, stderr)
    match(stderr, /has a new token, manifest-\d{17}\./)
    const objects = documents(stdout)
    const own = objects[0]?.metadata.name ?? ''
    match(own, /^berth-agent-mani-[0-9a-f]{8}$/)
    equal(kindsOf(objects), [
      `Namespace /${own}`,
      `ServiceAccount ${own}/${own}`,
      `Role ${own}/${own}`,
      `RoleBinding ${own}/${own}`,
      `ClusterRoleBinding /${own}`,
      `Secret ${own}/${own}`,
      `Deployment ${own}/${own}`,
      `PodDisruptionBudget ${own}/${own}`,
      `NetworkPolicy ${own}/${own}`,
    ])
    const [token = ''] = TOKEN.exec(stdout) ?? []
    is((await tokensOf('mani'))[1]?.sha256, sha256(token))
    is(stdout.split(token).length, 2, 'the token is in the Secret alone')
    match(stdout, 'grpcs://kas.example.com:8443')
    match(stdout, 'image: example.com/berth:1')
    match(stdout, '--token-file=/etc/berth/agent/token')
    // Each is checked as it would be stored; the namespace that it would be in is one that is there.
    for (const object of objects) {
      const kind = await cluster.kube.resolve(object.apiVersion, object.kind)
      ok(kind, object.kind)
      const home = kind.namespaced ? { namespace } : {}
      await cluster.kube.create(kind, { ...object, metadata: { ...object.metadata, ...home } }, { dryRun: true })
    }
  })

  it('manifest makes one token, and no other until it is asked for', async () => {
    await made('once')
    const first = await run('manifest', 'once', ...IMAGE, '--namespaces', 'web')
    is(first.code, 0, first.stderr)
    const again = await run('manifest', 'once', ...IMAGE, '--namespaces', 'web')
    match(again.stderr, /Its Secret keeps the token manifest-\d{17}; --new-token makes another/)
    not.match(again.stdout, 'kind: Secret')
    is((await tokensOf('once')).length, 2)
    const another = await run('manifest', 'once', ...IMAGE, '--namespaces', 'web', '--new-token')
    match(another.stderr, 'has a new token')
    match(another.stdout, TOKEN)
    is((await tokensOf('once')).length, 3)
  })

  it('manifest gives no right that nobody asked for, and says so', async () => {
    await made('poor')
    const { stdout, stderr } = await run('manifest', 'poor', ...IMAGE)
    match(stderr, 'may change nothing in its cluster: --namespaces a,b or --cluster-admin')
    const own = documents(stdout)[0]?.metadata.name
    equal(
      kindsOf(documents(stdout)).filter((line) => /Role/.test(line)),
      [`Role ${own}/${own}`, `RoleBinding ${own}/${own}`],
    )
    is((await run('manifest', 'poor', '--cluster-admin', '--namespaces', 'web')).code, 2)
  })

  it('manifest has the image of kas, where there is one to see', async () => {
    await made('pictured')
    const unknown = await run('manifest', 'pictured')
    is(unknown.code, 7)
    match(unknown.stderr, 'there is no --image, and kas of berth-system does not say which it is')
  })

  it('manifest gives agents of equal and of long names names of their own', async () => {
    const other = await cluster.namespace('agents')
    const long = `${'long-'.repeat(12)}a`
    for (const name of ['twin', long, `${long}b`]) await made(name)
    is((await berth(['agent', 'create', 'twin', '--project', 'a/b', '-n', other, '--kubeconfig', cluster.kubeconfig])).code, 0)
    const ownOf = async (name: string, where = namespace) => {
      const { stdout } = await berth(['agent', 'manifest', name, '-n', where, ...IMAGE, '--kubeconfig', cluster.kubeconfig])
      return documents(stdout)[0]?.metadata.name ?? ''
    }
    const own = [await ownOf('twin'), await ownOf('twin', other), await ownOf(long), await ownOf(`${long}b`)]
    is(new Set(own).size, 4, own.join(' '))
    for (const name of own) match(name, /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])$/)
    is(await ownOf('twin'), own[0], 'the same each time')
  })

  it('manifest gives rights in the named namespaces only, and takes a token that is there', async () => {
    await made('small')
    const folder = await mkdtemp(join(tmpdir(), 'berth-manifest-'))
    await writeFile(join(folder, 'token'), 'berth-agent-given\n')
    await writeFile(join(folder, 'ca.crt'), 'PEM')
    const files = ['--token-file', join(folder, 'token'), '--kas-ca-file', join(folder, 'ca.crt')]
    const { code, stdout, stderr } = await run('manifest', 'small', '--namespaces', 'web,db', ...IMAGE, ...files)
    is(code, 0, stderr)
    is((await tokensOf('small')).length, 1)
    const kinds = kindsOf(documents(stdout))
    const own = documents(stdout)[0]?.metadata.name
    for (const line of [`Role web/${own}`, `RoleBinding db/${own}`]) ok(kinds.includes(line), line)
    ok(!kinds.some((line) => line.startsWith('ClusterRole')))
    match(stdout, 'token: berth-agent-given')
    match(stdout, '--ca-cert-file=/etc/berth/agent/ca.crt')
    is((await run('manifest', 'small', '--namespaces', 'A,b', ...files)).code, 7)
    is((await run('manifest', 'small', '--kas-address', 'nonsense', ...IMAGE, ...files)).code, 7)
    is((await run('manifest', 'small', ...IMAGE, '--token-file', join(folder, 'nothing'))).code, 3)
    await rm(folder, { recursive: true })
  })

  it('explains each of its verbs', async () => {
    for (const words of [
      ['create'],
      ['list'],
      ['manifest'],
      ['token'],
      ['token', 'add'],
      ['token', 'list'],
      ['token', 'revoke'],
    ]) {
      const { code, stdout } = await berth(['agent', ...words, '--help'])
      is(code, 0)
      match(stdout, `Usage: berth agent ${words.join(' ')}`)
      match(stdout, 'Examples:\n')
      for (const line of stdout.split('\n')) ok(line.length <= 80, line)
    }
    is((await berth(['agent'])).code, 2)
    is((await berth(['agent', 'nonsense'])).code, 2)
  })
})
