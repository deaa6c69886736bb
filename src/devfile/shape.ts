import { type Finding, type Findings, problemAt } from './problem.ts'
import { type Field, type Fields, type Shape, type Text, type Version, versionText } from './schema.ts'
import { isThere, type YamlMap, type YamlSpot, type YamlTree } from './tree.ts'

/** By which schema a text is read. */
export interface Reader {
  findings: Findings
  version: Version
  /** A DevWorkspaceTemplate: plugins may be in it. */
  isTemplate: boolean
}

/** Whether every field is known, of its version and of its shape. Whatever is wrong is noted; nothing stops the rest. */
export function checkShape(reader: Reader, tree: YamlTree, shape: Shape, path: string): undefined {
  const note = (finding: Finding) => noteAt(reader, tree, path, finding)
  switch (shape.is) {
    case 'free':
      return
    case 'fields':
      return checkFields(reader, tree, shape, path)
    case 'list':
      if (tree.kind !== 'list') return note({ rule: 'type', message: 'must be a list' })
      for (const [i, item] of tree.items.entries()) checkShape(reader, item, shape.of, `${path}[${i}]`)
      return
    case 'texts':
      if (tree.kind !== 'map') return note({ rule: 'type', message: 'must be a mapping of names to texts' })
      for (const [name, { value }] of tree.entries) checkText(reader, value, { is: 'text', filled: false }, joined(path, name))
      return
    case 'text':
      return checkText(reader, tree, shape, path)
    case 'flag':
      if (!isScalar(tree, 'boolean')) note({ rule: 'type', message: 'must be true or false' })
      return
    case 'integer': {
      const { least, most } = shape
      const value = tree.kind === 'scalar' ? tree.value : undefined
      if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return
      return note({ rule: 'range', message: `must be a whole number from ${least} to ${most}` })
    }
    case 'word':
      return checkWord(reader, tree, shape.words, path)
  }
}

const noteAt = ({ findings }: Reader, spot: YamlSpot, path: string, finding: Finding): undefined =>
  void findings.problems.push(problemAt(spot, path, finding))

const joined = (path: string, name: string): string => (path ? `${path}.${name}` : name)

const isScalar = (tree: YamlTree, type: 'boolean' | 'string' | 'number'): boolean =>
  tree.kind === 'scalar' && typeof tree.value === type

function checkText(reader: Reader, tree: YamlTree, { format }: Text, path: string): undefined {
  if (isScalar(tree, 'boolean') && tree.kind === 'scalar')
    return noteAt(reader, tree, path, { rule: 'type', message: `must be a text; put quotes around ${tree.source}` })
  if (tree.kind !== 'scalar' || tree.value === null)
    return noteAt(reader, tree, path, { rule: 'type', message: 'must be a text' })
  const written = typeof tree.value === 'string' ? tree.value : tree.source
  if (!format || format.pattern.test(written)) return
  const { rule, says, remedy } = format
  noteAt(reader, tree, path, { rule, message: `"${written}" ${says}`, ...(remedy && { remedy }) })
}

function checkWord(reader: Reader, tree: YamlTree, words: Readonly<Record<string, Version>>, path: string): undefined {
  const written = tree.kind === 'scalar' ? String(tree.value) : undefined
  if (written === undefined) return noteAt(reader, tree, path, { rule: 'type', message: 'must be a text' })
  const since = Object.hasOwn(words, written) ? words[written] : undefined
  const all = Object.keys(words).join(', ')
  if (since === undefined) noteAt(reader, tree, path, { rule: 'enum', message: `"${written}" is none of ${all}` })
  else if (since > reader.version) noteAt(reader, tree, path, tooNew(`"${written}"`, since, reader.version))
}

function tooNew(what: string, since: Version, version: Version): Finding {
  return {
    rule: 'field-version',
    message: `${what} came with schema ${versionText(since)}, and this devfile is of ${versionText(version)}`,
    remedy: `write schemaVersion: ${versionText(since)}`,
  }
}

function checkFields(reader: Reader, tree: YamlTree, shape: Fields, path: string): undefined {
  if (tree.kind !== 'map') return noteAt(reader, tree, path, { rule: 'type', message: 'must be a mapping' })
  for (const [name, { key, value }] of tree.entries) {
    const field = shape.fields.get(name)
    if (field) checkField(reader, { key, value, field, path: joined(path, name) })
    else if (!shape.isOpen) noteAt(reader, key, joined(path, name), unknownField(name, shape))
  }
  for (const name of shape.required) {
    if (!isThere(tree.entries.get(name)?.value))
      noteAt(reader, tree, joined(path, name), { rule: 'required', message: 'is missing' })
  }
  if (shape.oneOf.length > 0) checkOne(reader, tree, shape, path)
}

function checkField(reader: Reader, given: { key: YamlSpot; value: YamlTree; field: Field; path: string }): undefined {
  const { key, value, field, path } = given
  const name = path.slice(path.lastIndexOf('.') + 1)
  if (field.since > reader.version) noteAt(reader, key, path, tooNew(`"${name}"`, field.since, reader.version))
  if (field.isOfTemplates && !reader.isTemplate) {
    const message = `"${name}" is a word of templates in a cluster; devfiles do not have it`
    return noteAt(reader, key, path, { rule: 'unknown-field', message, remedy: 'bring it in by a parent' })
  }
  if (isThere(value)) checkShape(reader, value, field.shape, path)
}

function unknownField(name: string, { fields }: Fields): Finding {
  const names = [...fields].flatMap(([each, { isOfTemplates }]) => (isOfTemplates ? [] : [each]))
  const near = names.find((each) => isNear(each.toLowerCase(), name.toLowerCase()))
  const message = `there is no such field; the fields here are ${names.join(', ')}`
  return { rule: 'unknown-field', message, ...(near && { remedy: `did you mean ${near}?` }) }
}

/** The same but for one letter that is missing, too much, or another; or for two that changed places. */
function isNear(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false
  let i = 0
  while (i < a.length && a[i] === b[i]) i++
  const [restA, restB] = [a.slice(i), b.slice(i)]
  const swapped = `${restA[1] ?? ''}${restA[0] ?? ''}${restA.slice(2)}`
  return restA.slice(1) === restB.slice(1) || restA.slice(1) === restB || restA === restB.slice(1) || swapped === restB
}

/** `volume:` with nothing behind it says that there is a volume: all of its fields may be left out. */
function checkOne(reader: Reader, tree: YamlMap, { oneOf, fields, isPatch }: Fields, path: string): undefined {
  const listed = oneOf.filter((name) => reader.isTemplate || !fields.get(name)?.isOfTemplates)
  const given = oneOf.filter((name) => (name === 'volume' ? tree.entries.has(name) : isThere(tree.entries.get(name)?.value)))
  if (given.length === 1 || (isPatch && given.length === 0)) return
  const what = listed.length === 1 ? `must have ${listed[0]}` : `must be exactly one of ${listed.join(', ')}`
  noteAt(reader, tree, path, { rule: 'one-of', message: `${what}${given.length > 0 ? `, not ${given.join(' and ')}` : ''}` })
}
