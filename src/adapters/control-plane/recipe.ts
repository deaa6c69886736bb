import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Failure } from '../../std/index.ts'

/** What is to be built: a Go module of `tool` directives, and how the pods of the built cluster live. */
export interface Recipe {
  /** The folder of go.mod and go.sum. */
  folder: string
  /** Names exactly these versions of everything: the key of the cache. */
  digest: string
  /** The version of Kubernetes, as in `v1.36.3`. */
  kubernetes: string
}

/** hack/control-plane of this package; the same way up from src/ and from dist/. */
export const RECIPE_FOLDER = fileURLToPath(new URL('../../../hack/control-plane/', import.meta.url))

export function readRecipe(folder = RECIPE_FOLDER): Recipe {
  const [mod, sum] = ['go.mod', 'go.sum'].map((name) => read(join(folder, name)))
  const digest = createHash('sha256').update(`${mod}${sum}`).digest('hex').slice(0, 16)
  const kubernetes = /^\s*(?:require )?k8s\.io\/kubernetes (v[\d.]+)/m.exec(mod ?? '')?.[1]
  return { folder, digest, kubernetes: kubernetes ?? 'v0.0.0' }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    throw new Failure('not-found', `${path} cannot be read, so nobody knows which control plane to get`, { cause: thrown })
  }
}
