/** Counts the cost of matching patterns: characters that were looked at, about eight nanoseconds each. */
export interface Effort {
  steps: number
}

/** The files of a commit, by folder: a stream pays for what lies in its own, and not for the repository. */
export interface FileTree<File> {
  /** Its size in memory, about. */
  readonly bytes: number
  /** Everything below a folder, at any depth, by name; `''` is the root. */
  below(folder: string): readonly File[]
  /** The files that lie in the folder itself. Folders beside them are passed over, which is counted. */
  in(folder: string, effort?: Effort): readonly File[]
  file(path: string): File | undefined
}

/**
 * By name, what lies in a folder stands together, and is found by halving. Nothing is kept of the folders: a repository of a few
 * kilobytes can list thousands of times the same two thousand folders, one within the other.
 */
export function treeOf<File extends { readonly path: string }>(files: readonly File[]): FileTree<File> {
  const { sorted, letters } = byPath(files)
  /** The place of the first file whose path is not less. */
  const placeOf = (path: string, from = 0): number => {
    let [low, high] = [from, sorted.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((sorted[middle]?.path ?? '') < path) low = middle + 1
      else high = middle
    }
    return low
  }
  const endOf = (folder: string, from = 0) => (folder === '' ? sorted.length : placeOf(`${folder}${AFTER_SLASH}`, from))
  const startOf = (folder: string) => (folder === '' ? 0 : placeOf(`${folder}/`))
  return {
    bytes: letters + files.length * BYTES_OF_FILE,
    below: (folder) => sorted.slice(startOf(folder), endOf(folder)),
    in(folder, effort = { steps: 0 }) {
      const found: File[] = []
      const depth = folder === '' ? 0 : folder.length + 1
      const end = endOf(folder)
      for (let at = startOf(folder); at < end; ) {
        const file = sorted[at]
        effort.steps += STEPS_OF_PLACE
        const slash = file?.path.indexOf('/', depth) ?? -1
        if (file && slash < 0) found.push(file)
        at = file && slash >= 0 ? endOf(file.path.slice(0, slash), at) : at + 1
      }
      return found
    },
    file(path) {
      const found = sorted[placeOf(path)]
      return found?.path === path ? found : undefined
    },
  }
}

/** To find the end of a folder. */
const STEPS_OF_PLACE = 150

/** Beside its path. */
const BYTES_OF_FILE = 150

/** The character after `/`: less than it is nothing but what lies in the folder. */
const AFTER_SLASH = '0'

/** As Git lists them, they are sorted already, but for names whose bytes come in another order than their characters. */
function byPath<File extends { readonly path: string }>(files: readonly File[]): { sorted: readonly File[]; letters: number } {
  let before = ''
  let letters = 0
  let isSorted = true
  for (const { path } of files) {
    letters += path.length
    isSorted &&= before <= path
    before = path
  }
  if (isSorted) return { sorted: files, letters }
  const named = files.map((file) => ({ file, path: file.path }))
  return { sorted: named.sort((a, b) => (a.path < b.path ? -1 : 1)).map(({ file }) => file), letters }
}
