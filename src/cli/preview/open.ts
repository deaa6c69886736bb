import type { Kube } from '../../adapters/kube/index.ts'
import {
  apiVersionOf,
  type DeploymentTarget,
  DeploymentTargetClaims,
  DeploymentTargets,
  type GitOpsDeployment,
  GitOpsDeployments,
  type Kind,
  type KubeObject,
  keyOf,
  type Ref,
  targetNameOf,
} from '../../api/index.ts'
import { insideTarget } from '../../engines/lookout/index.ts'
import { Failure, harmlessLine, matchesWildcard } from '../../std/index.ts'
import { isForBrowsers, openInBrowser } from '../browser.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import type { ObjectOptions } from '../find-object.ts'
import { actionVerb } from '../verb.ts'
import { type BranchContext, onBranch, titleOf, withBranch } from './branch.ts'

interface Options extends ObjectOptions {
  print?: boolean
}

export const open = actionVerb({
  description:
    'Print where the environment of a branch can be opened, and open the first address in the browser ($BROWSER, else that of the machine). These are the hosts of its Ingresses and HTTPRoutes and the addresses of its Services of type LoadBalancer, looked for in its target with credentials that you may read.',
  examples: [
    ['berth preview open shop feature/cart -n team-a', 'in the browser'],
    ['berth preview open shop feature/cart --print', 'only print all addresses'],
  ],
  options: (command) => withBranch(command).option('--print', 'print them only'),
  run: onBranch(openEnvironment),
})

async function openEnvironment(context: BranchContext, { print }: Options): Promise<ExitCode> {
  const { shell, kube, preview, entry } = context
  const ref = { name: entry.name, namespace: preview.metadata.namespace }
  const places = placesIn(await kube.get(GitOpsDeployments, ref))
  const urls = places.length === 0 ? [] : await urlsAt(await targetOf(kube, ref), kube, places)
  const [first] = urls
  if (first === undefined) throw nothingToOpen(context, places)
  if (!entry.ready) shell.say(`${titleOf(context)} is ${harmlessLine(entry.reason)}: nothing may answer there yet.\n`)
  for (const url of urls) shell.print(url)
  return print ? exitCodes.ok : openInBrowser(shell, first)
}

/** As much of an object as says where it is reached. */
interface Exposed extends KubeObject {
  spec?: {
    rules?: { host?: string }[]
    tls?: { hosts?: string[] }[]
    hostnames?: string[]
    type?: string
    ports?: { port: number; protocol?: string }[]
  }
  status?: { loadBalancer?: { ingress?: { hostname?: string; ip?: string }[] } }
}

interface Way {
  kind: Kind<Exposed>
  urlsOf: (object: Exposed) => string[]
}

/** The likeliest to be meant first. */
const WAYS: readonly Way[] = [
  {
    kind: { group: 'networking.k8s.io', version: 'v1', kind: 'Ingress', plural: 'ingresses', namespaced: true },
    urlsOf: ({ spec: { rules = [], tls = [] } = {} }) =>
      rules.flatMap(({ host }) => {
        const isSecure = tls.some(({ hosts = ['*'] }) => hosts.some((each) => matchesWildcard(each, host ?? '')))
        return host ? [`${isSecure ? 'https' : 'http'}://${host}/`] : []
      }),
  },
  {
    kind: { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'HTTPRoute', plural: 'httproutes', namespaced: true },
    // The listeners of its Gateway, which belongs to others, say whether it has TLS. Nearly all have.
    urlsOf: ({ spec: { hostnames = [] } = {} }) => hostnames.map((host) => `https://${host}/`),
  },
  {
    kind: { group: '', version: 'v1', kind: 'Service', plural: 'services', namespaced: true },
    urlsOf: ({ spec: { type, ports = [] } = {}, status }) => {
      const port = ports.find(({ protocol = 'TCP' }) => protocol === 'TCP')?.port
      if (type !== 'LoadBalancer' || port === undefined) return []
      return (status?.loadBalancer?.ingress ?? []).flatMap(({ hostname, ip = '' }) => {
        const host = hostname || (ip.includes(':') ? `[${ip}]` : ip)
        return host ? [`${port === 443 ? 'https' : 'http'}://${host}:${port}/`] : []
      })
    },
  },
]

interface Place extends Way {
  ref: Ref
}

/** The objects of a deployment that may be reached from outside. */
function placesIn(deployment: GitOpsDeployment | undefined): Place[] {
  const resources = deployment?.status?.resources ?? []
  return WAYS.flatMap((way) =>
    resources
      .filter(({ group = '', kind }) => group === way.kind.group && kind === way.kind.kind)
      .map(({ name, namespace }) => ({ ...way, ref: { name, namespace } })),
  )
}

async function targetOf(kube: Kube, { name, namespace }: Ref): Promise<DeploymentTarget> {
  const claim = await kube.get(DeploymentTargetClaims, { name, namespace })
  const targetName = claim && targetNameOf(claim)
  const target = targetName && (await kube.get(DeploymentTargets, { name: targetName, namespace }))
  if (target) return target
  throw new Failure('not-found', `DeploymentTargetClaim ${keyOf({ name, namespace })} has no target.`, {
    remedy: `See with \`berth get claims ${name} -n ${namespace}\` what it waits for.`,
  })
}

/** Each address once, as it may stand in a browser; a host that stands for many is none. */
const urlsAt = (target: DeploymentTarget, kube: Kube, places: readonly Place[]): Promise<string[]> =>
  insideTarget(kube, target, { reach: undefined }, async (there) => {
    const urls: string[] = []
    for (const { kind, ref, urlsOf } of places) {
      const isServed = await there.resolve(apiVersionOf(kind), kind.kind)
      const object = isServed && (await there.get(kind, ref))
      if (object) urls.push(...urlsOf(object).filter((url) => !url.includes('*') && isForBrowsers(url)))
    }
    return [...new Set(urls.map((url) => new URL(url).href))]
  })

function nothingToOpen(context: BranchContext, places: readonly Place[]): Failure {
  const seen = places.map(({ kind, ref }) => `${kind.kind} ${keyOf(ref)}`).join(', ')
  const has = seen === '' ? 'none of these at all' : `only ${seen}`
  const { ready, reason, message = '' } = context.entry
  const why = ready ? '' : ` It is not in effect yet: ${reason}: ${harmlessLine(message)}`
  return new Failure(
    'not-found',
    `${titleOf(context)} has no address: no Ingress or HTTPRoute with a host, and no Service of type LoadBalancer with an address. Its GitOpsDeployment has deployed ${has}.${why}`,
    { remedy: `Add one in Git, or wait until it has its address. All its objects: \`${treeOf(context)}\`.` },
  )
}

const treeOf = ({ preview, entry }: BranchContext): string => `berth tree ${entry.name} -n ${preview.metadata.namespace}`
