import type { AnyObject } from '../../api/index.ts'
import { beginningOf, Failure, isRecord, parseYaml, withoutEnd } from '../../std/index.ts'
import { idOf, sayId } from '../apply/index.ts'
import { foldStringData, type Manifest, placeOf } from './manifest.ts'

/** On a manifest: `disabled` leaves the object as it is written. */
export const VARIABLES_ANNOTATION = 'gitops.berth.dev/variables'

export interface Variables {
  values: ReadonlyMap<string, string>
  /** Whether a name without value and default is an error; otherwise it becomes empty. */
  strict: boolean
  /** Told how many characters of them stand in the objects of a rendering now; throws where that is too much. */
  put?(characters: number): void
}

/** All replacements of one rendering add up to so many characters at most. */
const MOST = 16 * 2 ** 20

/** Before a closing brace: `${name`, `${name:=default`; `$${name` stands for `${name` itself. Everything else that looks alike is left alone. */
const REFERENCE = /\$(\$?)\{([A-Za-z_]\w*)(?::[=-](.*))?$/s
const NOTHING_ELSE = /^(?:\$\{[A-Za-z_]\w*(?::[=-][^}]*)?\})+$/

/**
 * Replaces variables in the values (never in the keys) of rendered objects. A value that consists of references alone takes the
 * type that YAML gives to what is put in their place, so that `replicas: ${count}` works; fields that always hold texts keep them.
 */
export function withVariables(manifests: readonly Manifest[], variables: Variables | undefined): readonly Manifest[] {
  if (!variables) return manifests.map((manifest) => withObject(manifest, foldStringData(manifest.object)))
  const missing = new Map<string, string>()
  const left = { characters: MOST }
  const replaced = manifests.map((manifest) => {
    const { object, source, texts: tagged } = manifest
    if (object.metadata.annotations?.[VARIABLES_ANNOTATION] === 'disabled') return withObject(manifest, foldStringData(object))
    const where = `${source}: ${sayId(idOf(object))}`
    const replacing: Replacing = { variables, left, where, tagged, missing: (name) => missing.set(name, where) }
    return { ...manifest, object: foldStringData(inObject(object, replacing)) }
  })
  if (missing.size > 0) throw withoutValue(missing)
  variables.put?.(MOST - left.characters)
  return replaced
}

/** The very same where nothing is different: others remember what they made of it. */
const withObject = (manifest: Manifest, object: AnyObject): Manifest =>
  object === manifest.object ? manifest : { ...manifest, object }

interface Replacing {
  variables: Variables
  left: { characters: number }
  /** File, line and object. */
  where: string
  /** Places of values that are texts by their tag. */
  tagged: ReadonlySet<string> | undefined
  missing: (name: string) => void
}

function inObject(object: AnyObject, replacing: Replacing): AnyObject {
  const { apiVersion, kind, metadata, ...rest } = object
  const { name, ...more } = metadata
  return {
    ...inFields(rest, { replacing, texts: false, steps: [] }),
    apiVersion,
    kind,
    metadata: { ...inFields(more, { replacing, texts: true, steps: ['metadata'] }), name: replace(name, replacing) },
  }
}

interface Inside {
  replacing: Replacing
  /** Whether only texts may stand there. */
  texts: boolean
  steps: readonly string[]
}

/** Most objects have no tags, and need no places. */
const below = (inside: Inside, step: string): Inside =>
  inside.replacing.tagged ? { ...inside, steps: [...inside.steps, step] } : inside

function inFields(fields: Record<string, unknown>, inside: Inside): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => {
      const next = below(inside, key)
      return [key, inValue(value, next.texts || !TEXTS.has(key) ? next : { ...next, texts: true })]
    }),
  )
}

/** Fields whose values, however deep, are texts in every API. */
const TEXTS = new Set([
  'metadata',
  'labels',
  'annotations',
  'matchLabels',
  'nodeSelector',
  'selector',
  'data',
  'stringData',
  'env',
  'command',
  'args',
])

function inValue(value: unknown, inside: Inside): unknown {
  const { replacing, texts, steps } = inside
  if (Array.isArray(value)) return value.map((item, at) => inValue(item, below(inside, `[${at}]`)))
  if (isRecord(value)) return inFields(value, inside)
  if (typeof value !== 'string' || !value.includes('${')) return value
  return typed(value, replace(value, replacing), texts || replacing.tagged?.has(placeOf(steps)) === true, replacing)
}

function replace(text: string, { variables: { values, strict }, left, missing }: Replacing): string {
  const valueFor = (name: string, otherwise: string | undefined): string => {
    const value = withoutBreaks(values.get(name)) ?? otherwise
    if (value === undefined && strict) missing(name)
    left.characters -= value?.length ?? 0
    if (left.characters < 0)
      throw new Failure('too-large', `variables add more than ${MOST} characters`, { reason: 'RenderFailed' })
    return value ?? ''
  }
  const pieces = text.split('}')
  const last = pieces.pop() ?? ''
  const replaced = pieces.map((piece) => {
    const [found, isMeant, name = '', otherwise] = REFERENCE.exec(piece) ?? []
    if (found === undefined) return `${piece}}`
    const before = piece.slice(0, piece.length - found.length)
    return before + (isMeant ? `${found.slice(1)}}` : valueFor(name, otherwise))
  })
  return replaced.join('') + last
}

/** A file has a line break at its end, and so has what was made from one; nobody means it to be part of the value. */
const withoutBreaks = (value: string | undefined): string | undefined => value && withoutEnd(value, '\r\n')

/** Tokens of one value with what may stand around it: what is longer is a text anyway. */
const ONE_VALUE = { tokens: 8 }

/**
 * `3` is a number, `"3"` and `!!str 3` are texts, as everywhere in YAML, also where variables bring the quotes alone; where only texts
 * may stand, these go and nothing else changes.
 */
function typed(written: string, text: string, texts: boolean, { where }: Replacing): unknown {
  const isQuoted = /^(["']).*\1$/s.test(text) && written.startsWith('${') && written.endsWith('}')
  if (text === '' || !(isQuoted || NOTHING_ELSE.test(written))) return text
  const { documents, problem } = parseYaml(text, ONE_VALUE)
  if (problem?.isLargeInteger && !texts) throw largeInteger(written, where)
  const value = problem || documents.length !== 1 ? text : documents[0]?.value
  if (typeof value === 'string') return isQuoted || text.startsWith('!!str ') ? value : text
  return texts || (typeof value !== 'number' && typeof value !== 'boolean') ? text : value
}

/** It may be a secret: only what stands in the repository is told. */
const largeInteger = (written: string, where: string): Failure =>
  new Failure(
    'invalid',
    `${where}: ${beginningOf(written, 100)} stands for an integer beyond 2^53, which would not arrive as it is`,
    {
      reason: 'RenderFailed',
      remedy: 'If it is a text, put quotes around the value of the variable',
    },
  )

function withoutValue(missing: ReadonlyMap<string, string>): Failure {
  const said = [...missing].slice(0, 5).map(([name, where]) => `\${${name}} in ${where}`)
  const more = missing.size > 5 ? ` and ${missing.size - 5} more` : ''
  return new Failure('invalid', `no value for ${said.join(', ')}${more}`, {
    reason: 'VariableMissing',
    remedy: 'Set it in spec.variables, give it a default as in ${name:=default}, or write $${name} if it is meant as it stands',
  })
}
