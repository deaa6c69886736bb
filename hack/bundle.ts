/** Packs Berth and the libraries that it runs with into a few files: what its package and its image hold. */
import { execFile } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type OutputChunk, rolldown } from 'rolldown'

/** What is started, of what is packed. */
export const MAIN = 'cli/main'
/** As deep as the files of src/std, whose way up to the package leads there from here, too. */
const CHUNKS = 'packed'

export interface Library {
  /** Above its licence. */
  title: string
  folder: string
}

/** A package of npm. */
export interface Package extends Library {
  name: string
  version: string
}

/** ssh2 does without these, which would have to be built. */
const NATIVE = ['cpu-features', /sshcrypto\.node$/]

/**
 * Writes what runs, and the licences of the libraries in it. Of two thousand files that a program loads it makes a few, and so a
 * program starts in half the time.
 *
 * @param repository has the sources, and the libraries in node_modules
 * @param into is emptied before
 * @returns the libraries of which something is in there
 */
export async function bundle(repository: string, into: string): Promise<Package[]> {
  const source = (name: string) => join(repository, 'src', `${name}.ts`)
  const input = { [MAIN]: source(MAIN), [`${CHUNKS}/yaml-thread`]: source('std/yaml-thread') }
  const bundler = await rolldown({ input, cwd: repository, platform: 'node', logLevel: 'warn', external: NATIVE })
  const chunkFileNames = `${CHUNKS}/[name]-[hash].js`
  const { output } = await bundler.write({ dir: into, format: 'esm', cleanDir: true, chunkFileNames })
  await bundler.close()
  const packages = packagesIn(output.filter((file) => file.type === 'chunk'))
  writeLicences(join(into, 'LICENSES'), packages)
  return packages
}

/** The same with the libraries of the lock, whatever was in node_modules. */
export async function bundleFromLock(repository: string, into: string): Promise<Package[]> {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await promisify(execFile)('npm', ['ci', '--omit=optional', ...quiet], { cwd: repository })
  return bundle(repository, into)
}

const packagesIn = (chunks: readonly OutputChunk[]): Package[] =>
  [...new Set(chunks.flatMap(({ moduleIds }) => moduleIds.flatMap((id) => PACKAGE.exec(id)?.[0] ?? [])))].map((folder) => {
    // Before npm had one field for it, packages said it in a list.
    const {
      name,
      version,
      licenses,
      license = licenses?.[0]?.type,
    } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return { title: `${name} ${version} (${license})`, name, version, folder }
  })

const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/

/** What the licences of libraries want to be said wherever these are: the texts that lie beside them. */
export function writeLicences(file: string, libraries: readonly Library[]): void {
  const sorted = libraries.toSorted((one, other) => (one.title < other.title ? -1 : 1))
  const texts = sorted.map(({ title, folder }) => {
    const files = globSync('{LICEN[CS]E,COPYING,NOTICE,licen[cs]e}*', { cwd: folder }).toSorted()
    return [title, ...files.map((each) => readFileSync(join(folder, each), 'utf8').trim())].join('\n\n')
  })
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`)
}
