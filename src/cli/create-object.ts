import type { Command } from 'commander'
import type { Kube } from '../adapters/kube/index.ts'
import { type Kind, type KubeObject, keyOf, nameOf, refOf } from '../api/index.ts'
import { Failure, isFailure } from '../std/index.ts'
import { type ObjectOptions, withName } from './find-object.ts'
import { wordFor } from './kinds.ts'
import { type OutputOptions, withOutput } from './options.ts'
import { renderData } from './output.ts'
import type { Shell } from './shell.ts'

export interface CreateOptions extends ObjectOptions, OutputOptions {
  dryRun?: boolean
}

/** For verbs that make an object, before their own options. */
export const withCreation = (command: Command, kind: Kind): Command =>
  withOutput(withName(command, kind)).option(
    '--dry-run',
    'print what would be made, as YAML or with -o as JSON; the API server looks it over, and makes nothing',
  )

export interface Creation<T extends KubeObject> {
  kube: Kube
  kind: Kind<T>
  object: T
  /** What it names, without which it waits. */
  needs: readonly (readonly [kind: Kind, name: string | undefined])[]
  /** Where there is one of this name already. */
  remedy?: string
}

/** Makes an object and says so; nothing where it is only to be shown. */
export async function createObject<T extends KubeObject>(
  { shell, ...creation }: Creation<T> & { shell: Shell },
  { output, dryRun = false }: CreateOptions,
): Promise<T | undefined> {
  const { kind, object } = creation
  const made = await makeObject(creation, dryRun, (missing) => shell.say(`${missing}\n`))
  if (dryRun) shell.print(renderData(output === 'json' ? 'json' : 'yaml', object))
  else shell.print(output === 'table' ? saidOf(kind, made) : renderData(output, made))
  return dryRun ? undefined : made
}

/** Makes it, or has the API server look it over only; says of each object that it names and that is not there. */
export async function makeObject<T extends KubeObject>(
  { kube, kind, object, needs, remedy }: Creation<T>,
  dryRun: boolean,
  say: (missing: string) => void,
): Promise<T> {
  const { name, namespace } = refOf(object)
  for (const missing of await missingOf(kube, needs, namespace))
    say(
      `There is no ${missing}, and the ${wordFor(kind)} waits until there is. If the name is wrong, delete it and make it anew.`,
    )
  return kube.create(kind, object, { dryRun }).catch((thrown: unknown) => {
    if (!isFailure(thrown, 'already-exists')) throw thrown
    throw new Failure('already-exists', `there is a ${kind.kind} ${keyOf({ name, namespace })} already.`, {
      remedy: remedy ?? `Choose another name, or look at it with \`berth get ${wordFor(kind)} ${name} -n ${namespace}\`.`,
    })
  })
}

function saidOf(kind: Kind, made: KubeObject): string {
  const { name, namespace } = refOf(made)
  // `berth get` is about workspaces where nobody says a kind.
  const shown = wordFor(kind) === 'workspace' ? name : `${wordFor(kind)} ${name}`
  return `${nameOf(made)} is made. See how it does with \`berth get ${shown} -n ${namespace}\`.`
}

/** What it names may come later: only the person knows whether a name is wrong. Who may not look is told nothing. */
async function missingOf(kube: Kube, needs: Creation<KubeObject>['needs'], namespace: string | undefined): Promise<string[]> {
  const looks = needs.map(async ([kind, name]) => {
    if (name === undefined || name === '') return []
    const ref = { name, ...(kind.namespaced && { namespace }) }
    const found = await kube.get(kind, ref).catch((thrown: unknown) => {
      if (!isFailure(thrown, 'forbidden')) throw thrown
      return ref
    })
    return found ? [] : [`${kind.kind} ${keyOf(ref)}`]
  })
  return (await Promise.all(looks)).flat()
}
