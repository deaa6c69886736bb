import type { GitProject, GitProjectSpec, Ref } from '../../api/index.ts'
import { type ForeignFields, isDuration } from './fields.ts'
import { projectNamed, repositoryUrl } from './made.ts'

/** What a Kustomization or HelmRelease gets of the source that it names. */
export interface Repository {
  project: GitProject
  revision: { targetRevision?: string; semver?: string }
}

/** Makes a GitProject of `spec`; nothing where Berth fetches nothing from there. */
export function repositoryFrom(spec: ForeignFields, { name, namespace = '' }: Ref): Repository | undefined {
  const url = repositoryUrl(spec, 'url')
  const revision = revisionOf(spec)
  const project: Omit<GitProjectSpec, 'path' | 'url'> = { ...intervalOf(spec), ...credentialsOf(spec), ...verifyOf(spec) }
  // Berth gives up by itself.
  spec.pass('timeout')
  if (spec.flag('suspend')) spec.tell('It is suspended in Flux. A GitProject has no such state.', 'suspend')
  return url === undefined ? undefined : { project: projectNamed(namespace, name, { url, ...project }), revision }
}

/** The one that wins in Flux: a name, a commit, a range, a tag, a branch. https://fluxcd.io/flux/components/source/gitrepositories/#reference */
function revisionOf(spec: ForeignFields): Repository['revision'] {
  const ref = spec.record('ref')
  const [commit, name, semver, tag, branch] = ['commit', 'name', 'semver', 'tag', 'branch'].map((field) => ref?.text(field))
  const targetRevision = commit ?? name
  if (targetRevision !== undefined) return { targetRevision }
  if (semver !== undefined) return { semver }
  return { targetRevision: tag ?? branch ?? 'master' }
}

/** Flux looks every so often for commits, as Berth does. */
export function intervalOf(spec: ForeignFields): Pick<GitProjectSpec, 'pollInterval'> {
  const interval = durationIn(spec, 'interval')
  return interval === undefined ? {} : { pollInterval: interval }
}

/** Go writes `1m0s`, and so may we; parts of a second we have not. */
export function durationIn(fields: ForeignFields, name: string): string | undefined {
  const text = fields.text(name)
  if (text === undefined || isDuration(text)) return text
  fields.tell(`${text} is no duration in hours, minutes and whole seconds.`, name)
  return undefined
}

export function credentialsOf(spec: ForeignFields): Pick<GitProjectSpec, 'credentialsSecretRef'> {
  const name = spec.record('secretRef')?.objectName('name')
  if (name === undefined) return {}
  const scheme = spec.text('url')?.split(':')[0]
  // Pods have the same.
  if (scheme === 'oci') return { credentialsSecretRef: { name } }
  const isSsh = scheme === 'ssh'
  if (isSsh) spec.tell(`Add the field \`ssh-privatekey\` to Secret ${name}: the same key as in \`identity\`.`, 'secretRef')
  else
    spec.tell(
      `Secret ${name} works as it is with \`username\` and \`password\`; \`bearerToken\` is called \`token\` here.`,
      'secretRef',
    )
  return { credentialsSecretRef: { name } }
}

function verifyOf(spec: ForeignFields): Pick<GitProjectSpec, 'verify'> {
  const verify = spec.record('verify')
  const name = verify?.record('secretRef')?.objectName('name')
  const mode = verify?.text('mode') ?? 'HEAD'
  if (!verify || name === undefined) return {}
  if (mode.toLowerCase() !== 'head') verify.tell('Signatures of tags are not verified: that of the commit is.', 'mode')
  verify.tell(`The keys in Secret ${name} must have names that end with .asc.`, 'secretRef')
  return { verify: { mode: 'HEAD', secretRef: { name } } }
}
