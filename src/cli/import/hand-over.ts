import type { GitOpsDeployment, GitOpsDeploymentSet, GitProject } from '../../api/index.ts'
import type { Imported, ImportResult, LettingGo } from './imported.ts'
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
export function stepsOf(result: ImportResult, file: string): HandOverStep[] {
  const { deployments, sets, imported, projects } = result
  const all = releasesIn(imported)
  const going = imported.filter(({ title, isLost }) => !isLost && all.has(title) && parentNotGiven(title, all) === undefined)
  if (going.length === 0) return []
  const titles = going.map(({ title }) => title)
  const parents = new Set(titles.flatMap((title) => ancestorsOf(title, all)))
  const topDown = [...new Set([...parents, ...titles])].toSorted(
    (a, b) => ancestorsOf(a, all).length - ancestorsOf(b, all).length,
  )
  const deploymentsOf = (isMeant: (each: Imported) => boolean) =>
    going
      .filter(isMeant)
      .flatMap(({ made, rests = false }) => deployments.flatMap((each) => (made.includes(each) ? goOn(each, rests) : [])))
  const resting = new Set(going.flatMap(({ title, rests }) => (rests ? [title] : [])))
  const steps: HandOverStep[] = [
    {
      says: `Let Berth in, and make what was printed. It rests until you say otherwise.${needsIn(projects)}${rightsIn(result)}`,
      commands: [`berth onboard ${namespacesOf([...deployments, ...sets, ...projects]).join(' ')}`, `kubectl apply -f ${file}`],
    },
    {
      says: 'Have the other program let go: after this it writes nothing of it, and no object that it has applied goes. What applies others comes first, for it would put them back. What has no match, and stops here for that, is yours to start again.',
      commands: topDown.flatMap((title) => all.get(title)?.stop ?? []),
    },
    {
      says: 'See what each would do, and let it go on. Objects keep their UIDs. Pods run on where `berth diff` shows no change in their template.',
      commands: [...deploymentsOf(({ title }) => !parents.has(title)), ...sets.flatMap((set) => setGoesOn(set, going, all))],
    },
    {
      says: 'These apply others of those above, from Git. In Git put first what was printed in their place, without `suspend`: what Git has of the other program would be made again.',
      commands: deploymentsOf(({ title }) => parents.has(title)),
    },
    {
      says: 'When all is as it should be, take away what the other program has of it. What it had applied stays. Sources stay, too, for others may follow them, and so does what rests.',
      commands: topDown
        .toReversed()
        .flatMap((title) => (titles.includes(title) && !resting.has(title) ? (all.get(title)?.remove ?? []) : [])),
    },
  ]
  return steps.filter(({ commands }) => commands.length > 0)
}

const releasesIn = (imported: readonly Imported[]): Map<string, LettingGo> =>
  new Map(imported.flatMap(({ release, title }) => (release ? [[title, release] as const] : [])))

/** The first above it that nobody has given: it would put back what is changed, and then take all with it. */
export const parentNotGiven = (title: string, all: ReadonlyMap<string, LettingGo>): string | undefined =>
  [title, ...ancestorsOf(title, all)]
    .map((each) => all.get(each)?.parent)
    .find((parent) => parent !== undefined && !all.has(parent))

/** What is above each of them, and was not given, by title. */
export function parentsNotGiven(imported: readonly Imported[]): Map<string, string> {
  const all = releasesIn(imported)
  return new Map(
    [...all.keys()].flatMap((title) => {
      const parent = parentNotGiven(title, all)
      return parent === undefined ? [] : [[title, parent] as const]
    }),
  )
}

/** By whom it was applied, by whom that was, and so on. Labels may say that two have applied one another. */
function ancestorsOf(title: string, all: ReadonlyMap<string, LettingGo>): string[] {
  const found: string[] = []
  for (let at = all.get(title)?.parent; at !== undefined && all.has(at) && !found.includes(at); at = all.get(at)?.parent)
    found.push(at)
  return found
}

const namespacesOf = (made: readonly { metadata: { namespace?: string } }[]): string[] =>
  [...new Set(made.map(({ metadata }) => metadata.namespace ?? ''))].sort()

const needsIn = (projects: readonly GitProject[]): string =>
  projects.some(({ spec }) => !spec.credentialsSecretRef)
    ? ' For a repository that is not public, name a Secret in spec.credentialsSecretRef of its GitProject.'
    : ''

const rightsIn = ({ deployments, sets }: ImportResult): string =>
  [...deployments.map(({ spec }) => spec), ...sets.map(({ spec }) => spec.template.spec)].some(
    ({ serviceAccountName }) => serviceAccountName === ACCOUNT,
  )
    ? ' The role bindings in it allow all within a namespace: change them to what is needed. What belongs to no namespace, or to another one, needs a role of its own.'
    : ''

function goOn({ metadata: { name, namespace }, spec: { type } }: GitOpsDeployment, rests: boolean): string[] {
  const at = `${name} -n ${namespace}`
  if (rests) return [`berth diff ${at}`]
  return [`berth diff ${at}`, `berth resume ${at}`, ...(type === 'manual' ? [`berth sync ${at} --wait`] : [])]
}

/** Its GitOpsDeployments are called as the Applications that were made of the same elements, where names are made in the same way. */
function setGoesOn(set: GitOpsDeploymentSet, going: readonly Imported[], all: ReadonlyMap<string, LettingGo>): string[] {
  const { name, namespace } = set.metadata
  const from = going.find(({ made }) => made.includes(set))
  if (!from) return []
  const hasOtherNames = set.spec.template.metadata.name.includes('${slug}')
  const children = hasOtherNames ? [] : going.filter(({ title }) => all.get(title)?.parent === from.title)
  return [
    ...children.map(({ title }) => `berth diff ${title.split('/').at(-1)} -n ${namespace}`),
    `kubectl patch gitopsdeploymentsets.berth.dev ${name} -n ${namespace} --type json -p '${GOES_ON}'`,
  ]
}

const GOES_ON = '[{"op":"remove","path":"/spec/template/spec/suspend"}]'
