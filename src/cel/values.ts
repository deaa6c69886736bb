import { type CelInput, celList, celMap } from '@bufbuild/cel'
import { isRecord } from '../std/index.ts'

/** Takes from what an evaluation may still cost, before something is done whose cost depends on the object. Throws when nothing is left. */
export type Spend = (steps: number) => void

/** JSON as CEL sees it, a level at a time. Whole numbers are ints, as they are for Kubernetes. */
export function celOf(json: unknown, spend: Spend): CelInput {
  if (typeof json === 'string' || typeof json === 'boolean') return json
  if (typeof json === 'number') return Number.isSafeInteger(json) ? BigInt(json) : json
  if (isRecord(json)) return celMap(new Fields(json, spend))
  if (!Array.isArray(json)) return null
  spend(json.length / 16)
  return celList(json.map((item) => celOf(item, spend)))
}

/** The fields of an object. The package would copy all of them each time the object is named. */
class Fields implements ReadonlyMap<string, CelInput> {
  readonly #record: Readonly<Record<string, unknown>>
  readonly #spend: Spend

  constructor(record: Readonly<Record<string, unknown>>, spend: Spend) {
    this.#record = record
    this.#spend = spend
  }

  get size(): number {
    return this.#names().length
  }

  /** Maps of CEL are also asked for numbers, and for true and false, none of which is a field. */
  get(name: unknown): CelInput | undefined {
    if (typeof name !== 'string' || !Object.hasOwn(this.#record, name)) return undefined
    const value = this.#record[name]
    return value === undefined ? undefined : celOf(value, this.#spend)
  }

  has(name: unknown): boolean {
    return this.get(name) !== undefined
  }

  keys(): MapIterator<string> {
    return this.#names().values()
  }

  *values(): MapIterator<CelInput> {
    for (const name of this.#names()) yield this.get(name) ?? null
  }

  *entries(): MapIterator<[string, CelInput]> {
    for (const name of this.#names()) yield [name, this.get(name) ?? null]
  }

  [Symbol.iterator](): MapIterator<[string, CelInput]> {
    return this.entries()
  }

  forEach(use: (value: CelInput, name: string, all: ReadonlyMap<string, CelInput>) => void): void {
    for (const [name, value] of this) use(value, name, this)
  }

  #names(): string[] {
    const names = Object.keys(this.#record)
    this.#spend(names.length / 8)
    return names
  }
}
