import { createHash } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import { type AnyObject, annotations, type GitOpsDeploymentSet, GitOpsDeployments, labels, typeMetaOf } from '../../api/index.ts'
import { type Manifest, placeOf, VARIABLES_ANNOTATION, withVariables } from '../../engines/render/index.ts'
import { defined, Failure, isRecord } from '../../std/index.ts'
import type { Element } from './element.ts'
import { isTyped } from './typed.ts'

/** A GitOpsDeployment as it is to be. */
export interface WantedDeployment {
  /** What the annotation says of one that is as it is to be: for which set, under which name, and of what. */
  readonly mark: string
  readonly labels: Record<string, string>
  /** Made anew each time: a template may have a megabyte, and a thousand of them are not kept. */
  object(): AnyObject
}

/** Characters of all that one template makes: written, and put in the places of variables. */
const MOST_CHARACTERS = 16 * 2 ** 20

/** Characters of one of them; the API takes little more. */
const MOST_OF_ONE = 2 ** 20

/** Characters between turns of others. */
const AT_ONCE = 2 ** 18

const NAME = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/
const LONGEST_NAME = 253

/** By name. Throws `invalid` where the template cannot be filled, or gives one name twice. */
export async function desiredOf(set: GitOpsDeploymentSet, elements: readonly Element[]): Promise<Map<string, WantedDeployment>> {
  const template = templateOf(set)
  const written = JSON.stringify(template.object).length
  const found = new Map<string, WantedDeployment & { from: string }>()
  let [characters, sinceBreath] = [written * elements.length, 0]
  for (const element of elements) {
    if (characters > MOST_CHARACTERS)
      throw tooLarge(`makes ${characters} characters or more of ${elements.length} elements`, MOST_CHARACTERS)
    let put = 0
    const object = filled(set, template, element, (count) => {
      put = count
    })
    if (written + put > MOST_OF_ONE) throw tooLarge(`makes ${written + put} characters of ${element.from}`, MOST_OF_ONE)
    characters += put
    sinceBreath += written + put
    if (sinceBreath > AT_ONCE) {
      sinceBreath = 0
      await breathe()
    }
    const { name } = object.metadata
    if (!NAME.test(name) || name.length > LONGEST_NAME) throw noName(name, element.from)
    const other = found.get(name)
    if (other) throw sameName(name, other.from, element.from)
    found.set(name, {
      mark: object.metadata.annotations?.[annotations.setTemplate] ?? '',
      labels: object.metadata.labels ?? {},
      object: () => filled(set, template, element),
      from: element.from,
    })
  }
  return found
}

/** The parts of what the annotation says. */
export function markIn(object: Pick<AnyObject, 'metadata'>): { uid: string; name: string } {
  const [uid = '', name = ''] = object.metadata.annotations?.[annotations.setTemplate]?.split(' ') ?? []
  return { uid, name }
}

function templateOf({ spec: { template } }: GitOpsDeploymentSet): Manifest {
  const { metadata, spec } = template
  if (metadata.annotations?.[VARIABLES_ANNOTATION] !== undefined)
    throw new Failure('invalid', `spec.template.metadata.annotations: ${VARIABLES_ANNOTATION} means nothing here`, {
      reason: 'TemplateInvalid',
      remedy: 'Leave it out, and write $${name} for what is meant as it stands.',
    })
  return {
    object: { ...typeMetaOf(GitOpsDeployments), metadata, spec },
    source: 'spec.template',
    texts: textsIn(spec, ['spec'], []),
  }
}

/** The places of all texts but those that stand for something else: `1.20` is a version and no number, and `2024` a name. */
function textsIn(value: unknown, steps: readonly string[], path: readonly string[]): Set<string> {
  if (typeof value === 'string') return new Set(isTyped(path) ? [] : [placeOf(steps)])
  const parts = Array.isArray(value)
    ? value.map((item, at) => textsIn(item, [...steps, `[${at}]`], path))
    : Object.entries(isRecord(value) ? value : {}).map(([key, item]) => textsIn(item, [...steps, key], [...path, key]))
  return new Set(parts.flatMap((places) => [...places]))
}

function filled(
  set: GitOpsDeploymentSet,
  template: Manifest,
  { values, from }: Element,
  put: (characters: number) => void = () => undefined,
): AnyObject {
  const { metadata, ...rest } = withValues(template, { values, strict: true, put }, from)
  const digest = createHash('sha256')
    .update(JSON.stringify([metadata, rest]))
    .digest('hex')
    .slice(0, 16)
  return {
    ...rest,
    metadata: {
      ...metadata,
      ...defined({ namespace: set.metadata.namespace }),
      labels: { ...metadata.labels, [labels.deploymentSet]: set.metadata.name },
      annotations: { ...metadata.annotations, [annotations.setTemplate]: `${set.metadata.uid} ${metadata.name} ${digest}` },
    },
  }
}

function withValues(template: Manifest, variables: Parameters<typeof withVariables>[1], from: string): AnyObject {
  try {
    const [manifest] = withVariables([template], variables)
    return manifest?.object ?? template.object
  } catch (thrown) {
    const { code, message, reason = '' } = Failure.from(thrown)
    throw new Failure(code === 'internal' ? code : 'invalid', `${from}: ${message}`, {
      reason: 'TemplateInvalid',
      remedy: REMEDIES[reason] ?? 'Correct spec.template.',
      cause: thrown,
    })
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  VariableMissing:
    'Have a generator give it, give it a default as in ${name:=default}, or write $${name} if it is meant as it stands.',
}

const tooLarge = (what: string, most: number): Failure =>
  new Failure('invalid', `spec.template ${what}; at most ${most} are made`, {
    reason: 'TemplateTooLarge',
    remedy: 'Move what all of them share into the repository, or have fewer and shorter values.',
  })

const noName = (name: string, from: string): Failure =>
  new Failure(
    'invalid',
    `${from}: spec.template.metadata.name makes ${JSON.stringify(name.slice(0, 300))} of it, which is no name`,
    {
      reason: 'TemplateInvalid',
      remedy:
        'Names have lower-case letters, digits, - and . in them, begin and end with a letter or digit, and have at most 253.',
    },
  )

const sameName = (name: string, one: string, other: string): Failure =>
  new Failure('invalid', `spec.template.metadata.name is ${JSON.stringify(name)} for two elements, ${one} and ${other}`, {
    reason: 'NameNotUnique',
    remedy: 'Have the name contain a variable that tells them apart, such as ${environment}.',
  })
