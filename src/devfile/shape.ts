import { isNear } from '../std/index.ts'
import { type DevfileFindings, type ProblemReport, type ProblemText, problem, problemAt } from './problem.ts'
import { type FieldsShape, NEWEST, OLDEST, type SchemaVersion, type Shape, type TextShape, versionText } from './schema.ts'
import { at, flagOf, isThere, numberOf, textOf, type YamlEntry, type YamlMap, type YamlTree } from './tree.ts'

const FORM = /^2\.([0-3])\.(\d{1,2})(-[0-9a-z-]+(\.[0-9a-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/

/** The schema by which a devfile wants to be read. Where it does not say one that is known, the newest knows most fields. */
export function checkVersion(findings: DevfileFindings, root: YamlTree, isTemplate = false): SchemaVersion {
  const tree = at(root, 'schemaVersion')
  const text = textOf(tree)
  if (!tree || text === undefined) return NEWEST
  const [, minor, patch] = FORM.exec(text) ?? []
  if (minor !== undefined && patch !== undefined) return OLDEST + Number(minor) * 100 + Number(patch)
  if (!isTemplate)
    findings.problems.push(
      problemAt(tree, 'schemaVersion', {
        rule: 'schema-version',
        message: `"${text}" is not a schema version from 2.0.0 to 2.3.x`,
        remedy: 'write 2.3.0',
      }),
    )
  return NEWEST
}

/** The schema by which a text is read. */
interface ShapeReader extends ProblemReport {
  version: SchemaVersion
  /** A DevWorkspaceTemplate: plugins may be in it. */
  isTemplate: boolean
}

/** Checks that every field is known, of its version and of its shape. Mistakes are noted, and nothing stops the rest. */
export function checkShape(reader: ShapeReader, tree: YamlTree, shape: Shape): undefined {
  switch (shape.is) {
    case 'free':
      return
    case 'fields':
      return checkFields(reader, tree, shape)
    case 'list':
      if (tree.kind !== 'list') return problem(reader, tree, { rule: 'type', message: 'must be a list' })
      for (const item of tree.items) checkShape(reader, item, shape.of)
      return
    case 'texts':
      if (tree.kind !== 'map') return problem(reader, tree, { rule: 'type', message: 'must be a mapping of names to texts' })
      for (const { value } of tree.entries.values()) checkText(reader, value)
      return
    case 'text':
      return checkText(reader, tree, shape.format)
    case 'flag':
      if (flagOf(tree) === undefined) problem(reader, tree, { rule: 'type', message: 'must be true or false' })
      return
    case 'integer': {
      const { least, most } = shape
      const value = numberOf(tree)
      if (value !== undefined && Number.isInteger(value) && value >= least && value <= most) return
      return problem(reader, tree, { rule: 'range', message: `must be a whole number from ${least} to ${most}` })
    }
    case 'word':
      return checkWord(reader, tree, shape.words)
  }
}

function checkText(reader: ShapeReader, tree: YamlTree, format?: TextShape['format']): undefined {
  if (tree.kind !== 'scalar' || tree.value === null) return problem(reader, tree, { rule: 'type', message: 'must be a text' })
  if (typeof tree.value === 'boolean')
    return problem(reader, tree, { rule: 'type', message: `must be a text; put quotes around ${tree.source}` })
  const written = typeof tree.value === 'string' ? tree.value : tree.source
  if (!format || format.pattern.test(written)) return
  const { rule, says, remedy } = format
  problem(reader, tree, { rule, message: `"${written}" ${says}`, ...(remedy && { remedy }) })
}

function checkWord(reader: ShapeReader, tree: YamlTree, words: Readonly<Record<string, SchemaVersion>>): undefined {
  const written = tree.kind === 'scalar' ? String(tree.value) : undefined
  if (written === undefined) return problem(reader, tree, { rule: 'type', message: 'must be a text' })
  const since = Object.hasOwn(words, written) ? words[written] : undefined
  const all = Object.keys(words).join(', ')
  if (since === undefined) problem(reader, tree, { rule: 'enum', message: `"${written}" is none of ${all}` })
  else if (since > reader.version) problem(reader, tree, tooNew(written, since, reader.version))
}

function tooNew(name: string, since: SchemaVersion, version: SchemaVersion): ProblemText {
  return {
    rule: 'field-version',
    message: `"${name}" came with schema ${versionText(since)}, and this devfile is of ${versionText(version)}`,
    remedy: `write schemaVersion: ${versionText(since)}`,
  }
}

function checkFields(reader: ShapeReader, tree: YamlTree, shape: FieldsShape): undefined {
  if (tree.kind !== 'map') {
    const isEmpty = tree.kind === 'scalar' && tree.source === ''
    return problem(reader, tree, { rule: 'type', message: isEmpty ? 'is empty, and must be a mapping' : 'must be a mapping' })
  }
  for (const [name, entry] of tree.entries) checkField(reader, tree, shape, { name, ...entry })
  for (const [field, { isRequired }] of shape.fields)
    if (isRequired && !isThere(tree.entries.get(field)?.value))
      problem(reader, { holder: tree, field }, { rule: 'required', message: 'is missing' })
  if (shape.oneOf.length > 0) checkOne(reader, tree, shape)
}

function checkField(
  reader: ShapeReader,
  tree: YamlMap,
  shape: FieldsShape,
  { name, key, value }: YamlEntry & { name: string },
): undefined {
  const place = { holder: tree, field: name, spot: key }
  const field = shape.fields.get(name)
  if (!field) return shape.isOpen ? undefined : problem(reader, place, unknownField(name, shape))
  if (field.since > reader.version) problem(reader, place, tooNew(name, field.since, reader.version))
  if (field.isOfTemplates && !reader.isTemplate) {
    const message = `"${name}" is a word of templates in a cluster; devfiles do not have it`
    return problem(reader, place, { rule: 'unknown-field', message, remedy: 'bring it in by a parent' })
  }
  if (isThere(value)) checkShape(reader, value, field.shape)
}

function unknownField(name: string, { fields }: FieldsShape): ProblemText {
  const names = [...fields].flatMap(([each, { isOfTemplates }]) => (isOfTemplates ? [] : [each]))
  const near = names.find((each) => isNear(each, name))
  const message = `there is no such field; the fields here are ${names.join(', ')}`
  return { rule: 'unknown-field', message, ...(near && { remedy: `did you mean ${near}?` }) }
}

/** `volume:` with nothing behind it says that there is a volume: all of its fields may be left out. */
function checkOne(reader: ShapeReader, tree: YamlMap, { oneOf, fields, isPatch }: FieldsShape): undefined {
  const listed = oneOf.filter((name) => reader.isTemplate || !fields.get(name)?.isOfTemplates)
  const given = oneOf.filter((name) => (name === 'volume' ? tree.entries.has(name) : isThere(tree.entries.get(name)?.value)))
  if (given.length === 1 || (isPatch && given.length === 0)) return
  const what = listed.length === 1 ? `must have ${listed[0]}` : `must be exactly one of ${listed.join(', ')}`
  problem(reader, tree, { rule: 'one-of', message: `${what}${given.length > 0 ? `, not ${given.join(' and ')}` : ''}` })
}
