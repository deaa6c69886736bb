import type { Kube } from '../../adapters/kube/index.ts'
import { type Deployment, Deployments, GitProjects, nameOf, Pods } from '../../api/index.ts'
import { Failure, minutes, seconds } from '../../std/index.ts'
import { type LocalPrograms, upAgain } from '../local/local-programs.ts'
import { findLeader, type Leader, sayLeader, secondsSince } from '../local/others.ts'
import { logOf } from '../local/parts.ts'
import { isRolledOut, remedyForAbsent, troubleOfPods } from '../pods.ts'
import { type CheckContext, type DoctorFinding, type Examination, fail, ok, warn } from './finding.ts'

/** For an answer from a program on this machine. */
const PROBE = seconds(3)
const START_OPERATOR = 'Start it: `berth install --apply` with your values, or `berth operator` beside the cluster.'

/** They have examinations of their own, which need the API. */
const EXAMINED = ['operator', 'kas']

/** Looks whether all runs that `berth up` started here. Without a controller manager, for one, the API goes on to answer. */
export function examineLocalPrograms({ localPrograms }: CheckContext, { apiAnswers }: { apiAnswers: boolean }): DoctorFinding[] {
  if (!localPrograms) return []
  if (localPrograms.dead.length === 0) return [ok(`all that \`berth up\` started in ${localPrograms.dir} runs`)]
  const told = localPrograms.dead.filter((name) => !(apiAnswers && EXAMINED.includes(name)))
  return told.map((name) => ended(name, localPrograms))
}

const ended = (name: string, localPrograms: LocalPrograms): DoctorFinding =>
  fail(`${name}, which \`berth up\` started in ${localPrograms.dir}, has ended`, remedyFor(name, localPrograms))

const remedyFor = (name: string, { dir }: LocalPrograms): string =>
  `Read ${logOf(dir, name)}; \`${upAgain(dir)}\` starts it again.`

/** The operator is alive when the holder of its Lease renews it. */
export async function examineOperator({
  kube,
  namespace,
  now,
  localPrograms,
}: Pick<CheckContext, 'kube' | 'namespace' | 'now' | 'localPrograms'>): Promise<DoctorFinding> {
  const found = await findingOf('operator', localPrograms)
  if (found?.mark === 'fail') return found
  const lead = await findLeader(kube, namespace, now)
  if ('why' in lead) return fail(lead.why, lead.isSilent ? `Look at its log. ${START_OPERATOR}` : START_OPERATOR)
  const pods = (await kube.get(Deployments, { name: 'operator', namespace })) ? { kube, namespace } : undefined
  return findingOfLead(lead.leader, { localPrograms, pods })
}

/** Whoever was killed has the Lease for a while: where it can be known who is there, that one is not said to lead. */
async function findingOfLead(
  leader: Leader,
  { localPrograms, pods }: { localPrograms: LocalPrograms | undefined; pods: { kube: Kube; namespace: string } | undefined },
): Promise<DoctorFinding> {
  const { holder } = leader
  const own = localPrograms?.programs.find(({ name }) => name === 'operator')
  if (own && pods)
    return warn(
      `Berth runs twice for this cluster: in ${localPrograms?.dir} by \`berth up\`, and as Deployment ${pods.namespace}/operator; ${sayLeader(leader)}`,
      `End one of them, with \`berth down --dir ${localPrograms?.dir}\` or \`berth uninstall\`.`,
    )
  const isThere = own
    ? own.facts.identity === holder
    : !pods || (await pods.kube.get(Pods, { name: holder, namespace: pods.namespace })) !== undefined
  if (isThere) return ok(`${holder} leads, and renewed its Lease ${secondsSince(leader)} s ago`)
  const others = own ? `process ${own.pid} of ${localPrograms?.dir} waits for it` : `there is no such pod in ${pods?.namespace}`
  return warn(
    `${sayLeader(leader)}; ${others}`,
    'If that one has ended, another takes over within 30 s. If it runs elsewhere, Berth runs twice for this cluster: end one of them.',
  )
}

/** Deployments whose pods do not all run, with what the pods say. */
export const examineDeployments: Examination = async ({ kube, namespace }) => {
  const deployments = (await kube.list(Deployments, { namespace })).filter(({ metadata }) => DEPLOYED.includes(metadata.name))
  const findings = await Promise.all(deployments.map((deployment) => deploymentFinding(kube, deployment)))
  const bad = findings.filter(({ mark }) => mark !== 'ok')
  return bad.length > 0 || findings.length === 0
    ? bad
    : ok(`all pods run of ${findings.map(({ message }) => message).join(', ')}`)
}

const DEPLOYED = ['operator', 'kas', 'proxy', 'certificates']

async function deploymentFinding(kube: Kube, deployment: Deployment): Promise<DoctorFinding> {
  const { name, namespace } = deployment.metadata
  if (isRolledOut(deployment)) return ok(name)
  const trouble = await troubleOfPods(kube, deployment)
  const message = `${name} does not run as it should: ${trouble?.message ?? 'its pods are being started'}`
  const mark = deployment.status?.availableReplicas || !trouble ? warn : fail
  return mark(
    message,
    remedyForAbsent(trouble?.lacks ?? [], namespace ?? '') ??
      `Correct your values and run \`berth install --apply\`, or look at \`kubectl logs -n ${namespace} deployment/${name}${trouble?.hasRestarted ? ' --previous' : ''}\`.`,
  )
}

/** kas needs no Lease, since all replicas act: what shows that it lives is its Deployment, or that it looks at new projects. */
export const examineKas: Examination = async (context) => {
  const { kube, namespace } = context
  const deployment = await kube.get(Deployments, { name: 'kas', namespace })
  if (!deployment) return outsideKas(context)
  const available = deployment.status?.availableReplicas ?? 0
  if (available > 0) return ok(`${available} of ${deployment.status?.replicas ?? available} replicas are available`)
  return fail('no replica of its Deployment is available', `Run \`kubectl -n ${namespace} describe deployment kas\`.`)
}

async function outsideKas({ kube, namespace, now, localPrograms }: CheckContext): Promise<DoctorFinding> {
  const found = await findingOf('kas', localPrograms)
  if (found?.mark === 'fail') return found
  const projects = await kube.list(GitProjects)
  const ignored = projects.find(
    ({ metadata, status }) => !status?.conditions?.length && now - Date.parse(metadata.creationTimestamp ?? '') > minutes(1),
  )
  const start = 'Start it: `berth install --apply` with your values, or `berth kas` beside the cluster.'
  if (ignored) return fail(`nobody has looked at ${nameOf(ignored)} since it was created`, start)
  if (found) return found
  if (projects.some(({ status }) => status?.conditions?.length))
    return ok('it has looked at every GitProject; it runs outside of the cluster')
  return warn(`there is no Deployment ${namespace}/kas and no GitProject, so nothing shows whether it runs`, start)
}

/** The program that `berth up` started here is asked itself. */
async function findingOf(name: string, localPrograms: LocalPrograms | undefined): Promise<DoctorFinding | undefined> {
  const own = localPrograms?.programs.find((program) => program.name === name)
  if (!localPrograms || !own) return undefined
  if (!own.running) return ended(name, localPrograms)
  const what = `process ${own.pid} of ${localPrograms.dir}`
  const trouble = await whyNotReady(own.facts.operations ?? '')
  return trouble === undefined ? ok(`${what} is ready`) : fail(`${what} is not ready: ${trouble}`, remedyFor(name, localPrograms))
}

async function whyNotReady(address: string): Promise<string | undefined> {
  try {
    const answer = await fetch(`http://${address}/readyz`, { signal: AbortSignal.timeout(PROBE) })
    return answer.ok ? undefined : (await answer.text()).trim()
  } catch (thrown) {
    return `http://${address}/readyz: ${Failure.from(thrown).message}`
  }
}
