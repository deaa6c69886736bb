import { createHash } from 'node:crypto'
import type { Workspace } from '../../api/index.ts'

const PREFIX = 'workspace-'
/** The longest name that a Service may have. */
const LONGEST = 63

/** The name of everything made for a workspace. Prefixed, because other things live in the target too. */
export function objectNameOf({ metadata: { name } }: Workspace): string {
  const plain = `${PREFIX}${name}`
  if (plain.length <= LONGEST) return plain
  return `${plain.slice(0, LONGEST - 9).replace(/-+$/, '')}-${digest(name).slice(0, 8)}`
}

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
