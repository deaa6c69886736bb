import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { arch } from 'node:process'
import { promisify } from 'node:util'
import { readRecipe, TOOLS, type Tool } from '../../src/adapters/control-plane/index.ts'
import { portOf } from './addresses.ts'
import { eventually } from './verbs.ts'

/** What goes wrong with one file. */
export interface Mishap {
  /** This is answered instead. */
  status?: number
  /** The page of its sum is out of order so often, and answers this (503). */
  busySums?: number
  busyStatus?: number
  /** Its bytes are not those that were announced. */
  isForged?: boolean
  /** The connection ends after so many bytes of an answer; so often, or always. */
  cutAfter?: number
  /** After so many bytes nothing more comes, so often; the connection stays. */
  stallAfter?: number
  times?: number
  /** What goes wrong does so not before this. */
  until?: () => boolean
  /** The answer does not say how long it is: it comes in chunks, or until the connection ends. */
  unsized?: 'chunks' | 'until the end'
  /** `Range` is not heard, or another part is answered. */
  range?: 'ignored' | 'mistaken'
}

export interface ReleaseSite {
  /** For BERTH_RELEASES. */
  url: string
  /** What was asked for, in order: the path, the range where one was, and who asked. */
  readonly asked: { path: string; range: string | undefined; authorization: string | undefined }[]
  readonly mishaps: Partial<Record<Tool, Mishap>>
  /** What is answered for each program. */
  readonly files: Record<Tool, Buffer>
  /** A text instead of the published sums. */
  readonly sums: Partial<Record<Tool, string>>
  /** How many connections are open. */
  connections(): Promise<number>
  close(): Promise<void>
}

/** As the projects lay out their releases, with small programs that print their names, on loopback. */
export async function releaseSite(): Promise<ReleaseSite> {
  const { kubernetes, etcd, kwok } = readRecipe()
  const machine = { os: 'linux', arch: arch === 'x64' ? 'amd64' : arch }
  const name = `etcd-${etcd}-linux-${machine.arch}`
  const files: ReleaseSite['files'] = {
    ...Object.fromEntries(TOOLS.map((tool) => [tool, program(tool)])),
    etcd: archiveOf(name),
  } as ReleaseSite['files'] // as: fromEntries forgets which names there are
  const mishaps: ReleaseSite['mishaps'] = {}
  const sums: ReleaseSite['sums'] = {}
  const asked: ReleaseSite['asked'] = []
  const sumOf = (tool: Tool) => createHash('sha256').update(files[tool]).digest('hex')

  const folder = { etcd: `/github.com/etcd-io/etcd/releases/download/${etcd}` }
  const pathOf = (tool: Tool): string => {
    if (tool === 'etcd') return `${folder.etcd}/${name}.tar.gz`
    if (tool === 'kwok') return `/github.com/kubernetes-sigs/kwok/releases/download/${kwok}/kwok-linux-${machine.arch}`
    return `/dl.k8s.io/release/${kubernetes}/bin/linux/${machine.arch}/${tool}`
  }
  const assets = () => [
    { name: `kwokctl-linux-${machine.arch}`, digest: `sha256:${'0'.repeat(64)}` },
    { name: `kwok-linux-${machine.arch}`, digest: `sha256:${sumOf('kwok')}` },
  ]
  const published = (path: string): string | undefined => {
    const tool = TOOLS.find((each) => path === `${pathOf(each)}.sha256`)
    if (tool) return sums[tool] ?? sumOf(tool)
    if (path === `${folder.etcd}/SHA256SUMS`) {
      return sums.etcd ?? `${'0'.repeat(64)}  ${name.replace('linux', 'darwin')}.zip\n${sumOf('etcd')}  ${name}.tar.gz\n`
    }
    const isKwok = path === `/api.github.com/repos/kubernetes-sigs/kwok/releases/tags/${kwok}`
    return isKwok ? (sums.kwok ?? JSON.stringify({ tag_name: kwok, assets: assets() })) : undefined
  }

  const statusOfSum = (path: string): number => {
    const tool = TOOLS.find((each) => mishaps[each]?.busySums && path === `${pathOf(each)}.sha256`)
    if (!tool) return 200
    const { busySums = 0, busyStatus = 503 } = mishaps[tool] ?? {}
    mishaps[tool] = { busySums: busySums - 1, busyStatus }
    return busyStatus
  }

  const server = createServer((request, response) => {
    // A client that takes the site for a proxy writes whole addresses.
    const path = new URL(request.url ?? '', 'http://site').pathname
    const { range, authorization } = request.headers
    asked.push({ path, range, authorization })
    const tool = TOOLS.find((each) => path === pathOf(each))
    const text = published(path)
    if (text) return void response.writeHead(statusOfSum(path)).end(text)
    if (!tool) return void response.writeHead(404).end()
    const mishap = mishaps[tool] ?? {}
    const { status, isForged, cutAfter, stallAfter, times = 1, until = () => true, range: heard, unsized } = mishap
    if (status) return void eventually(until).finally(() => response.writeHead(status).end())
    const whole = isForged ? Buffer.alloc(files[tool].length, '#') : files[tool]
    const from = heard === 'ignored' ? 0 : Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
    if (from > 0 && from >= whole.length) return void response.writeHead(416).end()
    const rest = whole.subarray(heard === 'mistaken' ? 0 : from)
    const said = { 'content-range': `bytes ${heard === 'mistaken' ? 0 : from}-${whole.length - 1}/${whole.length}` }
    if (unsized === 'until the end') response.useChunkedEncodingByDefault = false
    response.writeHead(from > 0 ? 206 : 200, { ...(!unsized && { 'content-length': rest.length }), ...(from > 0 && said) })
    const breakAfter = cutAfter ?? stallAfter
    if (breakAfter === undefined || times === 0) return void response.end(rest)
    mishap.times = times - 1
    response.write(
      rest.subarray(0, breakAfter),
      () => void eventually(until).finally(() => cutAfter !== undefined && response.destroy()),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    asked,
    mishaps,
    files,
    sums,
    connections: () => promisify(server.getConnections.bind(server))(),
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
}

const program = (tool: Tool): Buffer => Buffer.from(`#!/bin/sh\necho ${tool}\n${`# ${tool}\n`.repeat(20_000)}`)

function archiveOf(name: string): Buffer {
  const home = mkdtempSync(join(tmpdir(), 'berth-releases-'))
  mkdirSync(join(home, name))
  for (const tool of ['etcd', 'etcdctl']) {
    writeFileSync(join(home, name, tool), tool === 'etcd' ? program('etcd') : '')
    chmodSync(join(home, name, tool), 0o755)
  }
  try {
    return execFileSync('tar', ['-cz', '--owner=1234', '--group=1234', '-C', home, name])
  } finally {
    rmSync(home, { recursive: true })
  }
}
