import { mkdirSync, renameSync } from 'node:fs'
import { coerce, lt } from 'semver'
import { Failure } from '../../std/index.ts'
import { removeTree } from './folder.ts'
import type { Recipe } from './recipe.ts'
import type { Report } from './report.ts'
import { run } from './run.ts'
import { type Tool, toolsIn } from './tools.ts'

export interface Build {
  recipe: Recipe
  /** The folder that is to exist, whole, at the end. */
  into: string
  wanted: readonly Tool[]
  /** The caller's environment: PATH, HOME, GOPROXY, … */
  env: Record<string, string | undefined>
  report: Report
  signal?: AbortSignal | undefined
}

/** The Go that is installed, as in `go1.26.1`, or why it does not do: one that is too old would fetch another from the network. */
export async function goFor({ go }: Recipe, env: Build['env']): Promise<{ version: string } | { why: string }> {
  const said = await run('go', ['version'], { env: { ...env, GOTOOLCHAIN: 'local' } }).catch(() => '')
  const version = /go\d\S*/.exec(said)?.[0]
  if (!version) return { why: 'Go is not installed' }
  // What is no release, as in `devel go1.27-…`, has a version all the same.
  const has = coerce(version)
  return has && lt(has, go) ? { why: `${version} is older than ${go}` } : { version }
}

/** Builds the module's tools beside the goal and renames them there, so that nobody ever meets half of them. */
export async function goBuild({ recipe, into, wanted, env, report, signal }: Build): Promise<void> {
  const beside = `${into}.building`
  removeTree(beside)
  mkdirSync(beside, { recursive: true })
  const go = { cwd: recipe.folder, env: { ...env, CGO_ENABLED: '0', GOBIN: beside }, signal }

  report.progress({ what: 'fetching Go modules', done: 0, total: 1 })
  const total = (await run('go', ['list', '-deps', 'tool'], go)).trim().split('\n').length + wanted.length
  let compiled = 0
  const count = (line: string) => {
    // `-v` prints the name of each package as its turn comes, and other remarks with spaces in them.
    if (line === '' || line.includes(' ')) return
    compiled++
    const linked = wanted.length - toolsIn(beside, wanted).missing.length
    report.progress({ what: 'building the control plane', done: Math.min(compiled + linked, total), total })
  }
  await run('go', ['install', '-v', '-trimpath', '-ldflags', linkerFlags(recipe), 'tool'], { ...go, onLine: count })

  const { missing } = toolsIn(beside, wanted)
  if (missing.length > 0) throw new Failure('internal', `the Go build made no ${missing.join(', ')}`)
  removeTree(into)
  renameSync(beside, into)
  report.progress({ what: 'building the control plane', done: total, total })
}

/** Without a version the API server believes to be v0.0.0, and clients that ask for features are misled. */
function linkerFlags({ kubernetes }: Recipe): string {
  const [major, minor] = kubernetes.slice(1).split('.')
  const set = (name: string, value = '0') => `-X k8s.io/component-base/version.${name}=${value}`
  return ['-s', '-w', set('gitVersion', kubernetes), set('gitMajor', major), set('gitMinor', minor)].join(' ')
}
