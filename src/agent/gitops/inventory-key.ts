import type { ObjectId } from '../../engines/apply/index.ts'

/**
 * How agentk writes an object into its inventory: `<namespace>_<name>_<group>_<kind>`, the colons that names of roles may have as
 * two underscores. (cli-utils, pkg/object ObjMetadata, as read on the wire of the API server.)
 */
export function inventoryKeyOf({ group, kind, namespace = '', name }: ObjectId): string | undefined {
  const key = `${namespace}_${name.replaceAll(':', '__')}_${group}_${kind}`
  // What a ConfigMap cannot have as a key stands in our own inventory alone.
  return /^[-._a-zA-Z0-9]{1,253}$/.test(key) && !name.includes('_') ? key : undefined
}

/** Anybody who writes the ConfigMap writes the group, and it becomes part of a path. */
const KEY = /^([^_]*)_(.+)_((?:[a-z0-9][-a-z0-9]*(?:\.[a-z0-9][-a-z0-9]*)*)?)_([^_]+)$/

/** `undefined` for a key that names no object. */
export function idOfInventoryKey(key: string): ObjectId | undefined {
  const [, namespace = '', name = '', group = '', kind = ''] = KEY.exec(key) ?? []
  if (kind === '' || name === '') return undefined
  const written = name.replaceAll('__', ':')
  return written.includes('_') ? undefined : { group, kind, ...(namespace !== '' && { namespace }), name: written }
}
