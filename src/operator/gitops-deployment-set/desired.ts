import { createHash } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import {
  type AnyObject,
  annotations,
  type GitOpsDeploymentSet,
  GitOpsDeployments,
  labels,
  ownedBy,
  typeMetaOf,
} from '../../api/index.ts'
import { withVariables } from '../../engines/render/index.ts'
import { defined, Failure } from '../../std/index.ts'
import type { Element } from './elements.ts'

/** A GitOpsDeployment as it is to be. */
export interface WantedDeployment {
  /** Of what the template makes of it. */
  readonly digest: string
  readonly labels: Record<string, string>
  /** Made anew each time: a template may have a megabyte, and a thousand of them are not kept. */
  object(): AnyObject
}

/** Characters of all that one template makes. */
const MOST_CHARACTERS = 16 * 2 ** 20

/** Between turns of others. */
const AT_ONCE = 20

/** By name. Throws `invalid` where the template cannot be filled, or gives one name twice. */
export async function desiredOf(set: GitOpsDeploymentSet, elements: readonly Element[]): Promise<Map<string, WantedDeployment>> {
  const { template } = set.spec
  const characters = JSON.stringify(template).length * elements.length
  if (characters > MOST_CHARACTERS)
    throw new Failure(
      'invalid',
      `spec.template makes ${characters} characters of ${elements.length} elements; at most ${MOST_CHARACTERS} are made`,
      { reason: 'TemplateTooLarge', remedy: 'Move what all of them share into the repository, or have fewer elements.' },
    )
  const found = new Map<string, WantedDeployment & { from: string }>()
  for (const [at, element] of elements.entries()) {
    if (at % AT_ONCE === AT_ONCE - 1) await breathe()
    const object = filled(set, element)
    const { name } = object.metadata
    const other = found.get(name)
    if (other) throw sameName(name, other.from, element.from)
    found.set(name, {
      digest: object.metadata.annotations?.[annotations.setTemplate] ?? '',
      labels: object.metadata.labels ?? {},
      object: () => filled(set, element),
      from: element.from,
    })
  }
  return found
}

function filled(set: GitOpsDeploymentSet, { values, from }: Element): AnyObject {
  const { metadata, spec } = set.spec.template
  const written: AnyObject = { ...typeMetaOf(GitOpsDeployments), metadata, spec }
  const object = withValues(written, values, from)
  const isKept = set.spec.removal?.policy === 'Orphan'
  const digest = createHash('sha256')
    .update(JSON.stringify([object, isKept]))
    .digest('hex')
    .slice(0, 16)
  return {
    ...object,
    metadata: {
      ...object.metadata,
      ...defined({ namespace: set.metadata.namespace }),
      labels: { ...object.metadata.labels, [labels.deploymentSet]: set.metadata.name },
      annotations: { ...object.metadata.annotations, [annotations.setTemplate]: digest },
      ...(!isKept && { ownerReferences: [ownedBy(set)] }),
    },
  }
}

function withValues(object: AnyObject, values: ReadonlyMap<string, string>, from: string): AnyObject {
  try {
    const [manifest] = withVariables([{ object, source: 'spec.template' }], { values, strict: true })
    return manifest?.object ?? object
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

const sameName = (name: string, one: string, other: string): Failure =>
  new Failure(
    'invalid',
    `spec.template.metadata.name is ${JSON.stringify(name.slice(0, 300))} for two elements, ${one} and ${other}`,
    {
      reason: 'NameNotUnique',
      remedy: 'Have the name contain a variable that tells them apart, such as ${environment}.',
    },
  )
