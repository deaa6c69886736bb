import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { pack } from 'tar-stream'
import * as assert from 'uvu/assert'
import { Secret } from '../../../src/std/index.ts'
import { fluxLayer, type Layer, packChart, pushArtifact, runHelm, tarOf } from '../../support/artifacts.ts'
import { failureOf } from '../../support/refusal.ts'
import { lacksRegistry, type Registry, serveRegistry } from '../../support/registry.ts'
import { describe, type It } from '../../support/suite.ts'
import { artifactStage } from './stage.ts'

const PRIVATE = 'ada:secret'
const AUTHORIZATION = `Basic ${Buffer.from(PRIVATE).toString('base64')}`

function artifacts(it: It) {
  let stage: Awaited<ReturnType<typeof artifactStage>>
  let open: Registry
  let closed: Registry
  it.before(async () => {
    stage = await artifactStage()
    open = await serveRegistry(join(stage.folder, 'open'))
    closed = await serveRegistry(join(stage.folder, 'closed'), { credential: PRIVATE })
  })
  it.after(async () => {
    await open.stop()
    await closed.stop()
    stage.remove()
  })

  const url = (repository: string, { host } = open) => `oci://${host}/${repository}`
  const push = (repository: string, tag: string, layers: Layer[], more: object = {}) =>
    pushArtifact({ registry: `http://${open.host}`, repository, tag, ...more }, layers)

  it('takes what Flux has pushed by its tag, and says who made it of what', async () => {
    const annotations = {
      'org.opencontainers.image.revision': 'main@sha1:4f2a\nand more',
      'org.opencontainers.image.authors': 'Ada',
    }
    const digest = await push('team-a/shop', 'v1', [await fluxLayer({ './deploy/a.yaml': 'a: 1\n', 'deploy/b.yaml': '' })], {
      annotations,
    })
    const { commit, refName, texts, line } = await stage.take(url('team-a/shop'), { kind: 'short', name: 'v1' })
    assert.equal({ commit, refName }, { commit: digest, refName: 'refs/tags/v1' })
    assert.equal(texts, { 'deploy/a.yaml': 'a: 1\n', 'deploy/b.yaml': '' })
    assert.equal(line, { author: 'Ada', subject: 'main@sha1:4f2a' })
  })

  it('follows a tag that is moved, and has what it was before by its digest, also when the tag is gone', async () => {
    const before = await push('moved', 'main', [await fluxLayer({ 'a.yaml': 'a: 1\n' })])
    await stage.take(url('moved'), { kind: 'tag', name: 'main' })
    const after = await push('moved', 'main', [await fluxLayer({ 'a.yaml': 'a: 2\n' })])
    assert.is((await stage.take(url('moved'), { kind: 'tag', name: 'main' })).commit, after)
    const back = await stage.take(url('moved'), { kind: 'commit', name: before })
    assert.equal(back.texts, { 'a.yaml': 'a: 1\n' })
  })

  it('transfers an artifact once', async () => {
    await push('once', 'latest', [await fluxLayer({ 'a.yaml': 'a: 1\n' })])
    const transferred = stage.transfers.length
    for (const _ of [1, 2]) await stage.take(url('once'), { kind: 'default' })
    assert.is(stage.transfers.length, transferred + 1)
  })

  it('fetches it anew when the disk has lost some of it', async () => {
    const digest = await push('lost', 'latest', [await fluxLayer({ 'lost.yaml': 'a: 1\n' })])
    const take = () => stage.take(url('lost'), { kind: 'default' })
    await take()
    const folders = readdirSync(join(stage.folder, 'mirrors'), { recursive: true, encoding: 'utf8' })
    for (const [name, text] of [
      [`${digest}.contents`, 'a'],
      [`${digest}.json`, '{"files": ['],
    ] as const) {
      const path = folders.find((each) => each.endsWith(name)) ?? ''
      writeFileSync(join(stage.folder, 'mirrors', path), text)
      assert.is((await failureOf(take)).reason, 'MirrorDamaged')
      assert.equal((await take()).texts, { 'lost.yaml': 'a: 1\n' })
    }
  })

  it('takes the highest tag in a range', async () => {
    for (const tag of ['1.0.0', 'v1.4.0', '1.3.9', '2.0.0-rc.1', 'latest']) await push('ranged', tag, [await fluxLayer({ tag })])
    const tagIn = async (name: string) => (await stage.find(url('ranged'), { kind: 'semver', name })).refName
    assert.is(await tagIn('1.x'), 'refs/tags/v1.4.0')
    assert.is(await tagIn('~1.3'), 'refs/tags/1.3.9')
    assert.is(await tagIn('>=2.0.0-0'), 'refs/tags/2.0.0-rc.1')
    assert.match(await saying(stage.find(url('ranged'), { kind: 'semver', name: '^3' })), /no tag in the range \^3/)
  })

  it('reads more than one page of tags', async () => {
    const layers = [await fluxLayer({ 'a.yaml': 'a: 1\n' })]
    for (let patch = 0; patch < 1100; patch += 1) await push('paged', `1.0.${patch}`, layers)
    assert.is((await stage.find(url('paged'), { kind: 'semver', name: '1.x' })).refName, 'refs/tags/1.0.1099')
  })

  it('takes charts that Helm has pushed, without the folder that they lie in', async () => {
    const digests = new Map<string, string | undefined>()
    for (const version of ['1.0.0', '1.2.0', '1.3.0+build.5', '2.0.0-rc.1']) {
      const file = await packChart(stage.folder, 'podinfo', version)
      digests.set(version, /sha256:([0-9a-f]{64})/.exec(await runHelm('push', file, url('charts'), '--plain-http'))?.[1])
    }
    const take = (name: string) => stage.take(url('charts'), { kind: 'chart', name })
    const latest = await take('podinfo@')
    assert.equal(Object.keys(latest.texts).sort(), ['Chart.yaml', 'templates/settings.yaml', 'values.yaml'])
    assert.is(latest.commit, digests.get('1.3.0+build.5'))
    assert.equal(latest.line, { author: '', subject: 'podinfo 1.3.0+build.5' })
    assert.is((await take('podinfo@1.0.0')).line.subject, 'podinfo 1.0.0')
    assert.is((await take('podinfo@1.3.0+build.5')).commit, latest.commit)
    assert.is((await take('podinfo@<1.3')).line.subject, 'podinfo 1.2.0')
    assert.is((await take(`podinfo@sha256:${latest.commit}`)).line.subject, latest.line.subject)
    // A chart by the name of its repository is one artifact like others.
    assert.is((await stage.take(url('charts/podinfo'), { kind: 'tag', name: '1.0.0' })).line.subject, 'podinfo 1.0.0')
    assert.match(await saying(take('absent@1.0.0')), /charts\/absent has no tag 1\.0\.0/)
  })

  it('takes archives without compression and with zstd, layer upon layer, and files that ORAS has named', async () => {
    const [plain, second] = [await tarOf({ 'a.yaml': 'a: 1\n', 'b.yaml': 'b: 1\n' }), await tarOf({ 'b.yaml': 'b: 2\n' })]
    await push('mixed', 'latest', [
      { mediaType: 'application/vnd.oci.image.layer.v1.tar', bytes: plain },
      { mediaType: 'application/vnd.oci.image.layer.v1.tar+zstd', bytes: zstdCompressSync(second) },
      { mediaType: 'text/yaml', bytes: Buffer.from('c: 3\n'), annotations: { 'org.opencontainers.image.title': 'more/c.yaml' } },
      {
        mediaType: 'application/x-folder',
        bytes: gzipSync(await tarOf({ 'd/d.yaml': 'd: 4\n' })),
        annotations: { 'org.opencontainers.image.title': 'd', 'io.deis.oras.content.unpack': 'true' },
      },
    ])
    const { texts } = await stage.take(url('mixed'), { kind: 'default' })
    assert.equal(texts, { 'a.yaml': 'a: 1\n', 'b.yaml': 'b: 2\n', 'more/c.yaml': 'c: 3\n', 'd/d.yaml': 'd: 4\n' })
  })

  it('tells links from files, and follows none', async () => {
    await push('linked', 'latest', [
      await fluxLayer({ 'a.yaml': 'a: 1\n', passwd: { type: 'symlink', linkname: '/etc/passwd' } }),
    ])
    const { files } = await stage.take(url('linked'), { kind: 'default' })
    assert.equal(
      files.map(({ path, link }) => [path, link]),
      [
        ['a.yaml', undefined],
        ['passwd', 'symbolic link'],
      ],
    )
  })

  const HOSTILE: [string, () => Promise<Layer[]>, RegExp][] = [
    ['a path that leads out', async () => [await fluxLayer({ '../x': 'x' })], /"\.\.\/x" is not a path inside it/],
    ['an absolute path', async () => [await fluxLayer({ '/etc/x': 'x' })], /"\/etc\/x" is not a path inside it/],
    ['a device', async () => [await fluxLayer({ x: { type: 'character-device' } })], /"x" is a character-device/],
    [
      'no archive',
      async () => [{ mediaType: 'application/vnd.cncf.flux.content.v1.tar+gzip', bytes: Buffer.from('no') }],
      /damaged, or is none/,
    ],
    [
      'half an archive',
      async () => [
        { mediaType: 'application/vnd.oci.image.layer.v1.tar', bytes: (await tarOf({ a: 'x'.repeat(2000) })).subarray(0, 1000) },
      ],
      /damaged, or is none/,
    ],
    [
      'more than there is room for',
      async () => [{ mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', bytes: await bomb(9) }],
      /more than 512 MiB of files/,
    ],
    [
      'a name of gigabytes',
      async () => [{ mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', bytes: await longName() }],
      /damaged, or is none/,
    ],
    [
      'links with more in them than there is room for',
      async () => [{ mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', bytes: await bomb(13, 'symlink') }],
      /more than 768 MiB when it is unpacked/,
    ],
    [
      'a path in its title',
      async () => [
        { mediaType: 'text/plain', bytes: Buffer.from('x'), annotations: { 'org.opencontainers.image.title': '../../x' } },
      ],
      /not a path inside it/,
    ],
    [
      'nothing that is a file',
      async () => [{ mediaType: 'application/octet-stream', bytes: Buffer.from('x') }],
      /has no layer with files/,
    ],
  ]
  for (const [index, [what, layers, refusal]] of HOSTILE.entries())
    it(`refuses ${what}, and keeps nothing of it`, async () => {
      await push(`hostile-${index}`, 'latest', await layers())
      assert.match(await saying(stage.take(url(`hostile-${index}`), { kind: 'default' })), refusal)
      const folders = readdirSync(join(stage.folder, 'mirrors'))
      const kept = folders.flatMap((name) => readdirSync(join(stage.folder, 'mirrors', name)))
      assert.equal(
        kept.filter((name) => name.startsWith('.tmp')),
        [],
      )
      assert.not(existsSync(join(stage.folder, 'x')))
    })

  it('refuses what cannot be an artifact, with the words for it', async () => {
    await push('index', 'latest', [await fluxLayer({ a: '' })], {
      manifest: { mediaType: 'application/vnd.oci.image.index.v1+json', layers: undefined, config: undefined, manifests: [] },
    })
    assert.match(await saying(stage.take(url('index'), { kind: 'default' })), /images for several platforms/)
    assert.match(await saying(stage.find(url('x'), { kind: 'branch', name: 'main' })), /is a registry, and has no branch main/)
    assert.match(await saying(stage.find(url('x'), { kind: 'commit', name: 'a'.repeat(40) })), /has no commit aaaa/)
    assert.match(await saying(stage.find(url('UPPER'), { kind: 'default' })), /cannot be the name of a repository/)
  })

  it('shows its credential to who wants one', async () => {
    await pushArtifact({ registry: `http://${closed.host}`, repository: 'shop', tag: 'latest', authorization: AUTHORIZATION }, [
      await fluxLayer({ 'a.yaml': 'a: 1\n' }),
    ])
    const [username = '', password = ''] = PRIVATE.split(':')
    const credential = { username, password: new Secret(password) }
    const { texts } = await stage.take(url('shop', closed), { kind: 'default' }, 'oci', { credential })
    assert.equal(texts, { 'a.yaml': 'a: 1\n' })
    const wrong = { username, password: new Secret('wrong') }
    assert.match(
      await saying(stage.find(url('shop', closed), { kind: 'default' }, 'oci', { credential: wrong })),
      /refuses it \(401\)/,
    )
    assert.match(await saying(stage.find(url('shop', closed), { kind: 'default' })), /refuses it \(401\)/)
  })
}

/** Of half a megabyte. Archives of gzip may stand one behind the other. */
async function bomb(pieces: number, type: 'file' | 'symlink' = 'file'): Promise<Buffer> {
  const [piece, archive] = [Buffer.alloc(64 * 2 ** 20), pack()]
  archive.entry({ name: 'a', size: piece.length * pieces })
  const [header] = await once(archive, 'data')
  if (type === 'symlink') retype(header, '2')
  const zeros = gzipSync(piece)
  return Buffer.concat([gzipSync(header), ...Array.from({ length: pieces }, () => zeros)])
}

/** A header of another type, with the sum that it needs. */
function retype(header: Buffer, flag: string): void {
  header.write(flag, 156)
  header.write('        ', 148)
  const sum = header.subarray(0, 512).reduce((all, byte) => all + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
}

/** A pax header, which is read as a whole. */
async function longName(): Promise<Buffer> {
  const archive = pack()
  archive.entry({ name: 'a', size: 2 ** 32 })
  const [header] = await once(archive, 'data')
  retype(header, 'x')
  const zeros = gzipSync(Buffer.alloc(64 * 2 ** 20))
  return Buffer.concat([gzipSync(header), zeros, zeros])
}

const saying = async (work: Promise<unknown>): Promise<string> => (await failureOf(() => work)).message

describe('artifacts in a registry', artifacts, await lacksRegistry())
