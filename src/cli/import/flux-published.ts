import { type GitProjectSpec, isInRegistry, type Ref } from '../../api/index.ts'
import type { ForeignFields } from './fields.ts'
import { credentialsOf, intervalOf, type Repository } from './flux-git-repository.ts'
import { projectNamed, repositoryUrl } from './made.ts'

/** Makes a GitProject of a HelmRepository, on a web server or in a registry. */
export function helmRepositoryFrom(spec: ForeignFields, ref: Ref): Repository | undefined {
  const isRegistry = spec.text('type') === 'oci' || isInRegistry(spec.text('url') ?? '')
  const url = isRegistry ? registryUrl(spec) : repositoryUrl(spec, 'url')
  // It is fetched when it is asked for, and a credential is never shown to another host.
  spec.pass('timeout')
  tellProvider(spec)
  if (spec.flag('passCredentials'))
    spec.tell('Credentials are shown to the host of the URL alone, not where a chart lies elsewhere.', 'passCredentials')
  return url === undefined ? undefined : publishedAt(spec, ref, { url, ...(!isRegistry && { type: 'helm' as const }) })
}

/** Makes one of an OCIRepository. */
export function ociRepositoryFrom(spec: ForeignFields, ref: Ref): Repository | undefined {
  const [url, wanted] = [registryUrl(spec), spec.record('ref')]
  const [digest, semver, tag] = ['digest', 'semver', 'tag'].map((field) => wanted?.text(field))
  spec.pass('timeout', 'layerSelector')
  tellProvider(spec)
  if (spec.has('layerSelector')) spec.tell('All layers that hold files are taken.', 'layerSelector')
  if (spec.flag('insecure')) spec.tell('A registry is asked by HTTPS.', 'insecure')
  const verify = verifyOf(spec)
  const made = url === undefined ? undefined : publishedAt(spec, ref, { url, ...(verify && { verify }) })
  const targetRevision = digest ?? (semver === undefined ? tag : undefined)
  return (
    made && {
      ...made,
      revision: semver !== undefined && digest === undefined ? { semver } : targetRevision ? { targetRevision } : {},
    }
  )
}

function publishedAt(
  spec: ForeignFields,
  { name, namespace = '' }: Ref,
  place: Pick<GitProjectSpec, 'url' | 'type' | 'verify'>,
): Repository {
  const project = { ...place, ...intervalOf(spec), ...credentialsOf(spec) }
  if (spec.flag('suspend')) spec.tell('It is suspended in Flux. A GitProject has no such state.', 'suspend')
  return { project: projectNamed(namespace, name, project), revision: {} }
}

function registryUrl(spec: ForeignFields): string | undefined {
  const url = spec.text('url') ?? ''
  if (isInRegistry(url)) return url
  spec.tell('A registry begins with oci://.', 'url')
  return undefined
}

function tellProvider(spec: ForeignFields): void {
  const provider = spec.text('provider') ?? 'generic'
  if (provider !== 'generic')
    spec.tell(`The identity of ${provider} is not shown to registries: put credentials into a Secret.`, 'provider')
}

/** With keys they are the same as in Flux, in the same Secret. */
function verifyOf(spec: ForeignFields): GitProjectSpec['verify'] {
  const verify = spec.record('verify')
  if (!verify) return undefined
  const [provider, name] = [verify.text('provider') ?? 'cosign', verify.record('secretRef')?.objectName('name')]
  if (provider === 'cosign' && name !== undefined) return { secretRef: { name } }
  verify.pass('matchOIDCIdentity')
  verify.tell('Signatures are verified by keys of cosign, in a Secret; without one nothing is verified.')
  return undefined
}
