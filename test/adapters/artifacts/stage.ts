import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ArtifactType, artifactUrl, openArtifacts } from '../../../src/adapters/artifacts/index.ts'
import { type GitAccess, openMirrors, type Revision, type Transfer } from '../../../src/adapters/git/index.ts'
import { systemClock } from '../../../src/std/index.ts'

const PROTOCOLS = ['https', 'http'] as const

/** What is shown to the server, and whose it is. */
type Access = GitAccess & { owner?: string }

/** Artifacts as kas has them, in a folder of their own. */
export async function artifactStage() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'berth-artifacts-')))
  const transfers: Transfer[] = []
  const options = {
    environment: {},
    protocols: PROTOCOLS,
    clock: systemClock,
    onTransfer: (one: Transfer) => transfers.push(one),
  }
  const mirrors = await openMirrors({ folder, ...options })
  const artifacts = openArtifacts(mirrors.folders, { environment: {} })
  const signal = new AbortController().signal
  const at = (url: string, type: ArtifactType = 'oci', access: Access = {}) =>
    artifacts.of({ url: artifactUrl(url, type, PROTOCOLS), owner: '', ...access }, type)
  return {
    folder,
    transfers,
    at,
    find: (url: string, revision: Revision, type?: ArtifactType, access?: Access) =>
      at(url, type, access).locate(revision, signal),
    /** Finds and fetches it: what was found, and the texts of its files. */
    async take(url: string, revision: Revision, type?: ArtifactType, access?: Access) {
      const repository = at(url, type, access)
      const found = await repository.locate(revision, signal)
      await repository.fetch(found.commit, signal)
      const files = await repository.files(found.commit)
      const contents = await repository.read(files.filter(({ link }) => link === undefined))
      const texts: Record<string, string> = {}
      for (const [index, { path }] of files.filter(({ link }) => link === undefined).entries())
        texts[path] = Buffer.from(contents[index] ?? []).toString('utf8')
      return { ...found, files, texts, line: await repository.line() }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
