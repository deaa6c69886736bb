import type { Devfile, DevfileAttributes } from '../../devfile/index.ts'
import { amountOf, isRecord } from '../../std/index.ts'
import { componentAt, type DevfileRefusal } from './refusal.ts'

/** The attributes in which a devfile says more of its pods than the devfile has fields for; the names are DevWorkspace Operator's. */
export const CONTAINER_OVERRIDES = 'container-overrides'
export const POD_OVERRIDES = 'pod-overrides'

/** A field may be anything, one of a few values, or have fields of its own; or the rule says why it may not be there at all. */
type OverrideRule =
  | { is: 'any' }
  | { is: 'one'; test: (value: unknown) => boolean; says: string }
  | { is: 'fields'; rules: OverrideRules }
  | { is: 'no'; why: string }
type OverrideRules = Readonly<Record<string, OverrideRule>>

const any: OverrideRule = { is: 'any' }
const fields = (rules: OverrideRules): OverrideRule => ({ is: 'fields', rules })
const one = (says: string, test: (value: unknown) => boolean): OverrideRule => ({ is: 'one', test, says })
const only = (...values: (string | boolean)[]): OverrideRule =>
  one(values.join(' or '), (value) => values.some((each) => each === value))
const isNumber = (value: unknown, least: number, most: number): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
const all = (...names: string[]): OverrideRules => Object.fromEntries(names.map((name) => [name, any]))
const allNo = (why: string, ...names: string[]): OverrideRules =>
  Object.fromEntries(names.map((name) => [name, { is: 'no', why }]))

const USER = one('a number above 0, for nobody is root', (value) => isNumber(value, 1, 2 ** 31 - 1))
/** Tighter than the class has it, never looser. */
const TIGHTER: OverrideRules = { runAsNonRoot: only(true), runAsUser: USER }

const OF_DEVFILE = 'the devfile has a field for it'
const OF_CLASS = 'that is for the class to say'
const ELSEWHERE = 'it could lead to what belongs to others'

const HANDLER = fields({ ...all('port', 'path', 'scheme', 'httpHeaders', 'service'), ...allNo(ELSEWHERE, 'host') })
const PROBE = fields({
  ...all('initialDelaySeconds', 'periodSeconds', 'timeoutSeconds', 'successThreshold', 'failureThreshold', 'exec'),
  ...all('terminationGracePeriodSeconds'),
  httpGet: HANDLER,
  tcpSocket: HANDLER,
  grpc: HANDLER,
})

/** `null` takes away what the devfile or the class says. */
const AMOUNTS = one(
  'amounts such as 500m, 2 or 512Mi',
  (value) => isRecord(value) && Object.values(value).every((each) => each === null || isAmount(each)),
)
const isAmount = (value: unknown): boolean =>
  (typeof value === 'string' || typeof value === 'number') && (amountOf(value) ?? -1) >= 0

const CONTAINER: OverrideRules = {
  resources: fields({ requests: AMOUNTS, limits: AMOUNTS }),
  imagePullPolicy: only('Always', 'IfNotPresent', 'Never'),
  livenessProbe: PROBE,
  readinessProbe: PROBE,
  securityContext: fields({
    ...TIGHTER,
    readOnlyRootFilesystem: only(true, false),
    privileged: only(false),
    allowPrivilegeEscalation: only(false),
  }),
  ...all('stdin', 'stdinOnce', 'tty', 'workingDir', 'terminationMessagePolicy', 'resizePolicy'),
  ...allNo(OF_DEVFILE, 'name', 'image', 'command', 'args', 'ports', 'env', 'volumeMounts'),
  ...allNo(ELSEWHERE, 'envFrom', 'volumeDevices'),
  ...allNo('the events of the devfile are for that', 'lifecycle'),
  ...allNo('the attribute berth.dev/probe of an endpoint is for that', 'startupProbe'),
}

const RESERVED = /^(io\.kubernetes\.|([^/]*\.)?(gitlab\.com|kubernetes\.io|k8s\.io|cncf\.io|berth\.dev)\/)/

/** Annotations that decide things: neither a class nor a devfile sets them. */
export const isReserved = (key: string): boolean => RESERVED.test(key)

const POD: OverrideRules = {
  metadata: fields({
    annotations: one(
      'texts whose names are not those of Kubernetes, network plugins or Berth',
      (value) => isRecord(value) && Object.entries(value).every(([key, text]) => typeof text === 'string' && !isReserved(key)),
    ),
    ...allNo('labels decide which Services and policies mean the pod', 'labels'),
  }),
  spec: fields({
    ...all('nodeSelector', 'affinity', 'tolerations', 'topologySpreadConstraints', 'schedulerName'),
    ...all('hostAliases', 'hostname', 'subdomain', 'setHostnameAsFQDN', 'dnsConfig'),
    dnsPolicy: only('ClusterFirst', 'Default', 'None'),
    shareProcessNamespace: any,
    terminationGracePeriodSeconds: one('a number of seconds up to 3600', (value) => isNumber(value, 0, 3600)),
    securityContext: fields({ ...TIGHTER, fsGroupChangePolicy: only('OnRootMismatch', 'Always') }),
    ...allNo('components of the devfile are for that', 'containers', 'initContainers', 'ephemeralContainers', 'volumes'),
    ...allNo(OF_CLASS, 'hostNetwork', 'hostPID', 'hostIPC', 'hostUsers', 'runtimeClassName', 'imagePullSecrets'),
    ...allNo(OF_CLASS, 'priorityClassName', 'priority', 'preemptionPolicy', 'nodeName', 'resourceClaims'),
    ...allNo('it has no way to the API of its target', 'serviceAccountName', 'serviceAccount', 'automountServiceAccountToken'),
  }),
}

/** Everything in the overrides of a devfile that cannot be, each by component, attribute and field. */
export function overrideRefusals({ attributes, containers }: Devfile): DevfileRefusal[] {
  const ofContainers = containers.flatMap(({ name, attributes: own }) =>
    [
      refusalsIn(own, CONTAINER_OVERRIDES, CONTAINER, { at: componentAt(name), says: `component "${name}", ` }),
      refusalsIn(own, POD_OVERRIDES, POD, { at: componentAt(name), says: `component "${name}", ` }),
    ].flat(),
  )
  return [...ofContainers, ...refusalsIn(attributes, POD_OVERRIDES, POD, { at: [], says: '' })]
}

/** A value, by its keys and by how people say them. */
interface OverridePlace {
  at: readonly string[]
  says: string
}

const below = ({ at, says }: OverridePlace, key: string): OverridePlace => ({ at: [...at, key], says: `${says}.${key}` })

function refusalsIn(attributes: DevfileAttributes, name: string, rules: OverrideRules, holder: OverridePlace): DevfileRefusal[] {
  const given = attributes[name]
  const place = { at: [...holder.at, 'attributes', name], says: `${holder.says}attribute ${name}` }
  return given === undefined ? [] : refusalsOf(given, { is: 'fields', rules }, place)
}

function refusalsOf(value: unknown, rule: OverrideRule, place: OverridePlace): DevfileRefusal[] {
  const refuse = ({ at, says }: OverridePlace, why: string, remedy: string): DevfileRefusal[] => [
    { at, message: `${says} ${why}`, remedy },
  ]
  if (rule.is === 'no') return refuse(place, `cannot be set: ${rule.why}`, 'leave it out')
  if (rule.is === 'one') return rule.test(value) ? [] : refuse(place, `must be ${rule.says}`, 'correct it, or leave it out')
  if (rule.is === 'any') return directivesIn(value, place)
  if (!isRecord(value)) return refuse(place, 'must have fields', 'write a mapping')
  return Object.entries(value).flatMap(([key, each]) => {
    const known = Object.hasOwn(rule.rules, key) ? rule.rules[key] : undefined
    const names = Object.entries(rule.rules).flatMap(([name, { is }]) => (is === 'no' ? [] : [name]))
    if (!known) return refuse(below(place, key), 'cannot be set', `leave it out; there is ${names.join(', ')}`)
    return refusalsOf(each, known, below(place, key))
  })
}

/** `$patch` and its like would take away what the pod needs. */
function directivesIn(value: unknown, place: OverridePlace): DevfileRefusal[] {
  if (Array.isArray(value))
    return value.flatMap((each, i) => directivesIn(each, { at: [...place.at, String(i)], says: `${place.says}[${i}]` }))
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([key, each]) => {
    const there = below(place, key)
    if (!key.startsWith('$')) return directivesIn(each, there)
    return [{ at: there.at, message: `${there.says} is a directive, and not read`, remedy: 'write the values' }]
  })
}

/** A mapping somewhere in free-form values; empty where there is none. */
export function fieldsIn(value: unknown, ...path: string[]): Record<string, unknown> {
  const found = path.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), value)
  return isRecord(found) ? found : {}
}
