import { beginningOf, type Failure, isRecord, redactUrls } from '../../std/index.ts'
import { refused } from './source.ts'

/** No file system takes a longer path. */
const LONGEST = 4096

/** Of what would be loaded; `written` may be the new name of it, and `=`, before what it is. */
export function refuseRemoteReference(source: string, written: string): void {
  if (written.length > LONGEST)
    throw refused(`${source}: a reference has ${written.length} characters, more than ${LONGEST}`, 'Shorten the path.')
  if (isRemote(written) || isRemote(written.slice(written.indexOf('=') + 1))) throw remote(source, written)
}

/** kustomize takes for remote what has a scheme, a `user@host:` or a `?ref=`, and hosts that it knows by name, whoever is before them. */
const isRemote = (written: string): boolean =>
  /^[a-z][a-z0-9+.-]*:|[?&](ref|version|timeout|submodules)=|^([^@/]*@)?(github\.com|gitlab\.com|bitbucket\.org)[/:]|^git@/i.test(
    written,
  ) || isOfHost(written.split('/', 1)[0] ?? '')

/** `user@host:`, each of them not empty. */
function isOfHost(beginning: string): boolean {
  const at = beginning.indexOf('@', 1)
  return at > 0 && beginning.includes(':', at + 2)
}

const remote = (source: string, written: string): Failure =>
  refused(
    `${source}: ${JSON.stringify(redactUrls(beginningOf(written)))} is remote; only files of the repository are used`,
    'Commit a copy of it.',
  )

/** The fields by which the plug-ins that are built into kustomize load something. All others hold values, and a value may be a URL. */
const LOADING = ['files', 'envs', 'env', 'path', 'paths', 'targetfilepath', 'repo', 'valuesfile', 'additionalvaluesfiles']

/** In the configuration of a plug-in: only where something would be loaded. Field names count as kustomize reads them, in any case. */
export function refuseRemoteLoads(source: string, values: readonly unknown[]): void {
  for (const value of values) {
    if (Array.isArray(value)) refuseRemoteLoads(source, value)
    if (!isRecord(value)) continue
    for (const [key, inner] of Object.entries(value)) {
      if (LOADING.includes(key.toUpperCase().toLowerCase())) refuseLoaded(source, inner)
      else refuseRemoteLoads(source, [inner])
    }
  }
}

/** A text of several lines is a patch that stands there itself, and `key=` before a file is its new name. */
function refuseLoaded(source: string, value: unknown): void {
  for (const written of [value].flat()) {
    if (isRecord(written)) refuseRemoteLoads(source, [written])
    if (typeof written !== 'string' || written.includes('\n')) continue
    refuseRemoteReference(source, written)
  }
}
