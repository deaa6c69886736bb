import { chmodSync, cpSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, Failure, systemClock } from '../../../std/index.ts'
import { cacheFolder } from '../programs/cache.ts'
import { goFor, installPackages } from '../programs/go-build.ts'
import { type ProgressReport, silentReport } from '../programs/tools.ts'
import { makeFolder, removeTree } from '../servers/folder.ts'
import { lock } from '../servers/lock.ts'
import { run } from '../servers/run.ts'
import { unpackDebian } from './debian.ts'
import { packImage } from './images.ts'
import { type NodeRecipe, readNodeRecipe } from './node-recipe.ts'

/** The programs of a node, made once for each version. Nothing writes to them. */
export interface NodePrograms {
  /** In it `bin`, the programs of Kubernetes, of containerd and ours, and `images`, those that a node has from its start. */
  folder: string
}

/** The programs of Debian, runc, iptables and mount among them, in a folder that looks like the root of a system. */
export const rootOf = ({ folder }: NodePrograms): string => join(folder, 'root')

export interface NodeAcquisition {
  /** The caller's environment: HOME or XDG_CACHE_HOME (the cache), proxies, PATH and what `go` wants. */
  env: Record<string, string | undefined>
  report?: ProgressReport
  clock?: Clock
  signal?: AbortSignal | undefined
}

/** Those that are there already. */
export function findNode({ env }: Pick<NodeAcquisition, 'env'>): NodePrograms | undefined {
  const folder = join(cacheFolder(CACHE, env), readNodeRecipe().digest)
  return existsSync(folder) ? { folder } : undefined
}

const CACHE = 'cluster-node'

/** Finds the programs of a node in the cache, or makes them: Go builds most, Debian has the rest. */
export async function acquireNode({
  env,
  report = silentReport,
  clock = systemClock,
  signal,
}: NodeAcquisition): Promise<NodePrograms> {
  const recipe = readNodeRecipe()
  const cache = cacheFolder(CACHE, env)
  const folder = join(cache, recipe.digest)
  if (existsSync(folder)) return { folder }
  makeFolder(cache)
  const waiting = (holder: string) => report.line(`Another run (${holder}) is making the node's programs: waiting for it.`)
  const unlock = await lock(`${folder}.lock`, { clock, waiting, signal })
  try {
    if (!existsSync(folder)) await make(folder, { recipe, env, report, clock, signal })
  } finally {
    unlock()
  }
  return { folder }
}

type Making = Required<Omit<NodeAcquisition, 'signal'>> & Pick<NodeAcquisition, 'signal'> & { recipe: NodeRecipe }

/** Made beside its goal and renamed there, so that nobody ever meets half of it. */
async function make(folder: string, making: Making): Promise<void> {
  const { recipe, env, report } = making
  const go = await goFor(recipe, env)
  if ('why' in go)
    throw new Failure('unavailable', `no node is to be had here: ${go.why}`, {
      reason: 'NoNode',
      remedy: `Install Go ${recipe.go} or newer (https://go.dev/dl).`,
    })
  report.line(`Making the programs of a node with ${go.version}, once: about five minutes on two cores (kept in ${folder}).`)
  const beside = `${folder}.making`
  removeTree(beside)
  const at = (name: string) => join(beside, name)
  for (const name of ['root', 'bin', 'images', 'work', 'downloads']) mkdirSync(at(name), { recursive: true })
  try {
    await unpack(at, making)
    await build(at, making)
    await packImages(at, making)
    for (const name of ['work', 'downloads']) removeTree(at(name))
    renameSync(beside, folder)
  } finally {
    removeTree(beside)
  }
}

type At = (name: string) => string

async function unpack(at: At, { recipe, ...making }: Making): Promise<void> {
  await unpackDebian({ ...recipe, ...making, downloads: at('downloads'), into: at('root') })
  // Debian's scripts would make this link; they do not run.
  for (const name of ['iptables', 'iptables-save', 'iptables-restore'])
    symlinkSync('xtables-nft-multi', join(at('root'), 'usr', 'sbin', name))
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(at('root'), 'etc', name), text)
}

/** Files of /etc without which programs complain. */
const FILES = {
  passwd: 'root:x:0:0:root:/root:/bin/sh\n',
  group: 'root:x:0:\n',
  hosts: '127.0.0.1 localhost\n',
  // Where there is egress, a name server is added: images come from somewhere. Pods get the cluster's DNS.
  'resolv.conf': 'options ndots:1\n',
}

async function build(at: At, { recipe, env, report, signal }: Making): Promise<void> {
  for (const module of recipe.modules)
    await installPackages({ ...module, programs: at('bin'), work: at('work'), env, report, signal })
}

/** Images that a node has from its start: one that holds the namespaces of a pod, and a shell. */
async function packImages(at: At, { env }: Making): Promise<void> {
  const folderOf = (name: string) => join(at('work'), name)
  for (const name of ['pause', 'busybox']) mkdirSync(join(folderOf(name), 'bin'), { recursive: true })
  renameSync(join(at('bin'), 'pause'), join(folderOf('pause'), 'pause'))
  await packImage(
    { name: 'pause', root: folderOf('pause'), config: { Entrypoint: ['/pause'], User: '65535:65535' }, env },
    at('images'),
  )
  cpSync(join(at('root'), 'usr', 'bin', 'busybox'), join(folderOf('busybox'), 'bin', 'busybox'))
  const names = await run(join(folderOf('busybox'), 'bin', 'busybox'), ['--list'], { env })
  for (const name of names.trim().split('\n'))
    if (name !== 'busybox') symlinkSync('busybox', join(folderOf('busybox'), 'bin', name))
  for (const name of ['etc', 'tmp']) mkdirSync(join(folderOf('busybox'), name))
  chmodSync(join(folderOf('busybox'), 'tmp'), 0o1777)
  writeFileSync(join(folderOf('busybox'), 'etc', 'passwd'), FILES.passwd)
  const shell = { Cmd: ['sh'], Env: ['PATH=/bin'] }
  await packImage({ name: 'busybox', root: folderOf('busybox'), config: shell, env }, at('images'))
}
