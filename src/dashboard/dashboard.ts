import { type Cache, createAnswers, type Kube, type Memory } from '../adapters/kube/index.ts'
import { Previews, type Workspace, Workspaces } from '../api/index.ts'
import type { TargetReach } from '../engines/lookout/index.ts'
import type { Permissions } from '../engines/permissions/index.ts'
import { type Clock, createYamlReaders, Failure, isFailure, type Log, type YamlReaders } from '../std/index.ts'
import { isAction, runAction } from './actions.ts'
import { type ConnectionSources, connectionsView, maySeeConnections } from './connections.ts'
import { createWorkspace, newPage } from './create.ts'
import { deploymentView } from './deployment.ts'
import { isDeploymentAction, runDeploymentAction } from './deployment-actions.ts'
import { createLive, type Live } from './live.ts'
import { messagePage, type PageContent, type PageFrame, redirectTo, renderPage } from './page.ts'
import { type DashboardRequest, type Impersonate, isFromOwnPage, type Reply, type SignedInUser } from './ports.ts'
import { previewView } from './preview.ts'
import { endPage, isPreviewAction, runPreviewAction } from './preview-actions.ts'
import { kindView } from './sections.ts'
import { createSharedCaches, type SharedCaches } from './shared-caches.ts'
import { readStaticFiles } from './static-files.ts'
import type { LiveView } from './view.ts'
import { listView, pathOf, type RowMemory } from './workspace-list.ts'
import { eventsView, logsView } from './workspace-logs.ts'
import { removalPage, workspaceView } from './workspace-view.ts'

interface DashboardOptions {
  /** Where browsers find it: `https://sign-in.example.com`. */
  origin: string
  /** As the program that runs the dashboard. */
  kube: Kube
  as: Impersonate
  workspaces: Cache<Workspace>
  /** By the roles of the cluster. */
  permissions: Permissions
  connections: ConnectionSources
  /** One namespace, or all. */
  scope: string | undefined
  /** Shared with the other caches of the program. */
  memory: Memory
  /** Targets may not lie in the networks of the machine itself. */
  refusesLocal: boolean
  clock: Clock
  log: Log
}

interface Services extends DashboardOptions {
  rows: RowMemory
  live: Live
  files: Awaited<ReturnType<typeof readStaticFiles>>
  shared: SharedCaches
  reach: TargetReach
  yaml: YamlReaders
}

export type Dashboard = Awaited<ReturnType<typeof createDashboard>>

export async function createDashboard(options: DashboardOptions) {
  const { kube, scope, memory, refusesLocal, clock, log } = options
  const shared = createSharedCaches({ kube, clock, log, scope, memory })
  const reach: TargetReach = { reach: { refuseLocal: refusesLocal, own: kube.server, answers: createAnswers() } }
  const live = createLive({ clock, log })
  const files = await readStaticFiles()
  const services: Services = {
    ...options,
    rows: new WeakMap(),
    live,
    files,
    shared,
    reach,
    yaml: createYamlReaders(),
  }
  return {
    /** Answers whatever somebody asks for; of failures it says what they are about. */
    async answer(request: DashboardRequest): Promise<Reply> {
      const frame = await frameFor(services, request)
      const found = await answerTo(services, request).catch((thrown: unknown) => failed(log, request, Failure.from(thrown)))
      return 'content' in found ? renderPage(request, found, frame) : found
    },
    /** Pages that are kept up to date just now. */
    get viewers() {
      return live.size
    },
    /** Ends what is kept up to date: browsers begin anew elsewhere. */
    hangUp: () => live.stop(),
    async stop() {
      live.stop()
      await shared.stop()
    },
  }
}

/** Platform engineers find one page more. That it cannot be decided is said by what follows. */
async function frameFor(services: Services, { user, url }: DashboardRequest): Promise<PageFrame> {
  const { files } = services
  if (files.at(url.pathname) || url.pathname === '/live') return files.paths
  const isEngineer = await maySeeConnections(services, user.person).catch(() => false)
  return { ...files.paths, isEngineer }
}

async function answerTo(services: Services, request: DashboardRequest): Promise<Reply | PageContent> {
  const { method, url, user } = request
  const { files, live, origin, clock } = services
  const file = files.at(url.pathname)
  if (file) return file
  if (method === 'POST') return doAsAsked(services, request)
  if (isLoadedFromElsewhere(request)) return FROM_ELSEWHERE
  if (method !== 'GET' && method !== 'HEAD') return NO_SUCH_METHOD
  if (url.pathname === '/live') {
    const page = URL.parse(url.searchParams.get('page') ?? '/', origin)
    const view = page?.origin === origin ? await viewAt(services, user, page) : undefined
    return view ? live.follow(user, view) : NOT_HERE
  }
  const now = clock.now()
  const view = await viewAt(services, user, url)
  return view ? view.page(await view.fragments(now, request.leaves)) : ((await unchangingPage(services, user, url)) ?? NOT_HERE)
}

async function viewAt(services: Services, user: SignedInUser, url: URL): Promise<LiveView | undefined> {
  if (url.pathname === '/') return listView(services, user, url)
  if (url.pathname === '/connections') return connectionsView(services, user)
  const { kind, ref, word } = placeIn(url)
  if (!ref) return kindView(services, user, url)
  if (kind === 'deployments') return word === '' ? deploymentView(services, user, ref) : undefined
  if (kind === 'previews') return word === '' ? previewView(services, user, ref) : undefined
  if (word === '') return workspaceView(services, user, ref)
  if (word !== 'logs' && word !== 'events') return undefined
  // Only the cluster in which it runs knows these; it is asked in the name of the person who looks.
  const kube = services.as(user.person)
  const workspace = await kube.get(Workspaces, ref)
  const { reach, clock } = services
  return workspace && { logs: logsView, events: eventsView }[word]({ kube, reach, clock }, workspace)
}

/** Finds pages that do not change while somebody looks. */
async function unchangingPage(services: Services, user: SignedInUser, url: URL): Promise<PageContent | undefined> {
  const kube = services.as(user.person)
  if (url.pathname === '/new') return newPage({ ...services, kube, user }, url.searchParams)
  const { kind, ref, word } = placeIn(url)
  if (!ref || kind === 'deployments' || word !== 'delete') return
  if (kind === 'previews') {
    const preview = await kube.get(Previews, ref)
    return preview && endPage(preview, url.searchParams.get('environment') ?? '')
  }
  const workspace = await kube.get(Workspaces, ref)
  return workspace && removalPage(workspace)
}

function placeIn({ pathname }: URL) {
  const [, kind = '', namespace, name, word = ''] = PLACE.exec(pathname) ?? []
  return { kind, ref: namespace !== undefined && name !== undefined ? { namespace, name } : undefined, word }
}

async function doAsAsked(services: Services, request: DashboardRequest): Promise<Reply | PageContent> {
  const { origin, connections, clock } = services
  const { url, user } = request
  const now = clock.now()
  const { kind, ref, word } = placeIn(url)
  if (!(['/connections/sign-out', '/new'].includes(url.pathname) || (ref && isActionOf(kind, word)))) return NOT_HERE
  if (!isFromOwnPage(request, origin)) return FROM_ELSEWHERE
  const form = await request.form()
  const kube = services.as(user.person)
  if (url.pathname === '/connections/sign-out') {
    const name = form.get('user') ?? ''
    if (name !== '') await connections.signOut(kube, name)
    return redirectTo('/connections')
  }
  if (!ref) return createAsAsked({ ...services, kube, user }, form)
  const uid = form.get('uid') ?? ''
  if (kind === 'deployments') {
    await runDeploymentAction(word, { kube, ref, uid, revision: form.get('revision') ?? '', now })
    return redirectTo(`/deployments/${ref.namespace}/${ref.name}`)
  }
  if (kind === 'previews') {
    await runPreviewAction(word, { kube, ref, form })
    return redirectTo(`/previews/${ref.namespace}/${ref.name}`)
  }
  await runAction(word, { kube, ref, uid, form, now })
  return redirectTo(form.get('from') === 'page' ? `/workspaces/${ref.namespace}/${ref.name}` : '/')
}

function isActionOf(kind: string, word: string): boolean {
  if (kind === 'deployments') return isDeploymentAction(word)
  return kind === 'previews' ? isPreviewAction(word) : isAction(word)
}

/** Mistakes in a form are said above it, and what was written in it stays. */
async function createAsAsked(creation: Parameters<typeof newPage>[0], form: URLSearchParams): Promise<Reply | PageContent> {
  try {
    return redirectTo(pathOf(await createWorkspace(creation, form)))
  } catch (thrown) {
    if (!isFailure(thrown, 'invalid', 'already-exists', 'forbidden', 'conflict')) throw thrown
    return newPage(creation, form, thrown.message.split('\n'))
  }
}

/** Names as Kubernetes has them: nothing in them means anything in a path. */
const PLACE = /^\/(workspaces|deployments|previews)\/([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})(?:\/([a-z]{1,20}))?$/

/** Other sites may lead here, and load nothing from here: it could not be read, but it would cost. */
const isLoadedFromElsewhere = ({ headers }: DashboardRequest): boolean =>
  headers['sec-fetch-mode'] !== 'navigate' && !['same-origin', 'none', undefined].includes(headers['sec-fetch-site']?.toString())

const NOT_HERE = messagePage('There is nothing here', 404, [
  'Either it does not exist, or the roles of this cluster do not let you see it.',
])
const FROM_ELSEWHERE = messagePage('That came from another site', 403, ['Nothing was done. Use the buttons on these pages.'])
const NO_SUCH_METHOD = messagePage('That is not how this page is asked for', 405, ['Nothing was done.'])

/** The API server's answer to somebody's own request is theirs to read; failures of our own are in the log. */
function failed(log: Log, { requestId, url }: DashboardRequest, failure: Failure): PageContent {
  const { message, remedy } = failure
  const said = [message, ...(remedy === undefined ? [] : [remedy])].map((line) => (line.endsWith('.') ? line : `${line}.`))
  if (isFailure(failure, 'forbidden', 'unauthorized')) return messagePage('You may not do that', 403, said)
  if (isFailure(failure, 'not-found')) return messagePage('It is not there any more', 404, said)
  if (isFailure(failure, 'conflict', 'already-exists')) return messagePage('It has changed meanwhile', 409, said)
  if (isFailure(failure, 'invalid')) return messagePage('That cannot be done', 422, said)
  if (isFailure(failure, 'too-large')) return messagePage('That is too long', 413, said)
  log.error('A page could not be made', { request: requestId, path: url.pathname, error: failure })
  if (isFailure(failure, 'unavailable', 'timeout', 'cancelled', 'expired'))
    return messagePage('The cluster does not answer just now', 503, ['Try again in a moment.'])
  return messagePage('Something went wrong here', 500, ['The cause is in the log, under the number below.'])
}
