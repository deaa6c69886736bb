import type { ArtifactType } from '../../adapters/artifacts/index.ts'
import type { Cache } from '../../adapters/kube/index.ts'
import {
  type Agent,
  byAge,
  type GitProject,
  type Grantee,
  indexBy,
  isDeleting,
  isInRegistry,
  keyOf,
  type Ref,
  refOf,
} from '../../api/index.ts'
import { durationOf } from '../../std/index.ts'
import { numberIn, numberOf } from './number.ts'
import type { PathHolders } from './path-holders.ts'

/** A GitProject as kas works with it: defaults filled in, names made whole. */
export interface Project {
  readonly ref: Ref & { namespace: string }
  readonly uid: string
  readonly generation: number
  /** As the user wrote it; adapters/git checks it when it is used. */
  readonly url: string
  readonly type: 'git' | ArtifactType
  readonly path: string
  readonly defaultBranch: string | undefined
  readonly credentials: Ref | undefined
  readonly webhookSecret: Ref | undefined
  /** Whose signatures its commits need, and which of them. */
  readonly verify: { readonly mode: 'HEAD' | 'EveryCommit'; readonly keys: Ref } | undefined
  readonly visibility: 'private' | 'internal' | 'public'
  readonly agents: readonly Grantee[]
  readonly serviceAccounts: readonly Grantee[]
  /** Milliseconds. */
  readonly pollInterval: number
  /** The number that peers want beside the path: the same for the life of the object. */
  readonly id: bigint
  readonly createdAt: string
}

export function projectFrom(object: GitProject): Project {
  const { spec, metadata } = object
  const namespace = metadata.namespace ?? ''
  const secret = (ref: { name: string } | undefined) => (ref ? { namespace, name: ref.name } : undefined)
  const grantee = (grant: { name: string; namespace?: string }) => ({ name: grant.name, namespace: grant.namespace ?? namespace })
  const uid = metadata.uid ?? ''
  return {
    ref: { ...refOf(object), namespace },
    uid,
    generation: metadata.generation ?? 0,
    url: spec.url,
    type: spec.type ?? (isInRegistry(spec.url) ? 'oci' : 'git'),
    path: spec.path,
    defaultBranch: spec.defaultBranch,
    credentials: secret(spec.credentialsSecretRef),
    webhookSecret: secret(spec.webhookSecretRef),
    verify: spec.verify && { mode: spec.verify.mode ?? 'HEAD', keys: { namespace, name: spec.verify.secretRef.name } },
    visibility: spec.visibility ?? 'private',
    agents: (spec.grants?.agents ?? []).map(grantee),
    serviceAccounts: (spec.grants?.serviceAccounts ?? []).map(grantee),
    pollInterval: durationOf(spec.pollInterval ?? '20s'),
    id: numberOf(uid),
    createdAt: metadata.creationTimestamp ?? '',
  }
}

/** Streams depend on these fields: when one of them changes they are opened anew. */
export const sourceOf = ({ uid, url, type, credentials, defaultBranch, pollInterval, verify }: Project): string =>
  JSON.stringify([uid, url, type, credentials ? keyOf(credentials) : '', defaultBranch ?? '', pollInterval, verify ?? ''])

/** All GitProjects, by the names that callers use. */
export interface Projects {
  get(ref: Ref): Project | undefined
  in(namespace: string): Project[]
  /**
   * Those that a path can mean to somebody of this namespace: his own namespace's first, then those of namespaces that hold the
   * path; each time the oldest first. What stands anywhere else under this path means nothing to him.
   */
  named(path: string, namespace: string): Project[]
  /** All of that path, in whichever namespace: anybody may write any path. */
  called(path: string): Project[]
  /** `ref` is the project that came, changed or went, `paths` are those that it has and had. Its status is no part of it. */
  onChange(listener: (ref: Ref, paths: readonly string[]) => void): () => void
  /** Calls the listener when paths may mean other projects than before, though these are as they were. */
  onMeaningChange(listener: () => void): () => void
  /** The same for the projects that have this path, or had it. */
  onChangeAt(path: string, listener: () => void): () => void
}

export const byPath = indexBy((project: GitProject) => [project.spec.path])

/** The project that an Agent names for its configuration. */
export const configurationOf = (agent: Agent | undefined): { path: string; namespace: string | undefined } => ({
  path: agent?.spec.configurationProject ?? '',
  namespace: agent?.spec.configurationProjectNamespace,
})

/** The project of the agent's own namespace, unless the Agent names another one. Whether it may be read is not asked. */
export function configurationProjectOf(projects: Pick<Projects, 'named'>, agent: Agent): Project | undefined {
  const { path, namespace = agent.metadata.namespace ?? '' } = configurationOf(agent)
  const found = projects.named(path, namespace).find(({ ref }) => ref.namespace === namespace)
  return found && asKnownTo(agent, found)
}

/** With the number by which the agent knows it. */
export const asKnownTo = ({ status }: Agent, project: Project): Project => ({
  ...project,
  id: numberIn(status?.knownProjects ?? [], project),
})

export function projectsOf(cache: Cache<GitProject>, holders: PathHolders): Projects {
  // Who visits an agent's cluster has hundreds of them looked up for each request.
  const known = new WeakMap<GitProject, Project>()
  const projectOf = (object: GitProject): Project => {
    const project = known.get(object) ?? projectFrom(object)
    known.set(object, project)
    return project
  }
  return {
    get(ref) {
      const object = cache.get(ref)
      return object && !isDeleting(object) ? projectOf(object) : undefined
    },
    in: (namespace) => cache.in(namespace).flatMap((object) => (isDeleting(object) ? [] : [projectOf(object)])),
    named: (path, namespace) =>
      cache
        .by(byPath, path)
        .filter((object) => !isDeleting(object) && (rank(object, namespace) === 0 || holders.holds(namespaceOf(object), path)))
        .sort((a, b) => rank(a, namespace) - rank(b, namespace) || byAge(a, b))
        .map(projectOf),
    called: (path) =>
      cache
        .by(byPath, path)
        .filter((object) => !isDeleting(object))
        .map(projectOf),
    onChange: (listener) =>
      cache.onChange((now, before) => {
        const changed = now ?? before
        const paths = [now, before].flatMap((object) => (object ? [object.spec.path] : []))
        if (changed && !isSame(now, before)) listener(refOf(changed), paths)
      }),
    onMeaningChange: (listener) => holders.onChange(listener),
    onChangeAt(path, listener) {
      const forget = cache.onChangeBy(byPath, path, (now, before) => {
        if (!isSame(now, before)) listener()
      })
      const forgetHolders = holders.onChange(listener)
      return () => {
        forget()
        forgetHolders()
      }
    },
  }
}

const isSame = (now: GitProject | undefined, before: GitProject | undefined): boolean =>
  now !== undefined &&
  before !== undefined &&
  now.metadata.uid === before.metadata.uid &&
  now.metadata.generation === before.metadata.generation &&
  isDeleting(now) === isDeleting(before)

const namespaceOf = ({ metadata }: GitProject): string => metadata.namespace ?? ''
const rank = (object: GitProject, namespace: string): number => (namespaceOf(object) === namespace ? 0 : 1)
