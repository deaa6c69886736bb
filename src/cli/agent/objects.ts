import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure, isRecord, type Secret, withoutEnd } from '../../std/index.ts'
import { objectsIn } from '../manifests.ts'

export interface AgentInstallation {
  /** Of the Agent. */
  name: string
  uid: string
  kasAddress: string
  /** PEM. */
  ca: string | undefined
  /** In these namespaces only, in the whole cluster, or those alone that somebody else gives it. */
  rights: readonly string[] | 'all' | 'none'
  image: string
  /** The Secret that is there keeps its own without it. */
  token: Secret<string> | undefined
}

const PROGRAM = ['namespace', 'service-account', 'leader-election', 'deployment', 'disruption-budget', 'network-policy']

/** The objects of deploy/agent for one Agent: its names, its address, its rights, and its Secret before what needs it. */
export function objectsOf(home: string, wanted: AgentInstallation): object[] {
  const own = ownName(wanted)
  const file = (path: string): unknown[] =>
    objectsIn(readFileSync(join(home, 'deploy', 'agent', `${path}.yaml`), 'utf8'), path).map((object) => renamed(object, own))
  const [namespace, account, election, ...rest] = PROGRAM.map((name) => file(`program/${name}`))
  const running = rest.flat().map((object) => filled(object, wanted))
  const all = [namespace, account, election, rights(), secretOf(own, wanted), running]
  return all.flat().filter(isRecord)

  function rights(): unknown[] {
    if (wanted.rights === 'none') return []
    if (wanted.rights === 'all') return file('cluster-wide/role-binding')
    return wanted.rights.flatMap((name) => file('namespaced/role').map((object) => placed(object, name)))
  }
}

/** Agents of many namespaces and management clusters may share a cluster: the name is for people, the rest for what is unique. */
function ownName({ name, uid }: AgentInstallation): string {
  const suffix = createHash('sha256').update(uid).digest('hex').slice(0, 8)
  const readable = withoutEnd(name.slice(0, 40), '-')
  return `berth-agent-${readable}-${suffix}`
}

/** In the files everything is called `berth-agent`; with a name of its own each of them can share a cluster. */
function renamed(value: unknown, own: string): unknown {
  if (value === 'berth-agent') return own
  if (Array.isArray(value)) return value.map((item) => renamed(item, own))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renamed(item, own)]))
}

/** A Role and its binding in another namespace; the account that they are for stays where it is. */
function placed(object: unknown, namespace: string): unknown {
  if (!(isRecord(object) && isRecord(object.metadata))) return object
  return { ...object, metadata: { ...object.metadata, namespace } }
}

/** What is applied without a token leaves that of the Secret as it is. */
function secretOf(own: string, { token, ca }: AgentInstallation): object | undefined {
  const stringData = { ...(token && { token: token.reveal() }), ...(ca !== undefined && { 'ca.crt': ca }) }
  if (Object.keys(stringData).length === 0) return undefined
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: own, namespace: own }, type: 'Opaque', stringData }
}

/** Installations differ in one line each of the Deployment. */
function filled(object: unknown, { kasAddress, ca, image }: AgentInstallation): unknown {
  if (!(isRecord(object) && object.kind === 'Deployment')) return object
  const text = JSON.stringify(object)
  const changed = text
    .replace('"grpcs://kas.berth-system.svc:8150"', () => JSON.stringify(kasAddress))
    .replace('"image":"berth"', () => `"image":${JSON.stringify(image)}`)
    .replace('"--token-file=/etc/berth/agent/token"', (found) =>
      ca === undefined ? found : `${found},"--ca-cert-file=/etc/berth/agent/ca.crt"`,
    )
  if (changed === text && kasAddress !== 'grpcs://kas.berth-system.svc:8150')
    throw new Failure('internal', 'deploy/agent/program/deployment.yaml is not the one that is known')
  const parsed: unknown = JSON.parse(changed)
  return parsed
}
