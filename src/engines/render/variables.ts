import type { AnyObject } from '../../api/index.ts'
import { Failure, isRecord, parseYaml } from '../../std/index.ts'
import { idOf, sayId } from '../apply/index.ts'
import type { Manifest } from './manifest.ts'

/** On a manifest: `disabled` leaves the object as it is written. */
const VARIABLES_ANNOTATION = 'gitops.berth.dev/variables'

export interface Variables {
  values: ReadonlyMap<string, string>
  /** Whether a name without value and default is an error; otherwise it becomes empty. */
  strict: boolean
  /** Those of them that came from Secrets: they are never shown. */
  secrets?: ReadonlySet<string>
  /** Told how many characters of them stand in the objects of a rendering now; throws where that is too much. */
  put?(characters: number): void
}

/** All replacements of one rendering add up to so many characters at most. */
const MOST = 16 * 2 ** 20

/** Before a closing brace: `${name`, `${name:=default`; `$${name` stands for `${name` itself. Everything else that looks alike is left alone. */
const REFERENCE = /\$(\$?)\{([A-Za-z_]\w*)(?::[=-](.*))?$/s
const WHOLE = /^\$\{[A-Za-z_]\w*(?::[=-][^}]*)?\}$/

/**
 * Replaces variables in the values (never in the keys) of rendered objects. A value that consists of one reference takes the
 * type that YAML gives to what is put in its place, so that `replicas: ${count}` works; fields that always hold texts keep them.
 */
export function withVariables(manifests: readonly Manifest[], variables: Variables | undefined): readonly Manifest[] {
  if (!variables) return manifests
  const missing = new Map<string, string>()
  const left = { characters: MOST }
  const replaced = manifests.map((manifest) => {
    const { object, source } = manifest
    if (object.metadata.annotations?.[VARIABLES_ANNOTATION] === 'disabled') return manifest
    const replacing: Replacing = { variables, left, missing: (name) => missing.set(name, `${source}: ${sayId(idOf(object))}`) }
    return { ...manifest, object: inObject(object, replacing) }
  })
  if (missing.size > 0) throw withoutValue(missing)
  variables.put?.(MOST - left.characters)
  return replaced
}

interface Replacing {
  variables: Variables
  left: { characters: number }
  missing: (name: string) => void
}

function inObject(object: AnyObject, replacing: Replacing): AnyObject {
  const { apiVersion, kind, metadata, ...rest } = object
  const { name, ...more } = metadata
  return {
    ...inFields(rest, replacing),
    apiVersion,
    kind,
    metadata: { ...inFields(more, replacing, true), name: replace(name, replacing) },
  }
}

function inFields(fields: Record<string, unknown>, replacing: Replacing, texts = false): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, inValue(value, replacing, texts || TEXTS.has(key))]),
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

function inValue(value: unknown, replacing: Replacing, texts: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => inValue(item, replacing, texts))
  if (isRecord(value)) return inFields(value, replacing, texts)
  if (typeof value !== 'string' || !value.includes('${')) return value
  const text = replace(value, replacing)
  return WHOLE.test(value) ? typed(text, texts) : text
}

function replace(text: string, { variables: { values, strict }, left, missing }: Replacing): string {
  const valueFor = (name: string, otherwise: string | undefined): string => {
    const value = values.get(name) ?? otherwise
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

/** Tokens of one value with what may stand around it: what is longer is a text anyway. */
const ONE_VALUE = { tokens: 8 }

/** `3` is a number, `"3"` a text, as everywhere in YAML; where only texts may stand, quotes go and nothing else changes. */
function typed(text: string, texts: boolean): unknown {
  if (text === '') return text
  const { documents, problem } = parseYaml(text, ONE_VALUE)
  const value = problem || documents.length !== 1 ? text : documents[0]?.value
  if (typeof value === 'string') return /^(["']).*\1$/s.test(text) ? value : text
  return texts || (typeof value !== 'number' && typeof value !== 'boolean') ? text : value
}

function withoutValue(missing: ReadonlyMap<string, string>): Failure {
  const said = [...missing].slice(0, 5).map(([name, where]) => `\${${name}} in ${where}`)
  const more = missing.size > 5 ? ` and ${missing.size - 5} more` : ''
  return new Failure('invalid', `no value for ${said.join(', ')}${more}`, {
    reason: 'VariableMissing',
    remedy: 'Set it in spec.variables, give it a default as in ${name:=default}, or write $${name} if it is meant as it stands',
  })
}
