import {
  type GitOpsDeployment,
  type GitOpsDeploymentSpec,
  GitOpsDeployments,
  type GitProject,
  type GitProjectSpec,
  GitProjects,
  typeMetaOf,
} from '../../api/index.ts'
import type { ForeignFields } from './fields.ts'

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

/** One for each repository and namespace. */
export interface MadeProjects {
  projectFor(namespace: string, url: string): GitProject
  all(): GitProject[]
}

export function createProjects(names = createNames()): MadeProjects {
  const made = new Map<string, GitProject>()
  return {
    projectFor(namespace, url) {
      const key = `${namespace} ${url}`
      const project = made.get(key) ?? projectNamed(namespace, names.take(namespace, nameFromUrl(url), 'git'), { url })
      made.set(key, project)
      return project
    },
    all: () => [...made.values()],
  }
}

/** It rests until somebody has seen what it would do. */
export const deploymentNamed = (namespace: string, name: string, spec: GitOpsDeploymentSpec): GitOpsDeployment => ({
  ...typeMetaOf(GitOpsDeployments),
  metadata: { name, namespace },
  spec: { ...spec, suspend: true },
})

/** Another cluster is an environment here, that somebody has to make. */
export function elsewhere(
  fields: ForeignFields,
  field: string,
  { environment, namespace }: { environment: string; namespace: string | undefined },
): Pick<GitOpsDeploymentSpec, 'destination'> {
  // One of a template is said where its clusters are chosen.
  if (!environment.includes('${'))
    fields.tell(
      `For the cluster make a GitOpsDeploymentManagedEnvironment ${environment}, with its address and credentials.`,
      field,
    )
  return { destination: { environment, ...(namespace !== undefined && { namespace }) } }
}

/** A URL as Berth fetches from it: with a scheme, and without credentials. Nothing where Berth fetches nothing from there. */
export function repositoryUrl(given: string): { url: string; hadCredentials: boolean } | undefined {
  const [, user, path] = SCP.exec(given) ?? []
  if (user !== undefined) return { url: `ssh://${user}/${path}`, hadCredentials: false }
  if (!URL.canParse(given)) return undefined
  const url = new URL(given)
  if (!['http:', 'https:', 'ssh:'].includes(url.protocol)) return undefined
  const hadCredentials = url.password !== '' || (url.username !== '' && url.protocol !== 'ssh:')
  if (!hadCredentials) return { url: given, hadCredentials }
  url.password = ''
  if (url.protocol !== 'ssh:') url.username = ''
  return { url: url.href, hadCredentials }
}

/** `git@git.example.com:team-a/shop.git`, as Git itself reads it. */
const SCP = /^([\w.-]+@[\w.-]+):([^/].*)$/

/** `https://git.example.com/team-a/My_Shop.git` gives `my-shop`. */
function nameFromUrl(url: string): string {
  const last = url.split('/').findLast((part) => part !== '') ?? ''
  const words = last
    .toLowerCase()
    .replace(/\.git$/, '')
    .split(/[^a-z0-9]/)
  return (
    words
      .filter((word) => word !== '')
      .join('-')
      .slice(0, 50)
      .replace(/-$/, '') || 'repository'
  )
}
