import { type Cache, createAnswers, createCaches, type Kube, type Memory } from '../adapters/kube/index.ts'
import { type Ref, type Workspace, Workspaces } from '../api/index.ts'
import type { Sight } from '../engines/lookout/index.ts'
import { type Clock, createYamlTreeReader, Failure, isFailure, type Log, type ReadYamlTree } from '../std/index.ts'
import { act, isAction } from './actions.ts'
import { readShelf, type Shelf } from './assets.ts'
import { connectionsView, maySeeConnections, type Roll } from './connections.ts'
import { make, newPage, type Workbench } from './create.ts'
import { deploymentView, synchronise } from './deployment.ts'
import { kindView } from './kinds.ts'
import { createLibrary, type Library } from './library.ts'
import { listView, pathOf, type Stock } from './list.ts'
import { createLive, type Live } from './live.ts'
import { type Frame, notice, onTo, type Page, pageFor } from './page.ts'
import type { Answer, As, Guest, Question } from './ports.ts'
import { createRights } from './rights.ts'
import type { View } from './view.ts'
import { eventsView, logsView, removalPage, workspaceView } from './workspace/index.ts'

export interface DashboardOptions {
  /** Where browsers find it: `https://sign-in.example.com`. */
  origin: string
  /** As whoever runs the dashboard. */
  kube: Kube
  /** The same server as somebody else. */
  as: As
  workspaces: Cache<Workspace>
  /** Who is connected. */
  roll: Roll
  /** One namespace, or all. */
  scope?: string | undefined
  /** Shared with the other caches of the program. */
  memory?: Memory | undefined
  /** Targets may not lie in the networks of the machine itself. */
  refusesLocal: boolean
  clock: Clock
  log: Log
}

export interface Dashboard {
  /** Answers whatever a guest asks for; of failures it says what they are about. */
  answer(question: Question): Promise<Answer>
  /** Pages that are kept up to date just now. */
  readonly viewers: number
  /** Ends what is kept up to date: browsers begin anew elsewhere. */
  hangUp(): void
  stop(): Promise<void>
}

interface House {
  origin: string
  stock: Stock
  as: As
  live: Live
  shelf: Shelf
  frame: Frame
  sight: Sight
  library: Library
  roll: Roll
  clock: Clock
  log: Log
  yaml: ReadYamlTree
}

export async function createDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { origin, kube, as, workspaces, roll, scope, memory, refusesLocal, clock, log } = options
  const shelf = await readShelf()
  const caches = createCaches({ kube, clock, log, scope, memory })
  const library = createLibrary({ kube, clock, log, scope, memory: caches.memory })
  const rights = createRights({ kube, caches, clock })
  const sight: Sight = { reach: { refuseLocal: refusesLocal, own: kube.server, answers: createAnswers() } }
  const live = createLive({ clock, log })
  const house: House = {
    origin,
    stock: { workspaces, rights, rows: new WeakMap() },
    as,
    live,
    shelf,
    frame: shelf.paths,
    sight,
    library,
    roll,
    clock,
    log,
    yaml: createYamlTreeReader(),
  }
  return {
    async answer(question) {
      const framed = { ...house, frame: await frameFor(house, question) }
      try {
        return await answerTo(framed, question, clock.now())
      } catch (thrown) {
        return failed(framed, question, Failure.from(thrown))
      }
    },
    get viewers() {
      return live.size
    },
    hangUp: () => live.stop(),
    async stop() {
      live.stop()
      rights.stop()
      await Promise.all([caches.stop(), library.stop()])
    },
  }
}

/** Platform engineers find one page more. That it cannot be decided is said by what follows. */
async function frameFor({ shelf, roll, stock: { rights } }: House, { guest, url }: Question): Promise<Frame> {
  if (shelf.at(url.pathname) || url.pathname === '/live') return shelf.paths
  const isEngineer = await maySeeConnections(roll, rights, guest.person).catch(() => false)
  return { ...shelf.paths, isEngineer }
}

async function answerTo(house: House, question: Question, now: number): Promise<Answer> {
  const { method, url, guest } = question
  const { shelf, live, frame } = house
  const file = shelf.at(url.pathname)
  if (file) return file
  if (method === 'POST') return await doAsAsked(house, question, now)
  if (isLookedAtFromElsewhere(question)) return pageFor(question, FOREIGN, frame)
  if (method !== 'GET' && method !== 'HEAD') return pageFor(question, NO_SUCH_METHOD, frame)
  if (url.pathname === '/live') {
    const page = URL.parse(url.searchParams.get('page') ?? '/', house.origin)
    const view = page?.origin === house.origin ? await viewAt(house, guest, page) : undefined
    return view ? live.follow(guest, view) : pageFor(question, NOT_HERE, frame)
  }
  const view = await viewAt(house, guest, url)
  if (!view) return pageFor(question, (await asked(house, guest, url)) ?? NOT_HERE, frame)
  return pageFor(question, view.page(await view.fragments(now)), frame)
}

async function viewAt(house: House, guest: Guest, url: URL): Promise<View | undefined> {
  const { stock } = house
  if (url.pathname === '/') return listView(stock, guest, url)
  const { kind, ref, word } = placeIn(url)
  const shelves = { library: house.library, rights: stock.rights }
  if (url.pathname === '/connections') return connectionsView(house.roll, { rights: stock.rights, clock: house.clock }, guest)
  if (!ref) return kindView(shelves, guest, url)
  if (kind === 'deployments') return word === '' ? deploymentView(shelves, guest, ref) : undefined
  if (word === '') return workspaceView(stock, guest, ref)
  return word === 'logs' || word === 'events' ? watchedView(house, guest, ref, word) : undefined
}

/** Of what only the cluster in which it runs knows; that is asked in the name of whoever looks. */
async function watchedView({ as, sight, clock }: House, { person }: Guest, ref: Ref, word: 'logs' | 'events') {
  const kube = as(person)
  const workspace = await kube.get(Workspaces, ref)
  return workspace && { logs: logsView, events: eventsView }[word]({ kube, sight, clock }, workspace)
}

/** Pages that do not change while somebody looks. */
async function asked(house: House, guest: Guest, url: URL): Promise<Page | undefined> {
  const { as } = house
  const { person } = guest
  if (url.pathname === '/new') return newPage(workbenchOf(house, guest), url.searchParams)
  const { kind, ref, word } = placeIn(url)
  if (!ref || kind !== 'workspaces' || word !== 'delete') return
  const workspace = await as(person).get(Workspaces, ref)
  return workspace && removalPage(workspace)
}

const workbenchOf = ({ as, library, stock: { rights }, yaml }: House, guest: Guest): Workbench => ({
  ...{ library, rights, guest, yaml },
  kube: as(guest.person),
})

/** What is wrong with a form is said above it, and what was written in it stays. */
async function makeAsAsked(house: House, question: Question): Promise<Answer> {
  const form = await question.form()
  const bench = workbenchOf(house, question.guest)
  try {
    return onTo(pathOf(await make(bench, form)))
  } catch (thrown) {
    if (!isFailure(thrown, 'invalid', 'already-exists', 'forbidden', 'conflict')) throw thrown
    return pageFor(question, await newPage(bench, form, thrown.message.split('\n')), house.frame)
  }
}

function placeIn({ pathname }: URL) {
  const [, kind = '', namespace, name, word = ''] = PLACE.exec(pathname) ?? []
  return { kind, ref: namespace !== undefined && name !== undefined ? { namespace, name } : undefined, word }
}

async function doAsAsked(house: House, question: Question, now: number): Promise<Answer> {
  const { as, frame } = house
  const { url, guest } = question
  if (url.pathname === '/connections/sign-out') return signOutAsAsked(house, question)
  const { kind, ref, word } = placeIn(url)
  const isKnown = kind === 'deployments' ? word === 'sync' : isAction(word)
  if (!(url.pathname === '/new' || (ref && isKnown))) return pageFor(question, NOT_HERE, frame)
  if (!isOwnWish(house, question)) return pageFor(question, FOREIGN, frame)
  if (!ref) return makeAsAsked(house, question)
  const form = await question.form()
  if (kind === 'deployments') {
    await synchronise(as(guest.person), ref, form.get('uid') ?? '', now)
    return onTo(`/deployments/${ref.namespace}/${ref.name}`)
  }
  await act(word, { kube: as(guest.person), ref, uid: form.get('uid') ?? '', now })
  return onTo(form.get('from') === 'page' ? `/workspaces/${ref.namespace}/${ref.name}` : '/')
}

async function signOutAsAsked(house: House, question: Question): Promise<Answer> {
  const { as, roll, frame } = house
  if (!isOwnWish(house, question)) return pageFor(question, FOREIGN, frame)
  const user = (await question.form()).get('user') ?? ''
  if (user !== '') await roll.signOut(as(question.guest.person), user)
  return onTo('/connections')
}

/** Names as Kubernetes has them: nothing in them means anything in a path. */
const PLACE = /^\/(workspaces|deployments)\/([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})(?:\/([a-z]{1,20}))?$/

/**
 * Whether a page of this host has sent it. Workspaces are hosts of the same domain, so that cookies come along whoever asks; a
 * browser says where a form was sent from, and no page can have it say otherwise.
 */
const isOwnWish = ({ origin }: House, { headers }: Question): boolean =>
  headers.origin === origin && (headers['sec-fetch-site'] === undefined || headers['sec-fetch-site'] === 'same-origin')

/** Other sites may lead here, and load nothing from here: it could not be read, but it would cost. */
const isLookedAtFromElsewhere = ({ headers }: Question): boolean =>
  headers['sec-fetch-mode'] !== 'navigate' && !['same-origin', 'none', undefined].includes(headers['sec-fetch-site']?.toString())

const NOT_HERE = notice('There is nothing here', 404, [
  'Either it does not exist, or the roles of this cluster do not let you see it.',
])
const FOREIGN = notice('That came from another site', 403, ['Nothing was done. Use the buttons on these pages.'])
const NO_SUCH_METHOD = notice('That is not how this page is asked for', 405, ['Nothing was done.'])

/** What the API server says of somebody's own request is theirs to read; whatever is ours is in the log. */
function failed({ frame, log }: House, question: Question, failure: Failure): Answer {
  const { message, remedy } = failure
  const said = [message, ...(remedy === undefined ? [] : [remedy])].map((line) => (line.endsWith('.') ? line : `${line}.`))
  const page = (title: string, status: number, lines = said): Page => notice(title, status, lines)
  const answer = (shown: Page) => pageFor(question, shown, frame)
  if (isFailure(failure, 'forbidden', 'unauthorized')) return answer(page('You may not do that', 403))
  if (isFailure(failure, 'not-found')) return answer(page('It is not there any more', 404))
  if (isFailure(failure, 'conflict', 'already-exists')) return answer(page('It has changed meanwhile', 409))
  if (isFailure(failure, 'invalid')) return answer(page('That cannot be done', 422))
  if (isFailure(failure, 'too-large')) return answer(page('That is too long', 413))
  log.error('A page could not be made', { request: question.requestId, path: question.url.pathname, error: failure })
  if (isFailure(failure, 'unavailable', 'timeout', 'cancelled', 'expired'))
    return answer(page('The cluster does not answer just now', 503, ['Try again in a moment.']))
  return answer(page('Something went wrong here', 500, ['The cause is in the log, under the number below.']))
}
