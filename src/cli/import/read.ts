import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Kube } from '../../adapters/kube/index.ts'
import { type AnyObject, groupOf, type ObjectMeta } from '../../api/index.ts'
import { Failure, isRecord, parseYaml } from '../../std/index.ts'
import type { Shell } from '../shell.ts'
import { isName } from './fields.ts'
import type { ForeignObject } from './imported.ts'
import { recordOf } from './paths.ts'

/** A kind of another program, in the versions of its API that are read, the newest first. */
export interface ForeignKind {
  group: string
  versions: readonly string[]
  kind: string
  plural: string
}

/** A person's own file may hold a whole cluster. */
const LIMITS = { characters: 2 ** 28, tokens: 2 ** 26 }

/**
 * What the files hold of these kinds; folders are read with those in them, `-` is standard input. Other documents are passed over, and so
 * are files of a folder that are no YAML: templates of charts, for example.
 */
export async function readFiles(shell: Shell, names: readonly string[], kinds: readonly ForeignKind[]): Promise<ForeignObject[]> {
  const found: ForeignObject[][] = []
  for (const name of names) {
    const files = name === '-' ? [{ file: 'stdin', text: await shell.readInput() }] : filesAt(shell, name)
    for (const { file, text, isFound } of files) {
      const { objects, wrong } = objectsIn(text, file)
      if (wrong && !isFound) throw wrong
      if (wrong) shell.say(`${wrong.message} It is passed over.\n`)
      const theirs = objects.filter(({ object }) => isOneOf(kinds, object))
      found.push(theirs.filter((each) => isNamed(each, isFound, shell)))
    }
  }
  return found.flat()
}

interface ReadFile {
  file: string
  text: string
  /** In a folder: nobody has named it. */
  isFound?: boolean
}

function filesAt(shell: Shell, name: string): ReadFile[] {
  const path = resolve(shell.cwd, name)
  const isFile = (file: string) => statSync(file, { throwIfNoEntry: false })?.isFile() ?? false
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found)
    throw new Failure('not-found', `-f: there is no ${name}.`, {
      remedy: 'Name a file or a folder, or - for standard input.',
    })
  if (!found.isDirectory()) return [{ file: name, text: readFileSync(path, 'utf8') }]
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((each) => /\.(?:ya?ml|json)$/.test(each) && isFile(join(path, each)))
    .sort()
    .map((each) => ({ file: join(name, each), text: readFileSync(join(path, each), 'utf8'), isFound: true }))
}

/** The objects of a file, those in a List too. What is no object is none of another program. */
function objectsIn(text: string, file: string): { objects: ForeignObject[]; wrong?: Failure } {
  const { documents, problem } = parseYaml(text, LIMITS)
  if (documents) return { objects: documents.flatMap(({ value }) => itemsOf(value)).map((object) => ({ object, file })) }
  const { line, column, message } = problem
  const remedy = 'Correct the file, or name others with -f.'
  return { objects: [], wrong: new Failure('invalid', `${file}:${line}:${column}: ${message}.`, { remedy }) }
}

function itemsOf(value: unknown): AnyObject[] {
  if (!isRecord(value)) return []
  if (Array.isArray(value.items)) return value.items.flatMap(itemsOf)
  return isObject(value) ? [{ ...value, metadata: plainMetadata(value.metadata) }] : []
}

/** Files have fields without a value, and numbers where there are texts. */
function plainMetadata(metadata: ObjectMeta): ObjectMeta {
  const { labels, annotations, finalizers, ownerReferences, namespace, uid, name } = metadata
  const texts = (given: unknown) =>
    Object.fromEntries(Object.entries(recordOf(given)).map(([key, value]) => [key, String(value)]))
  return {
    name,
    ...(typeof namespace === 'string' && { namespace }),
    ...(typeof uid === 'string' && { uid }),
    labels: texts(labels),
    annotations: texts(annotations),
    finalizers: (Array.isArray(finalizers) ? finalizers : []).map(String),
    ownerReferences: (Array.isArray(ownerReferences) ? ownerReferences : []).filter(isRecord),
  }
}

const isObject = (value: Record<string, unknown>): value is AnyObject =>
  typeof value.apiVersion === 'string' &&
  typeof value.kind === 'string' &&
  isRecord(value.metadata) &&
  typeof value.metadata.name === 'string'

const isOneOf = (kinds: readonly ForeignKind[], { apiVersion, kind }: AnyObject): boolean =>
  kinds.some((each) => each.group === groupOf(apiVersion) && each.kind === kind)

/** Names stand in commands that people copy. A template of such an object, in a folder, is none. */
function isNamed({ object, file }: ForeignObject, isFound: boolean | undefined, shell: Shell): boolean {
  const { name, namespace = 'default' } = object.metadata
  if (isName(name) && isName(namespace)) return true
  const wrong = `${file}: ${object.kind} ${name} has a name or a namespace such as no cluster has.`
  if (!isFound) throw new Failure('invalid', wrong, { remedy: 'Give it one of small letters, digits, dots and hyphens.' })
  shell.say(`${wrong} It is passed over.\n`)
  return false
}

/** What the cluster has of these kinds, all of it or that of one namespace; none of a kind that it does not serve. */
export async function readCluster(
  kube: Kube,
  kinds: readonly ForeignKind[],
  namespace: string | undefined,
): Promise<ForeignObject[]> {
  const found = kinds.map(async ({ group, versions, kind, plural }) => {
    for (const version of versions)
      if (await kube.resolve(`${group}/${version}`, kind))
        return kube.list<AnyObject>({ group, version, kind, plural, namespaced: true }, { namespace })
    return []
  })
  return (await Promise.all(found)).flat().map((object) => ({ object, file: 'the cluster' }))
}

/** Folders for several clusters may hold two of one name, of which only one can be meant. */
export function refuseTwins(given: readonly ForeignObject[]): void {
  const files = new Map<string, string>()
  for (const { object, file } of given) {
    const { kind, metadata } = object
    const key = `${kind} ${metadata.namespace ?? ''}/${metadata.name}`
    const other = files.get(key)
    if (other !== undefined)
      throw new Failure('invalid', `${kind} ${metadata.name} is in ${other} and in ${file}.`, {
        remedy: 'Import one cluster at a time: name its files with -f.',
      })
    files.set(key, file)
  }
}
