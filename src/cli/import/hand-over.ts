import type { GitOpsDeployment, GitOpsDeploymentSet } from '../../api/index.ts'
import { type Imported, type ImportResult, type LettingGo, madeOf } from './imported.ts'
import { ACCOUNT } from './made.ts'

/** What is done at one time, with the commands for it. */
export interface HandOverStep {
  says: string
  commands: readonly string[]
}

/**
 * How everything goes over. After each command all that was applied is still there and runs: what would put back what the next one
 * changes has been stopped before. `file` is where the person keeps what was printed.
 */
export function stepsOf(imported: readonly Imported[], file: string): HandOverStep[] {
  const result = madeOf(imported)
  const { deployments, sets } = result
  const all = releasesIn(imported)
  const held = obstaclesIn(imported)
  const going = imported.filter(({ title, isLost, isLive }) => isLive && !isLost && all.has(title) && !held.has(title))
  if (going.length === 0) return []
  const parents = new Set(going.flatMap(({ title }) => ancestorsOf(title, all)))
  // What has applied others: a set has it where one of its Applications has.
  const isAbove = ({ title, has }: Imported) =>
    has ? childrenOf(title, going, all).some((child) => parents.has(child.title)) : parents.has(title)
  const goOnAll = (some: readonly Imported[]) =>
    some.flatMap(({ title, made, rests = false }) => [
      ...deployments.filter((one) => made.includes(one)).flatMap((one) => goOn(one, rests)),
      ...sets.filter((set) => made.includes(set)).flatMap((set) => setGoesOn(set, childrenOf(title, going, all))),
    ])
  const leaving = going
    .filter(({ rests }) => !rests)
    .toSorted((a, b) => ancestorsOf(a.title, all).length - ancestorsOf(b.title, all).length)
  const [ofSets, others] = [leaving.filter(({ has }) => has), leaving.filter(({ has }) => !has)]
  const commandsOf = (some: readonly Imported[], which: 'stop' | 'part' | 'remove') =>
    some.flatMap(({ release }) => release?.[which] ?? [])
  const steps: HandOverStep[] = [
    {
      says: `Let Berth in, and make what was printed. It rests until you say otherwise.${needsIn(result)}`,
      commands: [`berth onboard ${namespacesOf(result).join(' ')}`, `kubectl apply -f ${file}`],
    },
    {
      says: 'Have the other program let go: after this it writes nothing of it, and no object that it has applied goes. What applies others comes first, for it would put them back.',
      commands: commandsOf(leaving, 'stop'),
    },
    {
      says: 'See what each would do, and let it go on. Objects keep their UIDs. Pods run on where `berth diff` shows no change in their template.',
      commands: goOnAll(going.filter((each) => !isAbove(each))),
    },
    {
      says: 'These apply others of those above, from Git. In Git put first what was printed in their place, without `suspend`: what Git has of the other program would be made again.',
      commands: goOnAll(going.filter(isAbove)),
    },
    {
      says: 'When all is as it should be, take away what the other program has of it. What it had applied stays. Sources stay, too, for others may follow them, and so does what rests.',
      // A set would make its Applications anew.
      commands: [...commandsOf(leaving, 'part'), ...commandsOf([...ofSets, ...others.toReversed()], 'remove')],
    },
  ]
  return steps.filter(({ commands }) => commands.length > 0)
}

const releasesIn = (imported: readonly Imported[]): Map<string, LettingGo> =>
  new Map(imported.flatMap(({ release, title }) => (release ? [[title, release] as const] : [])))

/** Why some do not go over, by title: who would put back what is changed of it, and then take all with it. */
export function obstaclesIn(imported: readonly Imported[]): Map<string, string> {
  const all = releasesIn(imported)
  const lost = new Set(imported.flatMap(({ title, isLost }) => (isLost ? [title] : [])))
  const own = new Map<string, string>()
  for (const each of imported) {
    const says = obstacleOf(each, imported, all)
    if (says !== undefined) own.set(each.title, says)
  }
  const found = new Map<string, string>()
  for (const { title, isLive, isLost } of imported) {
    if (!isLive || isLost) continue
    const above = ancestorsOf(title, all)
    const unmatched = above.find((each) => lost.has(each))
    const held = above.find((each) => own.has(each))
    const says = own.get(title)
    if (says !== undefined) found.set(title, says)
    else if (unmatched !== undefined)
      found.set(title, `${unmatched} has applied it, and has no match: take it out of what that applies to hand it over.`)
    else if (held !== undefined) found.set(title, `${held} has applied it, and does not go over, for what is said of it.`)
  }
  return found
}

/** What is in the way of one, whatever is above it. */
function obstacleOf(
  { title, has }: Imported,
  imported: readonly Imported[],
  all: ReadonlyMap<string, LettingGo>,
): string | undefined {
  const parent = all.get(title)?.parent
  if (parent !== undefined && !all.has(parent))
    return `${parent} has applied it, and would put back what is changed: give that, too, to hand it over.`
  if (has && childrenOf(title, imported, all).length === 0)
    return 'None of its Applications was given: give them, too, to hand it over.'
  const others = has?.filter((each) => !all.has(each)) ?? []
  return others.length > 0 ? `It has ${others.join(', ')}, too: give all of them to hand it over.` : undefined
}

const childrenOf = (title: string, among: readonly Imported[], all: ReadonlyMap<string, LettingGo>): Imported[] =>
  among.filter((each) => all.get(each.title)?.parent === title)

/** By whom it was applied, by whom that was, and so on. Labels may say that two have applied one another. */
function ancestorsOf(title: string, all: ReadonlyMap<string, LettingGo>): string[] {
  const found: string[] = []
  for (let at = all.get(title)?.parent; at !== undefined && all.has(at) && !found.includes(at); at = all.get(at)?.parent)
    found.push(at)
  return found
}

const namespacesOf = ({ deployments, sets, projects }: ImportResult): string[] =>
  [...new Set([...deployments, ...sets, ...projects].map(({ metadata }) => metadata.namespace ?? ''))].sort()

/** What a person has to do beside the commands, as sentences. */
function needsIn({ deployments, sets, projects }: ImportResult): string {
  const specs = [...deployments.map(({ spec }) => spec), ...sets.map(({ spec }) => spec.template.spec)].map(
    (spec): Partial<GitOpsDeployment['spec']> => spec,
  )
  const environments = new Set(
    specs.flatMap(({ destination }) => destination?.environment ?? []).filter((name) => !name.includes('${')),
  )
  const sentences = [
    environments.size > 0 && `It needs these environments: ${[...environments].sort().join(', ')}.`,
    projects.some(({ spec }) => !spec.credentialsSecretRef) &&
      'For a repository that is not public, name a Secret in spec.credentialsSecretRef of its GitProject.',
    specs.some(({ serviceAccountName }) => serviceAccountName === ACCOUNT) &&
      'The role bindings in it allow all within a namespace: change them to what is needed. What belongs to no namespace, or to another one, needs a role of its own.',
  ]
  return sentences.flatMap((each) => (each ? [` ${each}`] : [])).join('')
}

function goOn({ metadata: { name, namespace }, spec: { type } }: GitOpsDeployment, rests: boolean): string[] {
  const at = `${name} -n ${namespace}`
  if (rests) return [`berth diff ${at}`]
  return [`berth diff ${at}`, `berth resume ${at}`, ...(type === 'manual' ? [`berth sync ${at} --wait`] : [])]
}

/** Its GitOpsDeployments are called as the Applications that were made of the same elements, where names are made in the same way. */
function setGoesOn({ metadata: { name, namespace }, spec }: GitOpsDeploymentSet, children: readonly Imported[]): string[] {
  const { template } = spec
  const names = template.metadata.name.includes('${slug}')
    ? []
    : children.map(({ title }) => title.slice(title.lastIndexOf('/') + 1))
  const isManual = template.spec.type === 'manual'
  return [
    ...names.map((child) => `berth diff ${child} -n ${namespace}`),
    `kubectl patch gitopsdeploymentsets.berth.dev ${name} -n ${namespace} --type json -p '${GOES_ON}'`,
    ...(isManual ? names.map((child) => `berth sync ${child} -n ${namespace} --wait`) : []),
  ]
}

const GOES_ON = '[{"op":"remove","path":"/spec/template/spec/suspend"}]'
