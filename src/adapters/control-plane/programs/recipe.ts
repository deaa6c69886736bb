import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Failure, PACKAGE_FOLDER } from '../../../std/index.ts'

/** Names the programs that are to be got: a Go module of `tool` directives, and the Stages by which pods live. */
export interface Recipe {
  /** The folder of go.mod and go.sum. */
  folder: string
  /** Names exactly these versions of everything: the key of the cache. */
  digest: string
  /** The versions of Kubernetes, etcd and kwok, as in `v1.36.3`. */
  kubernetes: string
  etcd: string
  kwok: string
  /** The Go that builds them, or newer. */
  go: string
}

export const RECIPE_FOLDER = fileURLToPath(new URL('hack/control-plane/', PACKAGE_FOLDER))

export function readRecipe(folder = RECIPE_FOLDER): Recipe {
  const [mod, sum] = ['go.mod', 'go.sum'].map((name) => read(join(folder, name)))
  const digest = createHash('sha256').update(`${mod}${sum}`).digest('hex').slice(0, 16)
  const versionOf = versionsIn(folder)
  return {
    folder,
    digest,
    kubernetes: versionOf('k8s.io/kubernetes'),
    etcd: versionOf('go.etcd.io/etcd/server/v3'),
    kwok: versionOf('sigs.k8s.io/kwok'),
    go: versionOf('go'),
  }
}

/** Answers which version of a module, or of `go`, the folder's go.mod names. */
export function versionsIn(folder: string): (module: string) => string {
  const lines = read(join(folder, 'go.mod'))
    .split('\n')
    .map((line) => line.replace(/^\s*(require )?/, '').split(' '))
  return (module) => {
    const [, found] = lines.find(([name, version]) => name === module && version) ?? []
    if (found) return found
    throw new Failure('invalid', `${join(folder, 'go.mod')} says no version of ${module}`)
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    throw new Failure('not-found', `${path} cannot be read, so nobody knows which control plane to get`, { cause: thrown })
  }
}
