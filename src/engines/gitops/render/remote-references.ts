import { type Failure, isRecord, redactUrls } from '../../../std/index.ts'
import { refused } from './source.ts'

/** kustomize takes for remote what has a scheme, a `user@host:` or a `?ref=`, and hosts that it knows by name. */
export const isRemote = (written: string): boolean =>
  /^[a-z][a-z0-9+.-]*:|^[^/]+@[^/]+:|[?&](ref|version|timeout|submodules)=|^(github\.com|gitlab\.com|bitbucket\.org)[/:]|^git@/i.test(
    written,
  )

export const remote = (source: string, written: string): Failure =>
  refused(
    `${source}: ${JSON.stringify(redactUrls(written))} is remote; only files of the repository are used`,
    'Commit a copy of it.',
  )

/** Wherever it stands: for what may become a reference yet. */
export function refuseRemote(source: string, values: readonly unknown[]): void {
  for (const value of values) {
    if (typeof value === 'string' && /[a-z][a-z0-9+.-]*:\/\/|git@/i.test(value)) throw remote(source, value.split('\n')[0] ?? '')
    if (Array.isArray(value)) refuseRemote(source, value)
    else if (isRecord(value)) refuseRemote(source, Object.values(value))
  }
}

/** The fields by which the plug-ins that are built into kustomize load something. All others hold values, and a value may be a URL. */
const LOADING = ['files', 'envs', 'env', 'path', 'paths', 'repo', 'valuesfile', 'additionalvaluesfiles']

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

/** What has lines is a patch that stands there itself, and `key=` before a file is its new name. */
function refuseLoaded(source: string, value: unknown): void {
  for (const written of [value].flat()) {
    if (isRecord(written)) refuseRemoteLoads(source, [written])
    if (typeof written !== 'string' || written.includes('\n')) continue
    const file = written.slice(written.indexOf('=') + 1)
    if (isRemote(written) || isRemote(file)) throw remote(source, written)
  }
}
