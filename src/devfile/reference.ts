import type { ProblemText } from './problem.ts'
import { at, textOf, type YamlTree } from './tree.ts'
import { isAbsolute, isUri, resolvedUri, URI_REMEDY } from './uri.ts'

/** The place of a parent or a plugin. */
export type DevfileReference =
  /** Relative ones are resolved against the file that they stand in; what is left relative is seen from the first devfile. */
  | { by: 'uri'; uri: string }
  | { by: 'id'; id: string; registryUrl: string | undefined; version: string | undefined }
  /** A DevWorkspaceTemplate; without a namespace, in that of the workspace. */
  | { by: 'kubernetes'; name: string; namespace: string | undefined }

/** `id` says the same for the same place. Nothing when the shape is wrong: that was told already. */
export function referenceOf(
  holder: YamlTree,
  from: string,
): { reference: DevfileReference; id: string } | ProblemText | undefined {
  const text = (key: string, next?: string) => textOf(at(holder, key, next))
  const [uri, id, name] = [text('uri'), text('id'), text('kubernetes', 'name')]
  if ([uri, id, name].filter((each) => each !== undefined).length !== 1) return undefined
  if (uri !== undefined) return byUri(uri, from)
  if (name !== undefined) {
    const namespace = text('kubernetes', 'namespace')
    return { reference: { by: 'kubernetes', name, namespace }, id: `template ${namespace ?? ''}/${name}` }
  }
  const [registryUrl, version] = [text('registryUrl'), text('version')]
  if (registryUrl !== undefined && !(isUri(registryUrl) && isAbsolute(registryUrl)))
    return { rule: 'uri', message: `registryUrl "${registryUrl}" is not a URI`, remedy: 'write https://…' }
  const reference: DevfileReference = { by: 'id', id: id ?? '', registryUrl, version }
  return { reference, id: `${registryUrl ?? 'registry'} ${id}@${version ?? 'latest'}` }
}

function byUri(uri: string, from: string): { reference: DevfileReference; id: string } | ProblemText {
  if (!isUri(uri)) return { rule: 'uri', message: `"${uri}" is not a URI`, remedy: URI_REMEDY }
  const resolved = resolvedUri(uri, from)
  if (resolved === undefined)
    return { rule: 'uri', message: `"${uri}" leads out of the folder of the devfile`, remedy: 'leave .. out' }
  return { reference: { by: 'uri', uri: resolved }, id: resolved }
}
