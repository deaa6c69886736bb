import { join } from 'node:path'
import type { SourceFile } from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'

const ROOT = join(import.meta.dirname, '..')
const SRC = join(ROOT, 'src')

/** A file of src, by its path below it. */
interface FileTree {
  file: string
  tree: SourceFile
}

/** Works with the trees of all files of src but generated ones; they are there only meanwhile. */
export function withTrees<T>(work: (trees: FileTree[]) => T): T {
  const api = new API({ cwd: ROOT })
  try {
    const [project] = api.updateSnapshot({ openProjects: [join(ROOT, 'tsconfig.json')] }).getProjects()
    const paths = project?.program.getSourceFileNames() ?? []
    const trees = paths
      .filter((path) => path.startsWith(`${SRC}/`) && !path.includes('/generated/'))
      // The compiler gives them in an order of its own, and what is made from them must not depend on it.
      .sort()
      .flatMap((path) => {
        const tree = project?.program.getSourceFile(path)
        return tree ? [{ file: path.slice(SRC.length + 1), tree }] : []
      })
    return work(trees)
  } finally {
    api.close()
  }
}
