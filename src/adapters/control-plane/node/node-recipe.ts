import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PACKAGE_FOLDER } from '../../../std/index.ts'
import { kubernetesFlags } from '../programs/go-build.ts'
import { versionsIn } from '../programs/recipe.ts'
import { type DebianLock, readDebianLock } from './debian.ts'

/** Names the programs of a node: Go modules, and Debian packages for what is not written in Go or wants C. */
export interface NodeRecipe extends DebianLock {
  /** Names exactly these versions of everything: the key of the cache. */
  digest: string
  modules: readonly GoModule[]
  /** The Go that builds them, or newer. */
  go: string
}

export interface GoModule {
  folder: string
  /** As in "building the kubelet". */
  what: string
  packages: readonly string[]
  /** Of `go install`. */
  flags: readonly string[]
}

export const NODE_FOLDER = fileURLToPath(new URL('hack/node/', PACKAGE_FOLDER))

export function readNodeRecipe(): NodeRecipe {
  const folder = NODE_FOLDER
  const lock = join(folder, 'debian.txt')
  const modules = modulesIn(folder)
  const go = versionsIn(join(folder, 'containerd'))('go')
  return { digest: digestOf(lock, modules), modules, go, ...readDebianLock(lock) }
}

/** Features that need libraries in C, or that no node of ours has. */
const CONTAINERD_TAGS = 'no_btrfs no_devmapper no_zfs no_aufs no_tracing'

function modulesIn(folder: string): GoModule[] {
  const at = (name: string) => join(folder, name)
  const kubernetes = versionsIn(at('kubernetes'))('k8s.io/kubernetes')
  const containerd = 'github.com/containerd/containerd/v2'
  const version = versionsIn(at('containerd'))(containerd).slice(1)
  const named = `-s -w -X ${containerd}/version.Version=${version}`
  return [
    { folder: at('kubernetes'), what: 'the kubelet', packages: ['tool'], flags: kubernetesFlags(kubernetes) },
    {
      folder: at('containerd'),
      what: 'containerd',
      packages: ['tool'],
      flags: ['-tags', CONTAINERD_TAGS, '-ldflags', named],
    },
    { folder: at('helpers'), what: 'CoreDNS', packages: ['./...'], flags: ['-ldflags', '-s -w'] },
  ]
}

function digestOf(lock: string, modules: readonly GoModule[]): string {
  const hash = createHash('sha256').update(readFileSync(lock))
  for (const { folder, packages, flags } of modules) {
    hash.update(JSON.stringify([packages, flags]))
    for (const file of filesIn(folder)) hash.update(readFileSync(file))
  }
  return hash.digest('hex').slice(0, 16)
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
