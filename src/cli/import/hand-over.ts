import type { GitOpsDeployment, GitOpsDeploymentSet } from '../../api/index.ts'
import type { ImportResult, LettingGo } from './imported.ts'

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
  const { deployments, sets, imported } = result
  if (deployments.length + sets.length === 0) return []
  const isWhole = imported.every(({ isLost }) => !isLost)
  const all = new Map(imported.flatMap(({ release, title }) => (release ? [[title, release] as const] : [])))
  const going = imported.filter(({ release, isLost }) => release && !isLost).map(({ title }) => title)
  const parents = new Set(going.flatMap((title) => ancestorsOf(title, all)))
  const topDown = [...new Set([...parents, ...going])].toSorted((a, b) => ancestorsOf(a, all).length - ancestorsOf(b, all).length)
  const fromParents = imported.flatMap(({ title, made }) => (parents.has(title) ? made : []))
  const [late, early] = [true, false].map((isLate) => deployments.filter((each) => fromParents.includes(each) === isLate))
  const steps: HandOverStep[] = [
    {
      says: 'Let Berth in, say what it may do (here: all within the namespace), and make what was printed. It rests until you say otherwise.',
      commands: [...rightsFor([...deployments, ...sets]), `kubectl apply -f ${file}`],
    },
    {
      says: 'Have the other program let go. Nothing is deleted by this. What applies others comes first: it would put them back.',
      commands: topDown.flatMap((title) => all.get(title)?.stop ?? []),
    },
    {
      says: 'See what each would do, and let it go on. Objects keep their UIDs, and pods run on where their templates stay.',
      commands: [...(early ?? []).flatMap(goOn), ...sets.flatMap((set) => setGoesOn(set, result))],
    },
    {
      says: 'These apply others of those above, from Git. In Git put first what was printed in their place: what Git has of the other program would be made again, and deleted with all that it had applied when it leaves Git later.',
      commands: (late ?? []).flatMap(goOn),
    },
    {
      says: 'When all is as it should be, take away what the other program has of it. What it had applied stays.',
      commands: topDown
        .toReversed()
        .flatMap((title) => (going.includes(title) ? (all.get(title) ?? { remove: [] }) : []))
        .flatMap(({ remove, isShared }: Pick<LettingGo, 'remove' | 'isShared'>) => (isShared && !isWhole ? [] : remove)),
    },
  ]
  return steps.filter(({ commands }) => commands.length > 0)
}

/** By whom it was applied, by whom that was, and so on. Labels may say that two have applied one another. */
function ancestorsOf(title: string, all: ReadonlyMap<string, LettingGo>): string[] {
  const found: string[] = []
  for (let at = all.get(title)?.parent; at !== undefined && all.has(at) && !found.includes(at); at = all.get(at)?.parent)
    found.push(at)
  return found
}

/** For a namespace each, and a service account each. */
function rightsFor(made: readonly (GitOpsDeployment | GitOpsDeploymentSet)[]): string[] {
  const namespaces = new Set(made.map(({ metadata }) => metadata.namespace ?? ''))
  const here = made.flatMap(({ metadata: { namespace = '' }, spec: given }) => {
    const spec: Partial<GitOpsDeployment['spec']> = 'template' in given ? given.template.spec : given
    return spec.destination?.environment === undefined ? [{ namespace, account: spec.serviceAccountName ?? 'default' }] : []
  })
  const bindings = here.map(({ namespace, account }) => {
    const subject = `--serviceaccount=${namespace}:${account}`
    return `kubectl create rolebinding berth-${account} -n ${namespace} --clusterrole=admin ${subject}`
  })
  return [`berth onboard ${[...namespaces].sort().join(' ')}`, ...new Set(bindings)]
}

function goOn({ metadata: { name, namespace }, spec: { type } }: GitOpsDeployment): string[] {
  const at = `${name} -n ${namespace}`
  return [`berth diff ${at}`, `berth resume ${at}`, ...(type === 'manual' ? [`berth sync ${at} --wait`] : [])]
}

/** Its GitOpsDeployments are called as the Applications that were made of the same elements, where names are made in the same way. */
function setGoesOn({ metadata: { name, namespace }, spec }: GitOpsDeploymentSet, { imported }: ImportResult): string[] {
  const from = imported.find(({ made }) =>
    made.some((each) => each.kind === 'GitOpsDeploymentSet' && each.metadata.name === name),
  )
  const children = spec.template.metadata.name.includes('${slug}')
    ? []
    : imported.filter(({ release }) => from && release?.parent === from.title)
  return [
    ...children.map(({ title }) => `berth diff ${title.split('/').at(-1)} -n ${namespace}`),
    `kubectl patch gitopsdeploymentsets.berth.dev ${name} -n ${namespace} --type json -p '${GOES_ON}'`,
  ]
}

const GOES_ON = '[{"op":"remove","path":"/spec/template/spec/suspend"}]'
