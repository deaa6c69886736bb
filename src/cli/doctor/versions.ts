import { type Kube, selectorFor } from '../../adapters/kube/index.ts'
import {
  Agents,
  CustomResourceDefinitions,
  KAS_PRESENCE,
  type KubeObject,
  type Lease,
  Leases,
  labelledVersion,
  nameOf,
} from '../../api/index.ts'
import { areTooFarApart, minutes, VERSION_SKEW } from '../../std/index.ts'
import { definitionsIn } from '../manifests.ts'
import { versionOf } from '../version.ts'
import { type CheckContext, type Examination, fail, ok, warn } from './finding.ts'

/** A kas that was killed leaves its Lease for a while. */
const FRESH = minutes(1)

interface Part {
  what: string
  version: string
}

/** Everything is of one version, or of two that are a minor version apart, which is well as long as an upgrade lasts. */
export const examineVersions: Examination = async (context) => {
  const own = { what: 'this command', version: versionOf(context.home) }
  const [kinds, programs] = await Promise.all([kindsOf(context), programsOf(context)])
  const installed = [...kinds, ...programs].filter(({ version }) => version !== '')
  const agents = await agentsNear(context.kube, [own, ...installed])
  const parts = [...installed, ...agents, own]
  const byVersion = Map.groupBy(parts, ({ version }) => version)
  if (byVersion.size === 1) return ok(`all that says its version is Berth ${own.version}, as this command is`)
  const said = [...byVersion].map(([version, of]) => `${version}: ${of.map(({ what }) => what).join(', ')}`).join('; ')
  const areFar = parts.some((one) => parts.some((other) => areTooFarApart(one.version, other.version)))
  return areFar ? fail(`versions too far apart: ${said}`, VERSION_SKEW) : warn(`two versions: ${said}`, VERSION_SKEW)
}

const versionIn = (object: KubeObject): string => labelledVersion(object) ?? ''

async function kindsOf({ kube, home }: CheckContext): Promise<Part[]> {
  const names = definitionsIn(home).map(({ definition }) => definition.metadata.name)
  const found = await Promise.all(names.map((name) => kube.get(CustomResourceDefinitions, { name })))
  const byVersion = Map.groupBy(
    found.filter((definition) => definition !== undefined),
    versionIn,
  )
  return [...byVersion].map(([version, of]) => ({
    version,
    what: of.length === names.length ? 'the kinds' : of.map(({ metadata }) => metadata.name).join(', '),
  }))
}

async function programsOf({ kube, namespace, now }: CheckContext): Promise<Part[]> {
  const operator = await kube.get(Leases, { name: 'berth-operator', namespace })
  const kas = await kube.list(Leases, { namespace, labels: selectorFor(KAS_PRESENCE) })
  const lives = ({ spec }: Lease) => now - Date.parse(spec?.renewTime ?? '') < FRESH
  return [...(operator ? [operator] : []), ...kas]
    .filter(lives)
    .map((lease) => ({ what: lease.metadata.name, version: versionIn(lease) }))
}

/** Of agents whose versions are far from all these, GitLab's are most, which count otherwise; kas refuses Berth's. */
async function agentsNear(kube: Kube, parts: readonly Part[]): Promise<Part[]> {
  const pods = (await kube.list(Agents)).flatMap((agent) =>
    (agent.status?.connectedPods ?? []).map(({ version = '' }) => ({
      what: nameOf(agent),
      version: version.replace(/^v/, ''),
    })),
  )
  const isNear = ({ version }: Part) => version !== '' && parts.every((part) => !areTooFarApart(part.version, version))
  return [...new Map(pods.filter(isNear).map((pod) => [`${pod.what} ${pod.version}`, pod])).values()]
}
