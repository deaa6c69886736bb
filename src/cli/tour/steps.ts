import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  ConfigMaps,
  Deployments,
  DeploymentTargetClaims,
  DeploymentTargets,
  GitOpsDeployments,
  GitProjects,
  Workspaces,
} from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import type { Installation } from '../local/installation.ts'
import { type Seen, type Stage, type Step, TEAM, until, untilGone } from './stage.ts'

/** Where the files of the tour lie, below the folder of Berth. */
const FILES = join('examples', 'tour')

/** In the files, in place of the address of the Git server that the tour starts. */
const PLACEHOLDER = 'http://git.example'

const claim = { namespace: TEAM, name: 'development' }
const shop = { namespace: TEAM, name: 'shop' }

/** The main job of Berth, from the claim to the second commit, in the order in which a person does it. */
export const stepsOf = ({ gitUrl, repositories }: Installation): readonly Step[] => [
  applied('offer a class of targets', '10-namespace.yaml', '20-class.yaml'),
  applied('claim a target', '30-claim.yaml'),
  applied('name it as an environment', '40-environment.yaml'),
  {
    title: 'make a repository',
    command: `git init --bare ${join(repositories, 'shop.git')}`,
    run: (stage) => makeRepository(stage),
  },
  withAddress('tell kas of a repository', '50-git-project.yaml', gitUrl),
  withAddress('deploy it to the environment', '60-deployment.yaml', gitUrl),
  {
    title: 'push the first commit',
    command: `git push ${gitUrl}/shop.git main`,
    run: (stage) => pushFirst(stage),
  },
  applied('ask for a workspace', '70-workspace.yaml'),
  {
    title: 'the claim is Bound',
    command: `kubectl wait -n ${TEAM} dtc/development --for=jsonpath='{.status.phase}'=Bound`,
    run: async (stage) => `to namespace ${await targetNamespace(stage)}`,
  },
  {
    title: 'the repository is read',
    command: `kubectl wait -n ${TEAM} gitproject/shop --for=condition=Ready`,
    run: (stage) =>
      until(
        stage,
        GitProjects,
        shop,
        ({ status }) => status?.refs?.[0] && `${status.refs[0].name} is ${short(status.refs[0].commit)}`,
      ),
  },
  {
    title: 'the pushed manifests run',
    command: `kubectl wait -n ${TEAM} gitopsdeployment/shop --for=jsonpath='{.status.health.status}'=Healthy`,
    run: (stage) => manifestsRun(stage),
  },
  {
    title: 'the workspace is Running',
    command: `kubectl wait -n ${TEAM} workspace/shop --for=jsonpath='{.status.actualState}'=Running`,
    run: (stage) =>
      until(stage, Workspaces, shop, ({ status }) =>
        status?.actualState === 'Running' ? (status.url ?? 'its Deployment is available') : undefined,
      ),
  },
  {
    title: 'push the second commit',
    command: `git push ${gitUrl}/shop.git main`,
    run: (stage) => pushSecond(stage),
  },
  {
    title: 'one object is changed',
    command: 'kubectl get configmap shop-settings -o yaml',
    run: (stage) => changed(stage),
  },
  {
    title: 'another is removed',
    command: 'kubectl get configmap shop-banner',
    run: (stage) => removed(stage),
  },
]

function applied(title: string, ...files: string[]): Step {
  const flags = files.flatMap((file) => ['-f', join(FILES, file)])
  const parameters = ['apply', '--server-side', ...flags]
  return {
    title,
    command: `kubectl ${parameters.join(' ')}`,
    run: async ({ kubectl }) => appliedLine(await kubectl(parameters)),
  }
}

function withAddress(title: string, file: string, gitUrl: string): Step {
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

async function makeRepository({ git, workingCopy, installation }: Stage): Promise<string> {
  mkdirSync(workingCopy, { recursive: true })
  await git('init', '--quiet', '--bare', '--initial-branch=main', join(installation.repositories, 'shop.git'))
  return `${installation.gitUrl}/shop.git`
}

async function pushFirst(stage: Stage): Promise<string> {
  const { git, shell, workingCopy } = stage
  await git('init', '--quiet', '--initial-branch=main')
  cpSync(join(shell.home, FILES, 'shop'), workingCopy, { recursive: true })
  return push(stage, 'Open the shop')
}

/** Changes the settings and removes the banner. */
async function pushSecond(stage: Stage): Promise<string> {
  const { git, shell, workingCopy } = stage
  cpSync(join(shell.home, FILES, 'shop-second-commit'), workingCopy, { recursive: true })
  await git('rm', '--quiet', 'overlays/development/banner.yaml')
  return push(stage, 'Greet anew, take the banner down')
}

async function push({ git, installation }: Stage, message: string): Promise<string> {
  await git('add', '--all')
  await git('commit', '--quiet', '--message', message)
  await git('push', '--quiet', `${installation.gitUrl}/shop.git`, 'main')
  return short((await git('rev-parse', 'HEAD')).trim())
}

const short = (commit: string): string => commit.slice(0, 10)

/** The namespace behind the claim. */
async function targetNamespace(stage: Stage): Promise<string> {
  const target = await until(stage, DeploymentTargetClaims, claim, ({ spec, status }) =>
    status?.phase === 'Bound' ? spec.targetName : undefined,
  )
  const found = await stage.kube.get(DeploymentTargets, { namespace: TEAM, name: target })
  if (!found) throw new Failure('not-found', `the claim is Bound, but there is no DeploymentTarget ${TEAM}/${target}`)
  return found.spec.kubernetesCredentials.defaultNamespace
}

async function manifestsRun(stage: Stage): Promise<string> {
  await until(stage, GitOpsDeployments, shop, ({ status }) => (status?.sync?.status === 'Synced' ? true : undefined))
  const namespace = await targetNamespace(stage)
  const pods = await until(stage, Deployments, { namespace, name: 'shop' }, ({ status }) => {
    const available = status?.conditions?.find(({ type }) => type === 'Available')
    return available?.status === 'True' ? status?.availableReplicas : undefined
  })
  await until(stage, GitOpsDeployments, shop, ({ status }) => (status?.health?.status === 'Healthy' ? true : undefined))
  return `Deployment ${namespace}/shop has ${pods} pods available`
}

async function changed(stage: Stage): Promise<Seen> {
  const namespace = await targetNamespace(stage)
  const greeting = await until(stage, ConfigMaps, { namespace, name: 'shop-settings' }, ({ data }) =>
    data?.GREETING?.includes('second') ? data.GREETING : undefined,
  )
  return {
    text: `ConfigMap shop-settings says "${greeting}"`,
    command: `kubectl get -n ${namespace} configmap/shop-settings -o yaml`,
  }
}

async function removed(stage: Stage): Promise<Seen> {
  const namespace = await targetNamespace(stage)
  await untilGone(stage, ConfigMaps, { namespace, name: 'shop-banner' })
  return { text: 'ConfigMap shop-banner is gone', command: `kubectl get -n ${namespace} configmap/shop-banner` }
}

/** What the tour made in a cluster that stays: what depends on something goes before it. */
export const TRACES = [
  '70-workspace.yaml',
  '60-deployment.yaml',
  '50-git-project.yaml',
  '40-environment.yaml',
  '30-claim.yaml',
  '20-class.yaml',
  '10-namespace.yaml',
].map((file) => join(FILES, file))
