import { withoutEnd } from '../../../std/index.ts'
import { digest } from './names.ts'

/** The longest name of a container, a Service and whatever becomes a label. */
const LONGEST = 63
const MARK = 8

/** A name within a limit: as it is, or cut and with a mark of the whole, so that two long names stay two. */
export function fitted(name: string, longest = LONGEST): string {
  if (name.length <= longest) return name
  return `${withoutEnd(name.slice(0, longest - MARK - 1), '-.')}-${digest(name).slice(0, MARK)}`
}
