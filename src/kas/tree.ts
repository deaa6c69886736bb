/** The files of a commit, by folder: a stream pays for what lies in its own, and not for the repository. */
export interface Tree<File> {
  /** Everything below a folder, at any depth, in the order of the commit; `''` is the root. */
  below(folder: string): readonly File[]
  /** The files that lie in the folder itself. */
  in(folder: string): readonly File[]
  file(path: string): File | undefined
}

export function treeOf<File extends { readonly path: string }>(files: readonly File[]): Tree<File> {
  const below = new Map<string, File[]>([['', [...files]]])
  const inside = new Map<string, File[]>()
  for (const file of files) {
    let folder = folderOf(file.path)
    put(inside, folder, file)
    for (; folder !== ''; folder = folderOf(folder)) put(below, folder, file)
  }
  return {
    below: (folder) => below.get(folder) ?? [],
    in: (folder) => inside.get(folder) ?? [],
    file: (path) => inside.get(folderOf(path))?.find((file) => file.path === path),
  }
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

function put<File>(lists: Map<string, File[]>, folder: string, file: File): void {
  const list = lists.get(folder)
  if (list) list.push(file)
  else lists.set(folder, [file])
}
