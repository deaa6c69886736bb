import { amountOf, isRecord } from '../../std/index.ts'
import { pointerOf } from './pointer.ts'

/** More of one object than anybody reads. */
const MOST = 64

interface Comparison {
  /** Whether the server leaves a value out when it stores the object. */
  isLeftOut(value: unknown): boolean
  found: string[]
}

/**
 * JSON pointers of the fields that we set and that have another value. What others added does not matter. Of a value that the server
 * writes in another way, only quantities are known; of the rest whoever asks must know what the server answered to the write.
 */
export function differences(wanted: unknown, live: unknown): string[] {
  const found: string[] = []
  compare(wanted, live, [], { found, isLeftOut: isNothing })
  return found
}

/**
 * Whether the object holds everything that is wanted of it, where all that is wanted is in kinds that leave out empty texts, lists and
 * `false`. A field of a ConfigMap or of somebody's CRD that is set to an empty text is not found missing by it.
 */
export function holds(wanted: unknown, live: unknown): boolean {
  const found: string[] = []
  compare(wanted, live, [], { found, isLeftOut: isEmpty })
  return found.length === 0
}

function compare(wanted: unknown, live: unknown, at: readonly (string | number)[], comparison: Comparison): void {
  const { found, isLeftOut } = comparison
  if (found.length >= MOST) return
  if (isRecord(wanted) && isRecord(live)) {
    for (const [key, value] of Object.entries(wanted)) compare(value, live[key], [...at, key], comparison)
  } else if (Array.isArray(wanted) && Array.isArray(live) && wanted.length === live.length) {
    for (const [index, item] of wanted.entries()) compare(item, live[index], [...at, index], comparison)
  } else if (wanted !== live && !(live === undefined && isLeftOut(wanted)) && !isSameAmount(wanted, live, at))
    found.push(pointerOf(at))
}

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
const QUANTITIES: readonly (string | number | undefined)[] = ['requests', 'limits']

/** The server writes quantities its own way: `1000m` is `1`. */
function isSameAmount(wanted: unknown, live: unknown, at: readonly (string | number)[]): boolean {
  if (!QUANTITIES.includes(at.at(-2)) || !isPlain(wanted) || !isPlain(live)) return false
  const amount = amountOf(wanted)
  return amount !== undefined && amount === amountOf(live)
}

const isPlain = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number'

const isNothing = (value: unknown): boolean =>
  value === null || (isRecord(value) && Object.values(value).every((inner) => inner === null))

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length === 0
    : value === '' || value === false || value === undefined || (isRecord(value) && Object.values(value).every(isEmpty))
