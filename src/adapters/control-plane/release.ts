import { platform } from 'node:os'
import { Failure, isRecord, recordIn, withoutEnd, wrongSetting } from '../../std/index.ts'
import { addressIn, userIn, withoutSecrets } from './programs/address.ts'
import type { Recipe } from './programs/recipe.ts'
import { ARCHITECTURE, type Tool } from './programs/tools.ts'

/** A file that a project has released, and where it says what the file must be. */
export interface Release {
  tool: Tool
  url: string
  /** The program inside, where the file is an archive. */
  member?: string
  /** The page that publishes the file's SHA-256, and the way to find it there. */
  sums: string
  sumIn: (published: string) => string | undefined
}

/** A site that keeps copies of what the projects release: `<mirror>/dl.k8s.io/…`, `<mirror>/github.com/…`. */
export interface ReleaseMirror {
  /** Ends with a slash, and has no password in it. */
  url: string
  authorization?: string
}

/** Reads BERTH_RELEASES: a mirror, `off`, or nothing. A user in its address is sent as one, and is in no message. */
export function mirrorOf(setting: string | undefined): ReleaseMirror | 'off' | undefined {
  if (!setting) return undefined
  if (setting.toLowerCase() === 'off') return 'off'
  const url = /[?#]/.test(setting) ? undefined : addressIn(setting, /^https?:$/)
  if (!url) throw wrongSetting('BERTH_RELEASES', withoutSecrets(setting), HOW_TO_WRITE)
  const user = userIn(url)
  const authorization = user && `Basic ${Buffer.from(user).toString('base64')}`
  return { url: `${url.origin}${withoutEnd(url.pathname, '/')}/`, ...(authorization && { authorization }) }
}

const HOW_TO_WRITE = 'Write the https:// or http:// address of a mirror without ? and #, or off; in a password write % as %25.'

/**
 * The release of a program for this machine, as its project publishes it: one file for each program of Kubernetes, with its sum
 * beside it; an archive of etcd, with a list of sums; kwok, of whose files only GitHub says the sums.
 */
export function releaseOf(tool: Tool, recipe: Recipe, mirror?: ReleaseMirror): Release {
  const machine = { os: platform(), arch: ARCHITECTURE }
  // Of a control plane only kubectl is for all systems.
  if (machine.os !== 'linux' && tool !== 'kubectl') throw new Failure('unavailable', `no ${tool} is released for ${machine.os}`)
  const at = (path: string) => `${mirror?.url ?? 'https://'}${path}`
  if (tool === 'etcd') return etcd(recipe.etcd, machine, at)
  if (tool === 'kwok') return kwok(recipe.kwok, machine, at)
  const url = at(`dl.k8s.io/release/${recipe.kubernetes}/bin/${machine.os}/${machine.arch}/${tool}`)
  return { tool, url, sums: `${url}.sha256`, sumIn: (published) => SUM.exec(published)?.[0] }
}

interface Machine {
  os: string
  arch: string
}

type At = (path: string) => string

const SUM = /\b[0-9a-f]{64}\b/

function etcd(version: string, machine: Machine, at: At): Release {
  const folder = at(`github.com/etcd-io/etcd/releases/download/${version}`)
  const name = `etcd-${version}-${machine.os}-${machine.arch}`
  const file = `${name}.tar.gz`
  const line = (published: string) => published.split('\n').find((each) => each.trim().split(/\s+\*?/)[1] === file)
  return {
    tool: 'etcd',
    url: `${folder}/${file}`,
    member: `${name}/etcd`,
    sums: `${folder}/SHA256SUMS`,
    sumIn: (published) => SUM.exec(line(published) ?? '')?.[0],
  }
}

function kwok(version: string, machine: Machine, at: At): Release {
  const file = `kwok-${machine.os}-${machine.arch}`
  return {
    tool: 'kwok',
    url: at(`github.com/kubernetes-sigs/kwok/releases/download/${version}/${file}`),
    sums: at(`api.github.com/repos/kubernetes-sigs/kwok/releases/tags/${version}`),
    sumIn: (published) => SUM.exec(digestOf(published, file))?.[0],
  }
}

/**
 * Of GitHub's description of a release: what it says of one of the files, as in `sha256:…`. A page for people, such as one that asks
 * for a login, says nothing.
 */
function digestOf(published: string, file: string): string {
  const release = recordIn(published)
  const assets = Array.isArray(release?.assets) ? release.assets : []
  const asset: unknown = assets.find((each) => isRecord(each) && each.name === file)
  return isRecord(asset) && typeof asset.digest === 'string' ? asset.digest : ''
}
