import type { Cache } from '../../adapters/kube/index.ts'
import type { ConfigMap } from '../../api/index.ts'
import { withoutEnd } from '../../std/index.ts'

/**
 * Which namespace holds which paths of GitProjects. Anybody can write any path into a project of his, so a path opens something
 * to other namespaces only where it is the namespace's own. New ones are held to it by an admission policy (git-project.yaml);
 * here the same rule counts for those that were there before.
 */
export interface PathHolders {
  holds(namespace: string, path: string): boolean
  onChange(listener: () => void): () => void
}

/** In Berth's own namespace. Its keys are namespaces; each line of a value is a prefix that the namespace may use, too. */
export const PROJECT_PATHS = 'berth-project-paths'

/** The cache has the ConfigMap of that name and nothing else. */
export const pathHoldersOf = (cache: Cache<ConfigMap>): PathHolders => ({
  holds(namespace, path) {
    if (isOwnPath(namespace, path)) return true
    return [...cache.all()].some(({ data }) => prefixesIn(data?.[namespace]).some((prefix) => isBelow(path, prefix)))
  },
  onChange: (listener) => cache.onChange(() => listener()),
})

/** Whatever a platform lists. */
export const isOwnPath = (namespace: string, path: string): boolean => path.startsWith(`${namespace}/`)

const prefixesIn = (lines = ''): string[] => lines.split('\n').map((line) => withoutEnd(line.trim(), '/'))

const isBelow = (path: string, prefix: string): boolean => prefix !== '' && (path === prefix || path.startsWith(`${prefix}/`))
