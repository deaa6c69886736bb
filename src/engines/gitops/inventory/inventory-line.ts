import { isRecord } from '../../../std/index.ts'
import { keyOfId } from '../../apply/index.ts'
import type { Held } from './inventory.ts'

/**
 * One object of an inventory as one line: `group/Kind/namespace/name/version/uid/hash`, each part empty where there is none.
 * No name in Kubernetes may hold `/` or `%` (`path.IsValidPathSegmentName` of apimachinery), so the rare characters that
 * would break a line are written as `%20`.
 */
export function lineOf({ id, version, uid = '', hash = '' }: Held): string {
  return [id.group, id.kind, id.namespace ?? '', id.name, version, uid, hash].map(escaped).join('/')
}

/** `undefined` for a line that names no object. */
export function heldOf(line: string): Held | undefined {
  const parts = line.split('/')
  if (parts.length !== 7) return undefined
  const [group, kind, namespace, name, version, uid, hash] = parts.map(unescaped)
  if (group === undefined || !kind || !name || !version) return undefined
  const id = { group, kind, ...(namespace && { namespace }), name }
  return { id, key: keyOfId(id), version, ...(uid && { uid }), ...(hash && { hash }) }
}

/** A line as it was written until format 2: a JSON object. */
export function heldOfJson(line: string): Held | undefined {
  const held = parsed(line)
  if (!isRecord(held) || !isRecord(held.id)) return undefined
  const { group, kind, namespace, name } = held.id
  const { version, uid, hash } = held
  if (typeof group !== 'string' || typeof kind !== 'string' || typeof name !== 'string' || typeof version !== 'string')
    return undefined
  const id = { group, kind, ...(typeof namespace === 'string' && { namespace }), name }
  return { id, key: keyOfId(id), version, ...(typeof uid === 'string' && { uid }), ...(typeof hash === 'string' && { hash }) }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is them that must not stand in a line
const AWKWARD = /[\u0000-\u0020\u007f%/]/g

const escaped = (part: string): string => part.replace(AWKWARD, encodeURIComponent)

function unescaped(part: string): string | undefined {
  if (!part.includes('%')) return part
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
