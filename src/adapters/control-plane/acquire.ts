import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, Failure, systemClock } from '../../std/index.ts'
import { type Download, downloadReleases, findReleases } from './download.ts'
import { cacheFolder } from './programs/cache.ts'
import { goBuild, goFor } from './programs/go-build.ts'
import { type Recipe, readRecipe } from './programs/recipe.ts'
import {
  type ControlPlaneTools,
  costOf,
  isUsable,
  type ProgressReport,
  silentReport,
  TOOLS,
  type Tool,
  toolsIn,
} from './programs/tools.ts'
import { mirrorOf, type ReleaseMirror } from './release.ts'
import { makeFolder } from './servers/folder.ts'
import { lock } from './servers/lock.ts'

export interface Acquisition {
  /**
   * The caller's environment: HOME and XDG_CACHE_HOME (the cache), KUBEBUILDER_ASSETS, BERTH_RELEASES (who keeps copies of
   * releases, or `off`), proxies, PATH and what `go` wants.
   */
  env: Record<string, string | undefined>
  report?: ProgressReport
  recipe?: Recipe
  wanted?: readonly Tool[]
  clock?: Clock
  signal?: AbortSignal | undefined
}

interface Search extends Required<Omit<Acquisition, 'signal'>> {
  signal: AbortSignal | undefined
  cache: string
  mirror: ReleaseMirror | 'off' | undefined
}

/** The programs that a way brought, or in a few words why it did not. */
type Outcome = ControlPlaneTools | string

interface Way {
  /** The person reads it: "Programs from …". */
  from: string
  /** Says what it could bring, without bringing it. */
  look: (search: Search) => Promise<Prospect> | Prospect
  /** `declined` is why no cheaper way would do. */
  go: (search: Search, declined: string[]) => Promise<Outcome> | Outcome
}

interface Prospect {
  /** `half` can run an API server, and is taken if nothing better is to be had. */
  brings: 'all' | 'half' | 'nothing'
  why: string
}

/** From the cheapest to the dearest. */
const WAYS: Way[] = [
  { from: 'KUBEBUILDER_ASSETS', look: (search) => there(assets(search), search.env.KUBEBUILDER_ASSETS), go: assets },
  { from: 'the cache', look: (search) => there(cached(search), folderIn(search)), go: cached },
  { from: 'release binaries', look: published, go: downloaded },
  { from: 'a Go build', look: buildable, go: built },
]

/**
 * Finds or makes the programs of a control plane. The first complete set is taken. An incomplete one that can run an API
 * server is kept for the case that nothing better is to be had; then a line says what is missed.
 */
export async function acquireTools(acquisition: Acquisition): Promise<ControlPlaneTools> {
  const search = searchOf(acquisition)
  const declined: string[] = []
  let lastResort: { tools: ControlPlaneTools; from: string } | undefined
  for (const { from, go } of WAYS) {
    const outcome = await go(search, declined)
    if (typeof outcome === 'string') declined.push(`${from}: ${outcome}`)
    else if (outcome.missing.length === 0) return taken(outcome, from, declined, search.report)
    else {
      declined.push(`${from}: ${lacking(outcome)}`)
      if (isUsable(outcome)) lastResort ??= { tools: outcome, from }
    }
  }
  if (!lastResort) throw nothingToBeHad(search, declined)
  search.report.line(`The control plane is incomplete: ${costOf(lastResort.tools)}.`)
  return taken(lastResort.tools, lastResort.from, declined, search.report)
}

/** A way to the programs as it is now: the one that would be taken, those before it that have not all, those after it. */
export interface ToolSource {
  from: string
  state: 'used' | 'passed over' | 'not needed'
  why: string
}

/** Says which way `acquireTools` would go, and why. It asks the network only if the way leads there, and makes nothing. */
export async function findSources(acquisition: Acquisition): Promise<ToolSource[]> {
  const search = searchOf(acquisition)
  const looks: { from: string; prospect?: Prospect }[] = []
  for (const { from, look } of WAYS) {
    const isFound = looks.some(({ prospect }) => prospect?.brings === 'all')
    looks.push(isFound ? { from } : { from, prospect: await look(search) })
  }
  const used = (['all', 'half'] as const).map((what) => looks.find(({ prospect }) => prospect?.brings === what)).find(Boolean)
  return looks.map((each) => {
    const { from, prospect } = each
    const why = prospect?.why ?? ''
    if (each !== used) return { from, state: prospect ? 'passed over' : 'not needed', why }
    return { from, state: 'used', why: prospect?.brings === 'half' ? `${why}, but no other source has more` : why }
  })
}

function searchOf({ env, report = silentReport, signal, ...rest }: Acquisition): Search {
  const { recipe = readRecipe(), wanted = TOOLS, clock = systemClock } = rest
  const mirror = mirrorOf(env.BERTH_RELEASES)
  return { env, report, recipe, wanted, clock, signal, mirror, cache: cacheFolder('control-plane', env) }
}

const folderIn = ({ cache, recipe }: Search): string => join(cache, recipe.digest)

const lacking = ({ missing }: ControlPlaneTools): string => `has no ${missing.join(', ')}`

function there(outcome: Outcome, folder = ''): Prospect {
  if (typeof outcome === 'string') return { brings: 'nothing', why: outcome }
  if (outcome.missing.length === 0) return { brings: 'all', why: folder }
  return { brings: isUsable(outcome) ? 'half' : 'nothing', why: `${folder} ${lacking(outcome)}` }
}

function taken(tools: ControlPlaneTools, from: string, declined: string[], report: ProgressReport): ControlPlaneTools {
  const others = declined.length > 0 ? ` (${declined.join('; ')})` : ''
  report.line(`Control plane programs from ${from}${others}.`)
  return tools
}

/** Every way is a line of the report, for together they are too long for one message. */
function nothingToBeHad({ env, wanted, report }: Search, declined: string[]): Failure {
  for (const why of declined) report.line(`${why}.`)
  const what = wanted.includes('kube-apiserver') ? 'control plane' : wanted.join(', ')
  return new Failure('unavailable', `no ${what} is to be had here`, {
    reason: 'NoControlPlane',
    remedy: remediesFor({ env, wanted }).join(' '),
  })
}

/** Says what would let `acquireTools` succeed if it finds nothing: a sentence for each way. */
export function remediesFor({ env, wanted = TOOLS }: Acquisition): string[] {
  const others = wanted.length > 1 ? `${wanted.slice(0, -1).join(', ')} and ` : ''
  const mirror = mirrorOf(env.BERTH_RELEASES)
  const unset = mirror === 'off' ? 'Unset BERTH_RELEASES, which is off.' : 'Correct BERTH_RELEASES or unset it.'
  return [
    ...(mirror ? [unset] : []),
    'Let this machine reach dl.k8s.io, github.com and api.github.com (https_proxy is heard), or name a mirror of them by BERTH_RELEASES.',
    'Or install Go 1.26 or newer (https://go.dev/dl).',
    `Or put ${others}${wanted.at(-1)} into a folder that KUBEBUILDER_ASSETS names.`,
    ...(wanted.includes('kube-apiserver') ? ['Or name a cluster by --kubeconfig.'] : []),
  ]
}

function assets({ env: { KUBEBUILDER_ASSETS: folder }, wanted }: Search): Outcome {
  if (!folder) return 'not set'
  return existsSync(folder) ? toolsIn(folder, wanted) : `there is no folder ${folder}`
}

function cached(search: Search): Outcome {
  const tools = toolsIn(folderIn(search), search.wanted)
  return tools.missing.length === search.wanted.length ? 'empty' : tools
}

/** Asks for what is not there yet. */
function downloadOf(search: Search, mirror: ReleaseMirror | undefined): Download {
  const into = folderIn(search)
  return { ...search, into, wanted: toolsIn(into, search.wanted).missing, mirror }
}

async function published(search: Search): Promise<Prospect> {
  const { mirror, recipe } = search
  if (mirror === 'off') return { brings: 'nothing', why: OFF }
  const download = downloadOf(search, mirror)
  const why = await declinedBy(() => findReleases(download))
  if (why !== undefined) return { brings: 'nothing', why }
  const { kubernetes, etcd, kwok } = recipe
  const size = download.wanted.length === TOOLS.length ? 'some 400 MB' : 'to download'
  return {
    brings: 'all',
    why: `Kubernetes ${kubernetes}, etcd ${etcd}, kwok ${kwok} from ${mirror?.url ?? 'their projects'}: ${size}, once`,
  }
}

async function downloaded(search: Search): Promise<Outcome> {
  const { mirror, report } = search
  if (mirror === 'off') return OFF
  return making(search, async () => {
    report.line(`Downloading the control plane, once, into ${folderIn(search)} (BERTH_RELEASES=off builds it instead).`)
    try {
      return await declinedBy(() => downloadReleases(downloadOf(search, mirror)))
    } catch (thrown) {
      report.line('Stopped; the next run goes on from here.')
      throw thrown
    }
  })
}

const OFF = 'switched off by BERTH_RELEASES'

/** In a few words why it can not be had, which is no reason to give up: there is another way. */
async function declinedBy(work: () => Promise<void> | void): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (thrown) {
    const failure = Failure.from(thrown)
    if (failure.code === 'cancelled') throw failure
    return failure.message
  }
}

async function buildable({ env, recipe }: Search): Promise<Prospect> {
  const go = await goFor(recipe, env)
  return 'why' in go ? { brings: 'nothing', ...go } : { brings: 'all', why: `${go.version}: about ten minutes, once` }
}

async function built(search: Search, declined: string[]): Promise<Outcome> {
  const go = await goFor(search.recipe, search.env)
  if ('why' in go) return go.why
  return making(search, async () => {
    const into = folderIn(search)
    const whyNot = declined.map((why) => `${why}; `).join('')
    search.report.line(
      `Building the control plane with ${go.version}, once: about ten minutes on two cores (${whyNot}kept in ${into}).`,
    )
    await goBuild({ ...search, into })
  })
}

/** Of several runs one makes the programs, and the others take them; `make` answers why it could not. */
async function making(search: Search, make: () => Promise<string | undefined>): Promise<Outcome> {
  const { cache, wanted, report, clock, signal } = search
  const declined = await declinedBy(() => makeFolder(cache))
  if (declined !== undefined) return declined
  const waiting = (holder: string) => report.line(`Another run (${holder}) is getting the control plane: waiting for it.`)
  const unlock = await lock(`${folderIn(search)}.lock`, { clock, waiting, signal })
  try {
    const tools = () => toolsIn(folderIn(search), wanted)
    return tools().missing.length === 0 ? tools() : ((await make()) ?? tools())
  } finally {
    unlock()
  }
}
