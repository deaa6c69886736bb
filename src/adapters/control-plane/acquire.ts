import { mkdirSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { type Clock, Failure, isFailure, systemClock } from '../../std/index.ts'
import { downloadEnvtest, ENVTEST_INDEX } from './download.ts'
import { goBuild, goVersion } from './go-build.ts'
import { lock } from './lock.ts'
import { type Recipe, readRecipe } from './recipe.ts'
import { type Report, silentReport } from './report.ts'
import { costOf, isUsable, TOOLS, type Tool, type Tools, toolsIn } from './tools.ts'

export interface Acquisition {
  /** The caller's environment: HOME and XDG_CACHE_HOME (the cache), KUBEBUILDER_ASSETS, PATH and what `go` wants. */
  env: Record<string, string | undefined>
  report?: Report
  /** Where the lists of envtest archives are; an empty text: nothing is downloaded. */
  index?: string
  recipe?: Recipe
  wanted?: readonly Tool[]
  clock?: Clock
  signal?: AbortSignal | undefined
}

type Ground = Required<Omit<Acquisition, 'signal'>> & { signal: AbortSignal | undefined; cache: string }

/** What a way brought, or in a few words why not. */
type Outcome = Tools | string

/** From the cheapest to the dearest. The text is what the person reads: "Programs from …". */
const WAYS: { from: string; go: (ground: Ground) => Promise<Outcome> | Outcome }[] = [
  { from: 'KUBEBUILDER_ASSETS', go: assets },
  { from: 'the cache', go: cached },
  { from: 'the envtest archive', go: downloaded },
  { from: 'a Go build', go: built },
]

/**
 * Finds or makes the programs of a control plane. The first complete set is taken. An incomplete one that can run an API
 * server is kept for the case that nothing better is to be had; then a line says what is missed.
 */
export async function acquireTools(acquisition: Acquisition): Promise<Tools> {
  const ground = groundOf(acquisition)
  const declined: string[] = []
  let lastResort: { tools: Tools; from: string } | undefined
  for (const { from, go } of WAYS) {
    const outcome = await go(ground)
    if (typeof outcome === 'string') declined.push(`${from}: ${outcome}`)
    else if (outcome.missing.length === 0) return taken(outcome, from, declined, ground.report)
    else {
      declined.push(`${from}: has no ${outcome.missing.join(', ')}`)
      if (isUsable(outcome)) lastResort ??= { tools: outcome, from }
    }
  }
  if (!lastResort) throw nothingToBeHad(declined)
  ground.report.line(`The control plane is incomplete: ${costOf(lastResort.tools)}.`)
  return taken(lastResort.tools, lastResort.from, declined, ground.report)
}

function groundOf({ env, report = silentReport, signal, ...rest }: Acquisition): Ground {
  const { index = ENVTEST_INDEX, recipe = readRecipe(), wanted = TOOLS, clock = systemClock } = rest
  const home = env.XDG_CACHE_HOME ?? (env.HOME ? join(env.HOME, '.cache') : undefined)
  if (!home) throw new Failure('invalid', 'neither HOME nor XDG_CACHE_HOME is set, so there is no place for a cache')
  return { env, report, index, recipe, wanted, clock, signal, cache: join(home, 'berth', 'control-plane') }
}

function taken(tools: Tools, from: string, declined: string[], report: Report): Tools {
  const others = declined.length > 0 ? ` (${declined.join('; ')})` : ''
  report.line(`Control plane programs from ${from}${others}.`)
  return tools
}

const nothingToBeHad = (declined: string[]): Failure =>
  new Failure('unavailable', `no control plane is to be had here (${declined.join('; ')})`, {
    reason: 'NoControlPlane',
    remedy:
      'Install Go 1.26 or newer (https://go.dev/dl) and start again; or put etcd, kube-apiserver, kubectl and ' +
      'kube-controller-manager into a folder that KUBEBUILDER_ASSETS names; or name a cluster by --kubeconfig.',
  })

function assets({ env, wanted }: Ground): Outcome {
  return env.KUBEBUILDER_ASSETS ? toolsIn(env.KUBEBUILDER_ASSETS, wanted) : 'not set'
}

function cached({ cache, recipe, wanted }: Ground): Outcome {
  const tools = toolsIn(join(cache, recipe.digest), wanted)
  return tools.missing.length === wanted.length ? 'empty' : tools
}

/** The archive holds three of the six programs. Where Go can build them all, it would be fetched for nothing. */
async function downloaded({ cache, recipe, wanted, env, index, report, signal }: Ground): Promise<Outcome> {
  if (index === '') return 'switched off'
  if (await goVersion(env)) return 'only half of the programs, and Go is here'
  const into = join(cache, `envtest-${recipe.kubernetes}`)
  const before = toolsIn(into, wanted)
  if (isUsable(before)) return before
  try {
    await downloadEnvtest({ index, kubernetes: recipe.kubernetes, platform: ours(), into, report, signal })
    return toolsIn(into, wanted)
  } catch (thrown) {
    if (isFailure(thrown, 'cancelled')) throw thrown
    return Failure.from(thrown).message
  }
}

async function built(ground: Ground): Promise<Outcome> {
  const { cache, recipe, wanted, env, report, clock, signal } = ground
  const version = await goVersion(env)
  if (!version) return 'Go is not installed'
  mkdirSync(cache, { recursive: true })
  const into = join(cache, recipe.digest)
  const waiting = (holder: string) => report.line(`Another run (${holder}) is building the control plane: waiting for it.`)
  const unlock = await lock(`${into}.lock`, { clock, waiting, signal })
  try {
    // Whoever held the lock before may have built just this.
    if (toolsIn(into, wanted).missing.length > 0) {
      report.line(`Building the control plane with ${version}, once: about ten minutes on two cores. It is kept in ${into}.`)
      await goBuild({ recipe, into, wanted, env, report, signal })
    }
    return toolsIn(into, wanted)
  } finally {
    unlock()
  }
}

const ARCHITECTURES: Record<string, string> = { x64: 'amd64', arm64: 'arm64', ppc64: 'ppc64le', s390x: 's390x' }

const ours = () => ({ os: platform() === 'darwin' ? 'darwin' : 'linux', arch: ARCHITECTURES[arch()] ?? arch() })
