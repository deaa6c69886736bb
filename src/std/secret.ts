import { inspect } from 'node:util'

/** A value that never prints: string conversion, JSON and the inspector all show `***`. */
export class Secret<T> {
  readonly #value: T

  constructor(value: T) {
    this.#value = value
  }

  /** The value itself. Call it where the value leaves the process, nowhere else. */
  reveal(): T {
    return this.#value
  }

  toString(): string {
    return '***'
  }

  toJSON(): string {
    return '***'
  }

  [inspect.custom](): string {
    return '***'
  }
}
