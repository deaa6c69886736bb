import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const REPOSITORY = join(import.meta.dirname, '../..')

const CLONE = `
git clone --quiet --shared . "$0"
(cd "$0" && git ls-files -z | xargs -0 rm)
git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- --create | tar --extract --directory "$0"
echo node_modules >> "$0/.git/info/exclude"
ln -s "$PWD/node_modules" "$0"
`

/** Clones this repository into a folder, with what is not committed yet as such, and with the same libraries. */
export async function cloneRepository(folder: string): Promise<void> {
  await promisify(execFile)('sh', ['-euc', CLONE, folder], { cwd: REPOSITORY })
}
