import { type Index, indexBy, type KubeObject, keyOf, type Ref, refOf } from '../../api/index.ts'
import { isFailure } from '../../std/index.ts'
import { createIndexes } from './indexes.ts'
import { createLeftOut, type LeftOut, type LeftOutBell, type Need } from './left-out.ts'
import { type StoreMemory, weightOf } from './memory.ts'
import { isNewer } from './resource-version.ts'
import type { Listing, Sink } from './watch.ts'

export type Listener<T> = (now: T | undefined, before: T | undefined) => void

/** What a controller reads: objects of one kind as the last watch event, or the own last write, left them. Never change what it returns. */
export interface Cache<T extends KubeObject> {
  get(ref: Ref): T | undefined
  all(): Iterable<T>
  in(namespace: string): T[]
  /** Objects for which this index gave this value. */
  by(index: Index<T>, value: string): T[]
  /** Called after each change; the answer ends it. */
  onChange(listener: Listener<T>): () => void
  /** The same for this one object. However many listen to others, its changes cost nothing to them. */
  onChangeOf(ref: Ref, listener: Listener<T>): () => void
  /** The same for objects for which this index gave or gives this value. */
  onChangeBy(index: Index<T>, value: string, listener: Listener<T>): () => void
  readonly size: number
}

/** What a store keeps; everything, and whole, where nothing is said. */
export interface StoreLimits<T> extends LeftOutBell {
  /** What of an object is kept. */
  trim?(object: T): T
  room?: StoreMemory
}

/** The part of a store that one watch of all namespaces feeds. */
const WHOLE = ''
const byNamespace = indexBy(({ metadata }: KubeObject) => (metadata.namespace ? [metadata.namespace] : []))
const byKey = indexBy((object: KubeObject) => [keyOf(refOf(object))])

/** The memory of one watch, or of one for each namespace: objects by key, and indexes kept with every change. */
export class Store<T extends KubeObject> implements Cache<T> {
  readonly #objects = new Map<string, T>()
  readonly #indexes = createIndexes<T>(this.#objects)
  readonly #listeners = new Set<Listener<T>>()
  /** Of single objects, and of the values of an index. */
  readonly #topics = new Map<Index<T>, Map<string, Set<Listener<T>>>>()
  /**
   * The newest resourceVersion that the watch has seen, or the watch of each namespace; an own write that is older and not here was deleted
   * since.
   */
  readonly #seen = new Map<string, string>()

  readonly #leftOut: LeftOut
  #limits: StoreLimits<T>

  constructor(limits: StoreLimits<T> = {}) {
    this.#limits = limits
    this.#leftOut = createLeftOut(limits)
  }

  get size(): number {
    return this.#objects.size
  }

  /** Whether something, of one namespace where one is given, had no room that might have it now. Only a list brings it. */
  isDue(part?: string): boolean {
    const { room } = this.#limits
    return room !== undefined && this.#leftOut.isAny((namespace, { bytes, isNew }) => room.has(namespace, bytes, isNew), part)
  }

  get(ref: Ref): T | undefined {
    return this.#objects.get(keyOf(ref))
  }

  all(): Iterable<T> {
    return this.#objects.values()
  }

  in(namespace: string): T[] {
    return this.by(byNamespace, namespace)
  }

  by(index: Index<T>, value: string): T[] {
    const found: T[] = []
    for (const key of this.#indexes.keys(index, value)) {
      const object = this.#objects.get(key)
      if (object) found.push(object)
    }
    return found
  }

  onChange(listener: Listener<T>): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  onChangeOf(ref: Ref, listener: Listener<T>): () => void {
    return this.onChangeBy(byKey, keyOf(ref), listener)
  }

  onChangeBy(index: Index<T>, value: string, listener: Listener<T>): () => void {
    const topics = this.#topics.get(index) ?? new Map<string, Set<Listener<T>>>()
    this.#topics.set(index, topics)
    const all = topics.get(value) ?? new Set()
    topics.set(value, all.add(listener))
    return () => {
      all.delete(listener)
      if (all.size === 0 && topics.get(value) === all) topics.delete(value)
    }
  }

  /** A watch event. */
  put(object: T, part = WHOLE): void {
    this.saw(object.metadata.resourceVersion ?? '', part)
    this.#set(object)
  }

  remove(object: T, part = WHOLE): void {
    this.saw(object.metadata.resourceVersion ?? '', part)
    const key = keyOf(refOf(object))
    const before = this.#objects.get(key)
    if (before && !isNewer(before.metadata.resourceVersion, object.metadata.resourceVersion)) this.#drop(key, before)
    this.#leftOut.remove(object)
  }

  /** The answer to an own write: shown at once unless the watch already knows better. */
  remember(object: T): void {
    const version = object.metadata.resourceVersion
    const known = this.#objects.has(keyOf(refOf(object)))
    const seen = this.#seen.get(object.metadata.namespace ?? WHOLE) ?? this.#seen.get(WHOLE)
    if (!known && !isNewer(version, seen)) return
    try {
      this.#set(object)
    } catch (thrown) {
      // It was written all the same; that it has no room the watch tells, too.
      if (!isFailure(thrown, 'too-large')) throw thrown
    }
  }

  /** Nobody sees half a list. What it has beyond what is here takes its room while it comes. */
  list(part = WHOLE): Required<Listing<T>> {
    const objects: T[] = []
    const leftOut = createLeftOut()
    const taken: [namespace: string, bytes: number][] = []
    const { room } = this.#limits
    const drop = () => {
      for (const [namespace, bytes] of taken.splice(0)) room?.giveBack(namespace, bytes)
    }
    /** The object, or what is kept in its place. */
    const admit = (whole: T): T | undefined => {
      const before = this.get(refOf(whole))
      const { resourceVersion, namespace = '' } = whole.metadata
      if (before && !isNewer(resourceVersion, before.metadata.resourceVersion)) return before
      const object = this.#trimmed(whole)
      const need = room && this.#needOf(object, before)
      if (!need || need.bytes <= 0) return object
      if (!room.take(namespace, need.bytes, need.isNew)) {
        this.#leaveOut(object, before, need, leftOut)
        return undefined
      }
      taken.push([namespace, need.bytes])
      return object
    }
    return {
      page(some) {
        for (const whole of some) {
          const object = admit(whole)
          if (object) objects.push(object)
        }
      },
      end: (version) => {
        drop()
        this.replace(objects, version, part)
        this.#leftOut.replace(leftOut, version, part || undefined)
      },
      drop,
    }
  }

  /** A fresh list: what is not in it is gone, except own writes that are younger than the list. */
  replace(objects: T[], version: string, part = WHOLE): void {
    const keys = new Set(objects.map((object) => keyOf(refOf(object))))
    for (const before of part === WHOLE ? [...this.all()] : this.in(part)) {
      const key = keyOf(refOf(before))
      if (!keys.has(key) && !isNewer(before.metadata.resourceVersion, version)) this.#drop(key, before)
    }
    for (const object of objects) this.#set(object)
    this.saw(version, part)
  }

  /** Gives back all room that it has, and takes none any more. */
  release(): void {
    const { room } = this.#limits
    this.#limits = {}
    if (room) for (const object of this.all()) room.giveBack(object.metadata.namespace ?? '', weightOf(object))
  }

  saw(version: string, part = WHOLE): void {
    if (isNewer(version, this.#seen.get(part))) this.#seen.set(part, version)
  }

  /** Where the watch of one namespace puts what it sees. After the signal nothing of it is kept, whatever the watch still brings. */
  part(namespace: string, signal: AbortSignal): Sink<T> {
    const forget = () => {
      this.#seen.delete(namespace)
      for (const object of this.in(namespace)) this.#drop(keyOf(refOf(object)), object)
      this.#leftOut.clear(namespace)
    }
    signal.addEventListener('abort', forget, { once: true })
    return {
      put: (object) => signal.aborted || this.put(object, namespace),
      remove: (object) => signal.aborted || this.remove(object, namespace),
      saw: (version) => signal.aborted || this.saw(version, namespace),
      isDue: () => this.isDue(namespace),
      list: () => {
        const { page, end, drop } = this.list(namespace)
        return { page, end: (version) => (signal.aborted ? drop() : end(version)), drop }
      },
    }
  }

  #set(whole: T): void {
    const key = keyOf(refOf(whole))
    const before = this.#objects.get(key)
    if (before && !isNewer(whole.metadata.resourceVersion, before.metadata.resourceVersion)) return
    const object = this.#trimmed(whole)
    const { room } = this.#limits
    const need = room && this.#needOf(object, before)
    if (need && !room.take(object.metadata.namespace ?? '', need.bytes, need.isNew)) {
      this.#leaveOut(object, before, need)
      return
    }
    this.#objects.set(key, object)
    this.#indexes.replace(key, before, object)
    this.#tell(object, before)
    // Last: whoever hears that nothing is left out looks at once.
    this.#leftOut.remove(object)
  }

  /** What it was before goes, too: it may give leave that was taken back since. */
  #leaveOut(object: T, before: T | undefined, { bytes, isNew }: Need, listed?: LeftOut): void {
    const whole = { bytes: bytes + weightOf(before), isNew }
    this.#leftOut.add(object, whole)
    listed?.add(object, whole)
    if (before) this.#drop(keyOf(refOf(object)), before)
  }

  #drop(key: string, before: T): void {
    this.#objects.delete(key)
    this.#limits.room?.giveBack(before.metadata.namespace ?? '', weightOf(before))
    this.#indexes.replace(key, before, undefined)
    this.#tell(undefined, before)
  }

  /** What was there when it began was there before, too: then it is not new. Nor is what had its place until it grew. */
  #needOf(object: T, before: T | undefined): Need {
    const isBegun = this.#seen.has(WHOLE) || this.#seen.has(object.metadata.namespace ?? WHOLE)
    const isNew = !before && isBegun && (this.#leftOut.needOf(object)?.isNew ?? true)
    return { bytes: weightOf(object) - weightOf(before), isNew }
  }

  #trimmed(object: T): T {
    return this.#limits.trim?.(object) ?? object
  }

  #tell(now: T | undefined, before: T | undefined): void {
    for (const listener of this.#listeners) listener(now, before)
    for (const [{ of }, topics] of this.#topics) {
      if (topics.size === 0) continue
      const values = new Set([now, before].flatMap((object) => (object ? of(object) : [])))
      for (const value of values) for (const listener of topics.get(value) ?? []) listener(now, before)
    }
  }
}
