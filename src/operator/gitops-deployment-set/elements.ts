import { selectorOf } from '../../adapters/kube/index.ts'
import type { Environment, GitOpsDeploymentSetSpec } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { type Element, MOST_ELEMENTS, type Simple } from './element.ts'
import { branchElements, directoryElements } from './names.ts'

const NAME = /^[A-Za-z_]\w*$/

/** What there is to make elements of. */
export interface Given {
  /** Those of the namespace. */
  readonly environments: readonly Environment[]
  /** Names of refs or files, by the field of the generator that asked for them. */
  readonly names: ReadonlyMap<string, readonly string[]>
}

type Generators = Pick<GitOpsDeploymentSetSpec, 'generators'>

/** Of each generator the factors, with their fields: one, where it is no product. */
const factorsOf = ({ generators }: Generators): { field: string; factors: [field: string, Simple][] }[] =>
  generators.map(({ product, ...generator }, at) => {
    const field = `spec.generators[${at}]`
    return { field, factors: product?.map((factor, index) => [`${field}.product[${index}]`, factor]) ?? [[field, generator]] }
  })

/** Each generator that is no product, with its field. */
export const simpleGenerators = (spec: Generators): [field: string, Simple][] => factorsOf(spec).flatMap(({ factors }) => factors)

export const asksForEnvironments = (spec: Generators): boolean =>
  simpleGenerators(spec).some(([, { environments }]) => environments !== undefined)

/** Their keys. */
export const annotationsAskedFor = (spec: Generators): string[] =>
  simpleGenerators(spec).flatMap(([, { environments }]) => Object.values(environments?.annotations ?? {}))

/** All elements, in the order of the generators. Pure; throws `invalid` with the field. */
export function elementsOf(spec: Generators, given: Given): Element[] {
  const found: Element[] = []
  for (const { field, factors: simples } of factorsOf(spec)) {
    const factors = simples.map(([place, factor]) => simple(factor, place, given))
    const count = factors.reduce((product, { length }) => product * length, 1)
    // Counted before one of them is made.
    if (found.length + count > MOST_ELEMENTS) throw tooMany(field, found.length + count)
    found.push(...factors.reduce((all, factor) => all.flatMap((one) => factor.map((other) => both(one, other, field)))))
  }
  return found
}

function simple(
  { list, environments: of, branches, directories }: Simple,
  field: string,
  { environments, names }: Given,
): Element[] {
  if (list) return list.elements.map((element, at) => listed(element, `${field}.list.elements[${at}]`))
  if (branches) return branchElements(names.get(field) ?? [], branches, `${field}.branches`)
  if (directories) return directoryElements(names.get(field) ?? [], directories, `${field}.directories`)
  if (!of) return []
  const selects = selectorOf(of.labelSelector, `${field}.environments.labelSelector`)
  return environments
    .filter(({ metadata }) => selects(metadata.labels))
    .sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))
    .map((environment) => ofEnvironment(environment, of, `${field}.environments`))
}

function listed(element: Record<string, string>, from: string): Element {
  for (const name of Object.keys(element)) requireName(name, from)
  return { values: new Map(Object.entries(element)), from }
}

function ofEnvironment({ metadata }: Environment, generator: OfEnvironments, field: string): Element {
  const values = new Map([['environment', metadata.name]])
  for (const [marks, one] of [
    ['labels', 'label'],
    ['annotations', 'annotation'],
  ] as const)
    for (const [name, key] of Object.entries(generator[marks] ?? {})) {
      requireName(name, `${field}.${marks}`)
      if (values.has(name)) throw twice(name, `${field}.${marks}`)
      const value = metadata[marks]?.[key]
      if (value === undefined)
        throw refused(
          `${field}.${marks}.${name}: Environment ${metadata.name} has no ${one} ${key}`,
          `Add the ${one}, or choose by labelSelector none but those that have it.`,
        )
      values.set(name, value)
    }
  return { values, from: `${field}: Environment ${metadata.name}` }
}

type OfEnvironments = NonNullable<Simple['environments']>

function both(one: Element, other: Element, field: string): Element {
  const name = [...other.values.keys()].find((each) => one.values.has(each))
  if (name !== undefined) throw twice(name, `${field}.product`)
  return { values: new Map([...one.values, ...other.values]), from: `${one.from} with ${other.from}` }
}

function requireName(name: string, field: string): void {
  if (!NAME.test(name))
    throw refused(
      `${field}: ${JSON.stringify(name.slice(0, 100))} is no name of a variable`,
      'Use letters, digits and underscores, and no digit first.',
    )
}

const twice = (name: string, field: string): Failure =>
  refused(`${field} gives the variable ${name} twice`, 'Give one of them another name.')

const refused = (what: string, remedy: string): Failure => new Failure('invalid', what, { reason: 'ElementsInvalid', remedy })

const tooMany = (field: string, count: number): Failure =>
  new Failure('invalid', `with ${field} the generators give ${count} elements; at most ${MOST_ELEMENTS} are made`, {
    reason: 'TooManyElements',
    remedy: 'Choose fewer by labelSelector, or split them among several GitOpsDeploymentSets.',
  })
