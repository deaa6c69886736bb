import { parseAllDocuments } from 'yaml'
import type { Kube } from '../../src/adapters/kube/index.ts'
import { type AnyObject, type Kind, type KubeObject, keyOf, nameOf, type Ref } from '../../src/api/index.ts'
import { Failure, minutes, pause, systemClock } from '../../src/std/index.ts'
import { whileUnderWay } from './under-way.ts'

export interface Patience {
  /** Milliseconds; two minutes without it: nothing waits so long that will come, however busy the machine is. */
  within?: number
}

/**
 * Reads again and again until `read` neither throws nor answers `undefined`, `null` or `false`; gives its answer, be it 0 or ''.
 * When time is up it fails with what was last seen, so that the failing test says what it waited for.
 */
export const eventually = <T>(read: () => T | Promise<T>, { within = minutes(2) }: Patience = {}): Promise<Answer<T>> =>
  whileUnderWay('waits for something to be so', () => readUntil(read, within))

async function readUntil<T>(read: () => T | Promise<T>, within: number): Promise<Answer<T>> {
  const deadline = systemClock.now() + within
  for (let wait = 20; ; wait = Math.min(wait * 1.3, 250)) {
    const seen = await attempt(read)
    if ('value' in seen && holds(seen.value)) return seen.value
    if (systemClock.now() >= deadline) throw tooLate(within, seen)
    await pause(systemClock, wait)
  }
}

type Attempt<T> = { value: T } | { thrown: unknown }

async function attempt<T>(read: () => T | Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await read() }
  } catch (thrown) {
    return { thrown }
  }
}

type Answer<T> = Exclude<T, undefined | null | false>

const holds = <T>(value: T): value is Answer<T> => value !== undefined && value !== null && value !== false

/** The last error itself goes up, so that the runner prints what was expected and what was there. */
function tooLate(within: number, seen: Attempt<unknown>): Error {
  const time = `within ${within / 1000} s`
  if (!('thrown' in seen)) return new Failure('timeout', `not so ${time}: still ${JSON.stringify(seen.value)}`)
  if (!(seen.thrown instanceof Error)) return new Failure('timeout', `not so ${time}: ${String(seen.thrown)}`)
  seen.thrown.message = `not so ${time}; at the end: ${seen.thrown.message}`
  return seen.thrown
}

/** Applies YAML text (any number of documents) or objects, as a user would; gives them as the server has them. */
export async function apply(
  kube: Kube,
  what: string | KubeObject | KubeObject[],
  { namespace, manager = 'test' }: { namespace?: string; manager?: string } = {},
): Promise<AnyObject[]> {
  const objects = typeof what === 'string' ? documents(what) : [what].flat()
  const applied: AnyObject[] = []
  for (const object of objects) {
    const kind = await kube.resolve(object.apiVersion, object.kind)
    if (!kind) throw new Failure('not-found', `the server does not serve ${object.apiVersion} ${object.kind}`)
    const home = kind.namespaced ? { namespace: object.metadata.namespace ?? namespace ?? 'default' } : {}
    const placed = { ...object, metadata: { ...object.metadata, ...home } }
    applied.push({ ...(await kube.apply(kind, placed, { manager, force: true })) })
  }
  return applied
}

/** What an example shows, in a namespace of the test instead of `team-a`, with which paths of GitProjects have to begin. */
export const movedTo = (namespace: string, object: KubeObject): KubeObject => ({
  ...JSON.parse(JSON.stringify(object).replaceAll('team-a/', `${namespace}/`)),
  metadata: { ...object.metadata, namespace },
})

/** The documents of a YAML text, empty ones left out. */
export function documents(text: string): KubeObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors[0]) throw new Failure('invalid', document.errors[0].message)
    const value: unknown = document.toJS()
    return value === null ? [] : [objectFrom(value)]
  })
}

function objectFrom(value: unknown): KubeObject {
  if (isObject(value)) return value
  throw new Failure('invalid', `no Kubernetes object: ${JSON.stringify(value)}`)
}

const isObject = (value: unknown): value is KubeObject =>
  typeof value === 'object' && value !== null && 'apiVersion' in value && 'kind' in value && 'metadata' in value

const shown = (object: KubeObject): string =>
  JSON.stringify({ ...object, metadata: { ...object.metadata, managedFields: undefined } })

/** Waits until the object looks as `check` wants it; `check` asserts, or answers false. Gives the object. */
export function expectObject<T extends KubeObject>(
  kube: Kube,
  kind: Kind<T>,
  ref: Ref,
  check: (object: T) => unknown,
  patience: Patience = {},
): Promise<T> {
  return eventually(async () => {
    const object = await kube.get(kind, ref)
    if (!object) throw new Failure('not-found', `there is no ${kind.kind} ${keyOf(ref)}`)
    if (check(object) === false) throw new Failure('internal', `${nameOf(object)} is ${shown(object)}`)
    return object
  }, patience)
}

export async function expectGone(kube: Kube, kind: Kind, ref: Ref, patience: Patience = {}): Promise<void> {
  await eventually(async () => {
    const object = await kube.get(kind, ref)
    if (object) throw new Failure('conflict', `${nameOf(object)} is still there: ${shown(object)}`)
    return true
  }, patience)
}

/** Lets what waits for nothing but promises that are kept go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}
