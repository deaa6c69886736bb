import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure, seconds } from '../../std/index.ts'
import type { Report } from './report.ts'
import { run } from './run.ts'

/** Where the Kubernetes project lists the archives that its envtest uses: etcd, kube-apiserver and kubectl. */
export const ENVTEST_INDEX = 'https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml'

/** A network that does not answer by then counts as none: the next way is waiting. */
const PATIENCE = seconds(3)

export interface Download {
  index: string
  /** As in `v1.36.3`; the newest archive of the same minor version is taken. */
  kubernetes: string
  platform: { os: string; arch: string }
  into: string
  report: Report
  signal?: AbortSignal | undefined
}

interface Archive {
  version: string
  url: string
  sha512: string
}

/** Puts the archive's programs into the folder, whole or not at all. */
export async function downloadEnvtest({ index, kubernetes, platform, into, report, signal }: Download): Promise<string> {
  const list = await fetchBytes(index, { patience: PATIENCE, signal })
  const archive = newestOf(archivesIn(list.toString('utf8'), platform), kubernetes)
  if (!archive) {
    throw new Failure('not-found', `${index} lists no archive of ${kubernetes} for ${platform.os}-${platform.arch}`)
  }
  const told = (done: number, total: number) => report.progress({ what: `downloading ${archive.version}`, done, total })
  const bytes = await fetchBytes(archive.url, { told, signal })
  const sum = createHash('sha512').update(bytes).digest('hex')
  if (sum !== archive.sha512) {
    throw new Failure('invalid', `${archive.url} has the SHA-512 ${sum}, and ${archive.sha512} was announced: not used`)
  }
  await unpack(bytes, into)
  return archive.version
}

async function unpack(bytes: Buffer, into: string): Promise<void> {
  const beside = `${into}.unpacking`
  rmSync(beside, { recursive: true, force: true })
  mkdirSync(beside, { recursive: true })
  const file = join(beside, 'archive.tar.gz')
  writeFileSync(file, bytes)
  await run('tar', ['-xzf', file, '-C', beside, '--strip-components=2'])
  rmSync(file)
  rmSync(into, { recursive: true, force: true })
  renameSync(beside, into)
}

/** The index is YAML of one fixed shape: a file name, below it `hash:` and `selfLink:` in either order. */
function archivesIn(index: string, { os, arch }: Download['platform']): Archive[] {
  const entry = /^\s*envtest-(v[\d.]+)-(\w+)-(\w+)\.tar\.gz:\s*\n((?:\s+(?:hash|selfLink): *\S+ *\n?)+)/gm
  return [...index.matchAll(entry)].flatMap(([, version = '', itsOs, itsArch, fields = '']) => {
    const sha512 = /hash: *["']?([0-9a-f]{128})/.exec(fields)?.[1]
    const url = /selfLink: *["']?([^\s"']+)/.exec(fields)?.[1]
    return itsOs === os && itsArch === arch && sha512 && url ? [{ version, url, sha512 }] : []
  })
}

function newestOf(archives: Archive[], kubernetes: string): Archive | undefined {
  const minor = /^v\d+\.\d+\./.exec(kubernetes)?.[0] ?? kubernetes
  const patch = ({ version }: Archive) => Number(version.split('.')[2])
  return archives.filter(({ version }) => version.startsWith(minor)).sort((a, b) => patch(b) - patch(a))[0]
}

interface Fetching {
  patience?: number
  told?: (done: number, total: number) => void
  signal?: AbortSignal | undefined
}

async function fetchBytes(url: string, { patience, told, signal }: Fetching): Promise<Buffer> {
  const limits = [signal, patience ? AbortSignal.timeout(patience) : undefined].filter((limit) => limit !== undefined)
  try {
    const response = await fetch(url, { signal: AbortSignal.any(limits) })
    if (!response.ok || !response.body) throw new Failure('unavailable', `${url} answers ${response.status}`)
    const total = Number(response.headers.get('content-length') ?? 0)
    const parts: Uint8Array[] = []
    let done = 0
    for await (const part of response.body) {
      parts.push(part)
      done += part.length
      told?.(done, Math.max(total, done))
    }
    return Buffer.concat(parts)
  } catch (thrown) {
    throw Failure.from(thrown, url)
  }
}
