import type { GitOpsDeploymentSpec } from '../../api/index.ts'
import type { ForeignFields } from './fields.ts'
import { durationIn } from './flux-git-repository.ts'
import { recordOf } from './paths.ts'

type Spec = Omit<GitOpsDeploymentSpec, 'source'>

/** What a Kustomization says beside its source and its dependencies. */
export function kustomizationSpecOf(spec: ForeignFields): Spec {
  const interval = durationIn(spec, 'interval')
  const prune = spec.flag('prune') ?? false
  const isForced = spec.flag('force')
  // Berth tries again by itself, and waits until all is healthy, as Flux does with `wait`.
  spec.pass('retryInterval', 'wait', 'healthChecks', 'timeout')
  return {
    type: 'automated',
    ...(interval !== undefined && { interval }),
    ...(!prune && { prune: false }),
    ...(isForced && { force: true }),
    ...deletionOf(spec, prune),
    ...variablesOf(spec),
    ...decryptionOf(spec),
  }
}

/** MirrorPrune, as Flux has it where nothing is said. */
function deletionOf(spec: ForeignFields, prune: boolean): Pick<Spec, 'deletionPolicy'> {
  const policy = spec.text('deletionPolicy') ?? 'MirrorPrune'
  if (policy === 'WaitForTermination') return { deletionPolicy: 'Wait' }
  return { deletionPolicy: policy === 'Delete' || (policy === 'MirrorPrune' && prune) ? 'Delete' : 'Orphan' }
}

/** A name without a value is empty in Flux. */
function variablesOf(spec: ForeignFields): Pick<Spec, 'variables'> {
  const build = spec.record('postBuild')
  const substitute = build?.record('substitute')
  const names = Object.keys(recordOf(build?.value('substitute')))
  const values = Object.fromEntries(names.map((name) => [name, substitute?.text(name) ?? '']))
  const from = build?.records('substituteFrom').flatMap((each) => objectRef(each)) ?? []
  const variables = { ...(names.length > 0 && { values }), ...(from.length > 0 && { from }) }
  return names.length + from.length > 0 ? { variables: { ...variables, strict: false } } : {}
}

export interface ObjectRef {
  kind: 'ConfigMap' | 'Secret'
  name: string
  optional?: boolean
}

/** A ConfigMap or Secret that is named. */
export function objectRef(from: ForeignFields): ObjectRef[] {
  const [kind, name, optional] = [from.text('kind'), from.text('name'), from.flag('optional')]
  if (name === undefined || (kind !== 'ConfigMap' && kind !== 'Secret')) return []
  return [{ kind, name, ...(optional && { optional }) }]
}

function decryptionOf(spec: ForeignFields): Pick<Spec, 'decryption'> {
  const decryption = spec.record('decryption')
  const name = decryption?.record('secretRef')?.text('name')
  if (!decryption) return {}
  decryption.pass('provider')
  if (name === undefined) {
    decryption.tell('Berth decrypts with keys of age and PGP that are in a Secret.')
    return {}
  }
  return { decryption: { provider: 'sops', secretRef: { name } } }
}
