import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  ConfigMaps,
  Deployments,
  DeploymentTargetClaims,
  DeploymentTargets,
  GitOpsDeployments,
  GitProjects,
  Namespaces,
  Previews,
  type Ref,
  Workspaces,
} from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { hasSimulatedPods, type Installation } from '../local/installation.ts'
import { type StepResult, TEAM, type TourContext, until, untilAnswered, untilGone } from './context.ts'

/** The folder of the tour's files, below that of Berth. */
const FILES = join('examples', 'tour')

/** In the files, in place of the address of the Git server that the tour starts. */
const PLACEHOLDER = 'http://git.example'

const claim = { namespace: TEAM, name: 'development' }
const example = { namespace: TEAM, name: 'shop' }

/** Its manifests are those of main, in another overlay: a person would change them. */
const BRANCH = 'feature/cart'

interface TourStep {
  /** A claim that the step makes true, as a person wants it. */
  title: string
  /** A person would type this. */
  command: string
  /** Makes it true; answers what is to be seen. */
  run: (context: TourContext) => Promise<string | StepResult>
}

/** The main job of Berth, from the claim to an environment for a branch, in the order in which a person does it. */
export const stepsOf = (installation: Installation): readonly TourStep[] => [...jobOf(installation), ...branchOf(installation)]

const jobOf = ({ gitUrl, gitUrlForPods, hasNode, repositories }: Installation): readonly TourStep[] => [
  applied('offer a class of targets', '10-namespace.yaml', '20-class.yaml'),
  applied('claim a target', '30-claim.yaml'),
  applied('name it as an environment', '40-environment.yaml'),
  { title: 'make a repository', command: `git init --bare ${join(repositories, 'shop.git')}`, run: makeRepository },
  withAddress('tell kas of a repository', '50-git-project.yaml', gitUrlForPods),
  withAddress('deploy it to the environment', '60-deployment.yaml', gitUrlForPods),
  { title: 'push the first commit', command: `git push ${gitUrl}/shop.git main`, run: pushFirst },
  applied('ask for a workspace', '70-workspace.yaml'),
  {
    title: 'the claim is Bound',
    command: `kubectl wait -n ${TEAM} dtc/development --for=jsonpath='{.status.phase}'=Bound`,
    run: async (context) => `to namespace ${await targetNamespace(context)}`,
  },
  {
    title: 'the repository is read',
    command: `kubectl wait -n ${TEAM} gitproject/shop --for=condition=Ready`,
    run: (context) =>
      until(
        context,
        GitProjects,
        example,
        ({ status }) => status?.refs?.[0] && `${status.refs[0].name} is ${short(status.refs[0].commit)}`,
      ),
  },
  {
    title: 'the pushed manifests run',
    command: `kubectl wait -n ${TEAM} gitopsdeployment/shop --for=jsonpath='{.status.health.status}'=Healthy`,
    run: manifestsRun,
  },
  ...(hasNode ? [{ title: 'the shop answers', command: 'kubectl exec deploy/shop', run: askService }] : []),
  {
    title: 'the workspace is Running',
    command: `kubectl wait -n ${TEAM} workspace/shop --for=jsonpath='{.status.actualState}'=Running`,
    run: (context) =>
      until(context, Workspaces, example, ({ status }) =>
        status?.actualState === 'Running' ? (status.url ?? 'its Deployment is available') : undefined,
      ),
  },
  { title: 'push the second commit', command: `git push ${gitUrl}/shop.git main`, run: pushSecond },
  { title: 'one object is changed', command: 'kubectl get configmap shop-settings -o yaml', run: changed },
  { title: 'another is removed', command: 'kubectl get configmap shop-banner', run: removed },
]

const branchOf = ({ gitUrl, hasNode }: Installation): readonly TourStep[] => [
  applied('ask for an environment of each branch', '80-preview.yaml'),
  { title: 'push a branch', command: `git push ${gitUrl}/shop.git main:${BRANCH}`, run: pushBranch },
  { title: 'the branch has its environment', command: `berth preview list shop -n ${TEAM}`, run: branchRuns },
  ...(hasNode ? [{ title: 'the branch answers', command: 'kubectl exec deploy/shop', run: askBranch }] : []),
  { title: 'open it', command: `berth preview open shop ${BRANCH} -n ${TEAM}`, run: openBranch },
  { title: 'delete the branch', command: `git push ${gitUrl}/shop.git --delete ${BRANCH}`, run: deleteBranch },
]

function applied(title: string, ...files: string[]): TourStep {
  const flags = files.flatMap((file) => ['-f', join(FILES, file)])
  const parameters = ['apply', '--server-side', ...flags]
  return {
    title,
    command: `kubectl ${parameters.join(' ')}`,
    run: async ({ kubectl }) => appliedLine(await kubectl(parameters)),
  }
}

function withAddress(title: string, file: string, gitUrl: string): TourStep {
  const path = join(FILES, file)
  return {
    title,
    command: `sed s,${PLACEHOLDER},${gitUrl}, ${path} | kubectl apply --server-side -f -`,
    run: async ({ kubectl, shell }) => {
      const text = readFileSync(join(shell.home, path), 'utf8').replaceAll(PLACEHOLDER, gitUrl)
      return appliedLine(await kubectl(['apply', '--server-side', '-f', '-'], text))
    },
  }
}

/** kubectl's own words, of several objects the last one's. */
const appliedLine = (printed: string): string => printed.trim().split('\n').at(-1)?.replace(' serverside-applied', '') ?? ''

async function makeRepository({ git, workingCopy, installation }: TourContext): Promise<string> {
  mkdirSync(workingCopy, { recursive: true })
  await git('init', '--quiet', '--bare', '--initial-branch=main', join(installation.repositories, 'shop.git'))
  return `${installation.gitUrl}/shop.git`
}

async function pushFirst(context: TourContext): Promise<string> {
  const { git, shell, workingCopy } = context
  await git('init', '--quiet', '--initial-branch=main')
  cpSync(join(shell.home, FILES, 'shop'), workingCopy, { recursive: true })
  return push(context, 'Open the shop')
}

/** Changes the settings and removes the banner. */
async function pushSecond(context: TourContext): Promise<string> {
  const { git, shell, workingCopy } = context
  cpSync(join(shell.home, FILES, 'shop-second-commit'), workingCopy, { recursive: true })
  await git('rm', '--quiet', 'overlays/development/banner.yaml')
  return push(context, 'Greet anew, take the banner down')
}

async function push({ git, installation }: TourContext, message: string): Promise<string> {
  await git('add', '--all')
  await git('commit', '--quiet', '--message', message)
  await git('push', '--quiet', `${installation.gitUrl}/shop.git`, 'main')
  return short((await git('rev-parse', 'HEAD')).trim())
}

const short = (commit: string): string => commit.slice(0, 10)

/** The namespace behind the claim. */
async function targetNamespace(context: TourContext, ref: Ref = claim): Promise<string> {
  const target = await until(context, DeploymentTargetClaims, ref, ({ spec, status }) =>
    status?.phase === 'Bound' ? spec.targetName : undefined,
  )
  const found = await context.kube.get(DeploymentTargets, { namespace: TEAM, name: target })
  if (!found) throw new Failure('not-found', `the claim is Bound, but there is no DeploymentTarget ${TEAM}/${target}`)
  return found.spec.kubernetesCredentials.defaultNamespace
}

async function manifestsRun(context: TourContext): Promise<string> {
  await until(context, GitOpsDeployments, example, ({ status }) => (status?.sync?.status === 'Synced' ? true : undefined))
  const namespace = await targetNamespace(context)
  const pods = await until(context, Deployments, { namespace, name: 'shop' }, ({ status }) => {
    const available = status?.conditions?.find(({ type }) => type === 'Available')
    return available?.status === 'True' ? status?.availableReplicas : undefined
  })
  await until(context, GitOpsDeployments, example, ({ status }) => (status?.health?.status === 'Healthy' ? true : undefined))
  const simulated = hasSimulatedPods(context.installation) ? ', simulated by kwok: nothing runs in them' : ''
  return `Deployment ${namespace}/shop has ${pods} pods available${simulated}`
}

/** A pod asks the Service of its namespace, by its name: nodes learn where a Service leads a moment after its pods are ready. */
async function askService(context: TourContext, ref?: Ref): Promise<StepResult> {
  const namespace = await targetNamespace(context, ref)
  // wget has an option for it, with which Debian's crashes.
  const words = ['exec', '-n', namespace, 'deploy/shop', '--', 'timeout', '5', 'wget', '-qO-', 'http://shop']
  const text = await untilAnswered(context, words)
  return { text: `"${text.trim()}"`, command: `kubectl ${words.join(' ')}` }
}

async function changed(context: TourContext): Promise<StepResult> {
  const namespace = await targetNamespace(context)
  const greeting = await until(context, ConfigMaps, { namespace, name: 'shop-settings' }, ({ data }) =>
    data?.GREETING?.includes('second') ? data.GREETING : undefined,
  )
  return {
    text: `ConfigMap shop-settings says "${greeting}"`,
    command: `kubectl get -n ${namespace} configmap/shop-settings -o yaml`,
  }
}

async function removed(context: TourContext): Promise<StepResult> {
  const namespace = await targetNamespace(context)
  await untilGone(context, ConfigMaps, { namespace, name: 'shop-banner' })
  return { text: 'ConfigMap shop-banner is gone', command: `kubectl get -n ${namespace} configmap/shop-banner` }
}

async function pushBranch({ git, installation }: TourContext): Promise<string> {
  await git('push', '--quiet', `${installation.gitUrl}/shop.git`, `main:${BRANCH}`)
  return BRANCH
}

/** Claim, Environment and GitOpsDeployment of the branch have one name. */
const branchEnvironment = async (context: TourContext): Promise<Ref> => {
  const name = await until(context, Previews, example, ({ status }) => {
    const entry = status?.environments?.find(({ branch }) => branch === BRANCH)
    return entry?.ready ? entry.name : undefined
  })
  return { namespace: TEAM, name }
}

async function branchRuns(context: TourContext): Promise<string> {
  const environment = await branchEnvironment(context)
  return `${environment.name} is Ready, in namespace ${await targetNamespace(context, environment)}`
}

const askBranch = async (context: TourContext): Promise<StepResult> => askService(context, await branchEnvironment(context))

async function openBranch({ berth }: TourContext): Promise<StepResult> {
  const words = ['preview', 'open', 'shop', BRANCH, '-n', TEAM, '--print']
  return { text: (await berth(words)).trim(), command: `berth ${words.join(' ')}` }
}

async function deleteBranch(context: TourContext): Promise<string> {
  const name = await targetNamespace(context, await branchEnvironment(context))
  await context.git('push', '--quiet', `${context.installation.gitUrl}/shop.git`, '--delete', BRANCH)
  await untilGone(context, Namespaces, { name })
  return `namespace ${name} is gone with it`
}

/** The files of what the tour made in a cluster that stays: what depends on something goes before it. */
export const tourFiles = (home: string): string[] =>
  readdirSync(join(home, FILES))
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .reverse()
    .map((name) => join(FILES, name))
