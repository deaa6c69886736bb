import {
  type GitOpsDeployment,
  type GitOpsDeploymentSpec,
  GitOpsDeployments,
  type GitProject,
  type GitProjectSpec,
  GitProjects,
  type KubeObject,
  type RoleBinding,
  RoleBindings,
  type ServiceAccount,
  ServiceAccounts,
  typeMetaOf,
} from '../../api/index.ts'
import { type ForeignFields, isName } from './fields.ts'

/** Names that are free in their namespace. */
export interface Names {
  /** The name, or the one with the suffix, or a number more where that is taken, too. */
  take(namespace: string, name: string, suffix: string): string
}

export function createNames(): Names {
  const taken = new Set<string>()
  return {
    take(namespace, wanted, suffix) {
      const isFree = (name: string) => !taken.has(`${namespace}/${name}`)
      let found = isFree(wanted) ? wanted : `${wanted}-${suffix}`
      for (let number = 2; !isFree(found); number++) found = `${wanted}-${suffix}-${number}`
      taken.add(`${namespace}/${found}`)
      return found
    },
  }
}

export const projectNamed = (namespace: string, name: string, spec: Omit<GitProjectSpec, 'path'>): GitProject => ({
  ...typeMetaOf(GitProjects),
  metadata: { name, namespace },
  spec: { ...spec, path: `${namespace}/${name}` },
})

/** What a GitProject is of. */
export interface ProjectPlace extends Pick<GitProjectSpec, 'type'> {
  url: string
}

/** One for each repository and namespace. */
export interface MadeProjects {
  projectFor(namespace: string, place: ProjectPlace): GitProject
}

export function createProjects(names = createNames()): MadeProjects {
  const made = new Map<string, GitProject>()
  return {
    projectFor(namespace, { url, type }) {
      const key = `${namespace} ${url} ${type}`
      const spec = { url, ...(type && { type }) }
      const project = made.get(key) ?? projectNamed(namespace, names.take(namespace, nameFromUrl(url), type ?? 'git'), spec)
      made.set(key, project)
      return project
    },
  }
}

/** The service account as which is applied where the other program has none of its own: no pod runs as it. */
export const ACCOUNT = 'berth-deployer'

/** It rests until somebody has seen what it would do. */
export const deploymentNamed = (namespace: string, name: string, spec: GitOpsDeploymentSpec): GitOpsDeployment => ({
  ...typeMetaOf(GitOpsDeployments),
  metadata: { name, namespace },
  spec: restingAs(spec),
})

export const restingAs = (spec: GitOpsDeploymentSpec): GitOpsDeploymentSpec => ({
  ...spec,
  // In another cluster the credentials of the environment count.
  ...(spec.destination?.environment === undefined && { serviceAccountName: spec.serviceAccountName ?? ACCOUNT }),
  suspend: true,
})

/** The service account of a namespace, with the right to all that is in it. */
export function accountIn(namespace: string): KubeObject[] {
  const account: ServiceAccount = { ...typeMetaOf(ServiceAccounts), metadata: { name: ACCOUNT, namespace } }
  const binding: RoleBinding = {
    ...typeMetaOf(RoleBindings),
    metadata: { name: ACCOUNT, namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
    subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace }],
  }
  return [account, binding]
}

/** Names of environments, one for each address of a cluster. */
export interface Environments {
  named(cluster: string): string
}

export function createEnvironments(): Environments {
  const names = createNames()
  const known = new Map<string, string>()
  return {
    named(cluster) {
      // One of a template is said where its clusters are chosen.
      if (cluster.includes('${')) return cluster
      const name = known.get(cluster) ?? names.take('', isName(cluster) ? cluster : nameOfCluster(cluster), 'cluster')
      known.set(cluster, name)
      return name
    },
  }
}

function nameOfCluster(cluster: string): string {
  const { host, pathname } = URL.canParse(cluster) ? new URL(cluster) : { host: cluster, pathname: '' }
  return wordsIn(`${host}${pathname}`).join('-').slice(0, 100) || 'cluster'
}

/** Another cluster is an environment here, that somebody has to make. */
export function elsewhere(
  fields: ForeignFields,
  field: string,
  { cluster, environment, namespace }: { cluster: string; environment: string; namespace: string | undefined },
): Pick<GitOpsDeploymentSpec, 'destination'> {
  if (!environment.includes('${'))
    fields.tell(
      `For the cluster ${cluster} make a GitOpsDeploymentManagedEnvironment ${environment} with its credentials.`,
      field,
    )
  return { destination: { environment, ...(namespace !== undefined && { namespace }) } }
}

/** A URL as Berth fetches from it: with a scheme, and without credentials. Nothing where Berth fetches nothing from there. */
export function repositoryUrl(fields: ForeignFields, name: string): string | undefined {
  const given = fields.text(name) ?? ''
  const [, user, path] = SCP.exec(given) ?? []
  if (user !== undefined) return `ssh://${user}/${path}`
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (!url || !['http:', 'https:', 'ssh:'].includes(url.protocol)) {
    fields.tell('Berth fetches from https, http and ssh.', name)
    return undefined
  }
  const isSsh = url.protocol === 'ssh:'
  if (url.password === '' && (url.username === '' || isSsh) && url.search === '' && url.hash === '') return given
  fields.tell('Credentials in a URL, and what comes behind ? and #, are left out: put them into a Secret.', name)
  return `${url.protocol}//${isSsh && url.username ? `${url.username}@` : ''}${url.host}${url.pathname}`
}

/** `git@git.example.com:team-a/shop.git`, as Git itself reads it. */
const SCP = /^([\w.-]+@[\w.-]+):([^/].*)$/

/** `https://git.example.com/team-a/My_Shop.git` gives `my-shop`. */
function nameFromUrl(url: string): string {
  const last = url.split('/').findLast((part) => part !== '') ?? ''
  return (
    wordsIn(last.replace(/\.git$/, ''))
      .join('-')
      .slice(0, 50)
      .replace(/-$/, '') || 'repository'
  )
}

const wordsIn = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^a-z0-9]/)
    .filter((word) => word !== '')
