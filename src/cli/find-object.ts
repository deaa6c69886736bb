import type { Command } from 'commander'
import type { Kube } from '../adapters/kube/index.ts'
import { type GitProject, GitProjects, type Kind, type KubeObject, keyOf, type Ref, refOf } from '../api/index.ts'
import { Failure, isFailure } from '../std/index.ts'
import { nameOfKind, wordFor } from './kinds.ts'
import { type ClusterOptions, withKubeconfig, withNamespace } from './options.ts'

export interface ObjectOptions extends ClusterOptions {
  namespace: string
}

/** For verbs about one object. */
export const withObject = (command: Command, kind: Kind): Command => withName(command, kind, wordFor(kind))

/** Completion knows by the word for the argument what may stand there; a new object has a name that nobody knows yet. */
export const withName = (command: Command, kind: Kind, word = 'name'): Command =>
  withNamespace(withKubeconfig(command).argument(`<${word}>`, `name of the ${kind.kind}`, nameOfKind(kind)), 'its namespace')

/** Where it is not there, the failure says which ones might have been meant; `list` is the command that lists them. */
export async function findObject<T extends KubeObject>(kube: Kube, kind: Kind<T>, ref: Ref, list: string): Promise<T> {
  const found = await kube.get(kind, ref)
  if (found) return found
  throw new Failure(
    'not-found',
    `there is no ${kind.kind} ${ref.name}${ref.namespace ? ` in namespace ${ref.namespace}` : ''}.`,
    {
      remedy: likely(ref, await listVisible(kube, kind, ref), list),
    },
  )
}

/** The GitProject of a path such as `team-a/web`. */
export async function findProjectByPath(kube: Kube, path: string, namespace: string): Promise<GitProject> {
  const projects = await kube.list(GitProjects, { namespace })
  const found = projects.find(({ spec }) => spec.path === path)
  if (found) return found
  const known = projects.map(({ spec, metadata }) => spec.path ?? metadata.name).sort()
  throw new Failure('not-found', `there is no GitProject with the path ${path} in namespace ${namespace}.`, {
    remedy: known.length > 0 ? `There is ${known.slice(0, MOST).join(', ')}.` : 'Make one, or name another namespace with -n.',
  })
}

/** All that the person may list: of the cluster, else of the namespace. */
async function listVisible(kube: Kube, kind: Kind, { namespace }: Ref): Promise<Ref[]> {
  for (const query of [{}, { namespace }]) {
    try {
      return (await kube.list(kind, { ...query, metadataOnly: true })).map(refOf)
    } catch (failure) {
      if (!isFailure(failure, 'forbidden')) throw failure
    }
  }
  return []
}

const MOST = 8

/** Pure. Names those that might have been meant: of that name elsewhere, else those of the namespace, the likeliest first. */
export function likely(wanted: Ref, known: readonly Ref[], list: string): string {
  const elsewhere = known.filter(({ name }) => name === wanted.name)
  if (elsewhere.length > 0) return `There is ${elsewhere.slice(0, MOST).map(keyOf).join(', ')}: name the namespace with -n.`
  const here = known.filter(({ namespace }) => namespace === wanted.namespace).map(({ name }) => name)
  const there = wanted.namespace === undefined ? 'There' : 'In that namespace there'
  const [first, ...others] = here.toSorted((a, b) => distance(a, wanted.name) - distance(b, wanted.name) || (a < b ? -1 : 1))
  if (first !== undefined) {
    const more = here.length > MOST ? ` and ${here.length - MOST} more` : ''
    return `${there} is ${[first, ...others].slice(0, MOST).join(', ')}${more}.`
  }
  const near = known.filter(({ name }) => distance(name, wanted.name) <= 2)
  if (near.length > 0) return `There is ${near.slice(0, MOST).map(keyOf).join(', ')}.`
  return `${there} is none. List them with ${list}.`
}

/** Counts the letters that must be changed, added or left out to come from one word to the other (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, letter] of [...from].entries()) {
    const next = [at + 1]
    for (const [index, other] of [...to].entries())
      next.push(Math.min((row[index] ?? 0) + (letter === other ? 0 : 1), (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    row = next
  }
  return row[to.length] ?? 0
}
