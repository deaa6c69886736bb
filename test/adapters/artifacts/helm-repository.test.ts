import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { Secret } from '../../../src/std/index.ts'
import { packChart, runHelm } from '../../support/artifacts.ts'
import { lacksHelm } from '../../support/helm.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe, type It } from '../../support/suite.ts'
import { artifactStage } from './stage.ts'

interface Site {
  url: string
  /** What is at a path: a text, a file's bytes, or where it leads. */
  pages: Map<string, string | Buffer | { to: string }>
  asked: IncomingMessage[]
  server: Server
}

/** A web server as charts are published on, which knows of ETags. */
async function site(): Promise<Site> {
  const pages: Site['pages'] = new Map()
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    const page = pages.get(request.url ?? '')
    if (page === undefined) return void response.writeHead(404).end()
    if (typeof page === 'object' && 'to' in page) return void response.writeHead(302, { location: page.to }).end()
    const etag = `"${createHash('sha256').update(page).digest('hex').slice(0, 16)}"`
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end()
    response.writeHead(200, { etag }).end(page)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pages, asked, server }
}

function repositories(it: It) {
  let stage: Awaited<ReturnType<typeof artifactStage>>
  let charts: Site
  let elsewhere: Site
  const take = (name: string, path = '/charts', access = {}) =>
    stage.take(`${charts.url}${path}`, { kind: 'chart', name }, 'helm', access)
  const saying = async (name: string, path?: string) => {
    const { message } = await failureOf(() => take(name, path))
    return message
  }

  it.before(async () => {
    stage = await artifactStage()
    charts = await site()
    elsewhere = await site()
    const folder = join(stage.folder, 'published')
    mkdirSync(folder)
    for (const [name, version] of [
      ['podinfo', '1.0.0'],
      ['podinfo', '1.10.0'],
      ['podinfo', '1.9.0'],
      ['podinfo', '2.0.0-rc.1'],
      ['podinfo-extra', '7.0.0'],
      ['another', '3.0.0'],
    ] as const) {
      const file = await packChart(folder, name, version)
      charts.pages.set(`/charts/${name}-${version}.tgz`, readFileSync(file))
    }
    await runHelm('repo', 'index', folder)
    charts.pages.set('/charts/index.yaml', readFileSync(join(folder, 'index.yaml'), 'utf8'))
  })
  it.after(() => {
    for (const { server } of [charts, elsewhere]) {
      server.closeAllConnections()
      server.close()
    }
    stage.remove()
  })
  const index = () => String(charts.pages.get('/charts/index.yaml'))
  const archive = (name = 'podinfo-1.0.0') => charts.pages.get(`/charts/${name}.tgz`) as Buffer

  it('takes the chart that an index of Helm names, by version, range and digest', async () => {
    const latest = await take('podinfo@')
    assert.equal(Object.keys(latest.texts).sort(), ['Chart.yaml', 'templates/settings.yaml', 'values.yaml'])
    assert.equal(latest.line, { author: '', subject: 'podinfo 1.10.0' })
    assert.is(latest.refName, 'refs/tags/1.10.0')
    assert.is(latest.commit, createHash('sha256').update(archive('podinfo-1.10.0')).digest('hex'))
    assert.is((await take('podinfo@<1.10')).line.subject, 'podinfo 1.9.0')
    assert.is((await take('podinfo@1.0.0')).line.subject, 'podinfo 1.0.0')
    assert.is((await take('podinfo@>=2.0.0-0')).line.subject, 'podinfo 2.0.0-rc.1')
    assert.is((await take('podinfo-extra@7.x')).line.subject, 'podinfo-extra 7.0.0')
    assert.is((await take(`podinfo@sha256:${latest.commit}`)).line.subject, 'podinfo 1.10.0')
  })

  it('says which versions there are where none is meant', async () => {
    assert.match(
      await saying('podinfo@^9'),
      /has no version \^9 of chart podinfo; it has 2\.0\.0-rc\.1, 1\.10\.0, 1\.9\.0 and others/,
    )
    assert.match(await saying('absent@'), /has no chart absent/)
    assert.match(await saying('podinfo@', '/nowhere'), /there is nothing at .*\/nowhere\/index\.yaml/)
  })

  it('reads no index again that has not changed', async () => {
    await take('another@')
    const count = () => charts.asked.length
    const before = count()
    await take('another@')
    assert.is(count(), before + 1)
    assert.ok(charts.asked.at(-1)?.headers['if-none-match'])
  })

  it('reads an index in JSON, and passes over what others wrote into a large one', async () => {
    const digest = createHash('sha256').update(archive()).digest('hex')
    const entry = { name: 'podinfo', version: '1.0.0', urls: [`${charts.url}/charts/podinfo-1.0.0.tgz`], digest }
    charts.pages.set('/json/index.yaml', JSON.stringify({ apiVersion: 'v1', entries: { other: [], podinfo: [entry] } }))
    assert.is((await take('podinfo@', '/json')).commit, digest)
    const noise = `  noise:\n${'  - description: |\n      podinfo:\n      - version: 99.0.0\n    version: 1.0.0\n'.repeat(60_000)}`
    const [head = '', tail = ''] = index().split('entries:\n')
    charts.pages.set('/large/index.yaml', `${head}entries:\n${noise}${tail}`)
    charts.pages.set('/large/podinfo-1.10.0.tgz', archive('podinfo-1.10.0'))
    assert.is((await take('podinfo@', '/large')).line.subject, 'podinfo 1.10.0')
  })

  it('takes an archive from another host, and shows it no credential', async () => {
    elsewhere.pages.set('/podinfo.tgz', { to: '/moved/podinfo.tgz' })
    elsewhere.pages.set('/moved/podinfo.tgz', archive())
    charts.pages.set('/led/index.yaml', index().replaceAll(/- (podinfo-1\.0\.0)\.tgz/g, `- ${elsewhere.url}/podinfo.tgz`))
    const credential = { username: 'ada', password: new Secret('secret') }
    await take('podinfo@1.0.0', '/led', { credential, owner: 'ada' })
    assert.ok(charts.asked.at(-1)?.headers.authorization)
    assert.equal(
      elsewhere.asked.map(({ url, headers }) => [url, headers.authorization]),
      [
        ['/podinfo.tgz', undefined],
        ['/moved/podinfo.tgz', undefined],
      ],
    )
  })

  it('refuses an archive that is not what the index says', async () => {
    charts.pages.set('/wrong/index.yaml', index())
    charts.pages.set('/wrong/podinfo-1.0.0.tgz', archive('podinfo-1.9.0'))
    const failure = await failureOf(() => take('podinfo@1.0.0', '/wrong'))
    assert.is(failure.reason, 'DigestMismatch')
    charts.pages.set('/wrong/podinfo-1.0.0.tgz', archive())
    assert.is((await take('podinfo@1.0.0', '/wrong')).line.subject, 'podinfo 1.0.0')
  })

  it('refuses what leads in a circle, to another protocol, or is no index', async () => {
    charts.pages.set('/circle/index.yaml', { to: '/circle/index.yaml' })
    assert.match(await saying('podinfo@', '/circle'), /leads on without end/)
    charts.pages.set('/file/index.yaml', { to: 'file:///etc/passwd' })
    assert.match(await saying('podinfo@', '/file'), /to where nothing is fetched from/)
    for (const text of ['<html></html>', 'entries: [', '{"entries": {"podinfo": "x"}}', '']) {
      charts.pages.set('/none/index.yaml', text)
      assert.match(await saying('podinfo@', '/none'), /none of Helm's|has no chart podinfo/)
    }
  })

  it('has charts only', async () => {
    const failure = await failureOf(() => stage.find(`${charts.url}/charts`, { kind: 'branch', name: 'main' }, 'helm'))
    assert.match(failure.message, /lists Helm charts, and has no branch main/)
  })

  it('refuses a name that is none of a chart', async () => {
    assert.match(await saying('../podinfo@'), /cannot be the name of a chart/)
  })
}

describe('charts in a repository of Helm', repositories, await lacksHelm())
