import type { Kube } from '../../adapters/kube/index.ts'
import { labels, type Pod, Pods, type Workspace } from '../../api/index.ts'
import { Failure, isFailure } from '../../std/index.ts'

interface PodPlace {
  target: Kube
  /** The namespace there. */
  home: string
}

/** The pod that was made last for a workspace, of those that are meant. A target may have any number of them: one is kept. */
export async function youngestPodOf(
  workspace: Workspace,
  { target, home }: PodPlace,
  signal?: AbortSignal,
  isMeant: (pod: Pod) => boolean = () => true,
): Promise<Pod | undefined> {
  const query = { namespace: home, labels: `${labels.workspaceUid}=${workspace.metadata.uid}` }
  let youngest: Pod | undefined
  for await (const page of target.pages(Pods, query, signal))
    for (const pod of page) if (isMeant(pod) && (!youngest || bornOf(pod) > bornOf(youngest))) youngest = pod
  return youngest
}

const bornOf = ({ metadata }: Pod): string => metadata.creationTimestamp ?? ''

/** Whether it has the people's first container in it: others of a workspace have a pod of their own. */
export const isMainPod = ({ metadata }: Pod): boolean => (metadata.labels?.[labels.workspacePart] ?? MAIN) === MAIN

const MAIN = 'main'

/** The container that people work in: the first one that Berth has not put there. */
export function firstContainerOf({ spec }: Pod): string | undefined {
  const names = (spec?.containers ?? []).map(({ name }) => name)
  return names.find((name) => !name.startsWith('berth-')) ?? names[0]
}

/** Goes on as a shell in the project: the one that the image or the devfile names, the best one that is there otherwise. */
export const SHELL_SCRIPT = `cd "\${PROJECT_SOURCE:-.}" 2>/dev/null
for each in "\${SHELL:-bash}" bash sh; do command -v "$each" >/dev/null 2>&1 && exec "$each"; done`

/** In the order in which they begin. What has not begun has no log, and without a run before the last one there is none of it. */
export function containersOf({ spec, status }: Pod): { name: string; hasBegun: boolean; hasRunBefore: boolean }[] {
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const states = new Map(statuses.map((each) => [each.name, each]))
  return all.map(({ name }) => {
    const found = states.get(name)
    const hasBegun = Boolean(found?.state?.running || found?.state?.terminated || found?.lastState?.terminated)
    return { name, hasBegun, hasRunBefore: found?.lastState?.terminated !== undefined }
  })
}

interface ContainerLog extends PodPlace {
  pod: string
  container: string
}

/** `query` as the API has it: `tailLines=20&follow=true`. */
export const linesOfLog = (
  { target, home, pod, container }: ContainerLog,
  query: string,
  signal?: AbortSignal,
): Promise<AsyncIterable<string>> =>
  target
    .stream(`/api/v1/namespaces/${home}/pods/${pod}/log?container=${encodeURIComponent(container)}&${query}`, {
      signal,
      about: `the log of container ${container}`,
      accept: '*/*',
    })
    .catch((thrown: unknown) => Promise.reject(isOfNoAddress(thrown) ? simulated(pod, thrown) : thrown))

/** The API server's words for a node that has no kubelet to be asked. */
const isOfNoAddress = (thrown: unknown): boolean => isFailure(thrown) && thrown.message.includes('no preferred addresses found')

/** Nothing runs there that could say anything, or let somebody in. */
export const isOfSimulatedNode = (thrown: unknown): boolean => isFailure(thrown) && isOfNoAddress(thrown.cause)

const simulated = (pod: string, cause: unknown): Failure =>
  new Failure('not-found', `the node of Pod ${pod} has no address, as simulated nodes (kwok) have none, so there are no logs`, {
    remedy:
      'Nothing runs on a simulated node, as `berth up` has them; use a real one to see logs, such as that of `berth up --node`.',
    cause,
  })
