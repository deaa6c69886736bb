import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { equal, ok } from 'uvu/assert'
import type { ClusterRole, KubeObject } from '../../src/api/index.ts'
import { describe } from '../support/suite.ts'
import { documents } from '../support/verbs.ts'

const folder = join(import.meta.dirname, '../../deploy/operator/roles')
const isRole = (object: KubeObject): object is ClusterRole => object.kind === 'ClusterRole'
const roles = readdirSync(folder)
  .filter((name) => name !== 'kustomization.yaml')
  .flatMap((name) => documents(readFileSync(join(folder, name), 'utf8')).filter(isRole))

/** The controllers that may do this with that, by the names of their roles. */
const whoMay = (verb: string, resource: string): string[] =>
  roles
    .filter(({ rules = [] }) => rules.some((rule) => rule.verbs.includes(verb) && rule.resources?.includes(resource)))
    .map(({ metadata }) => metadata.name.replace('berth-', ''))
    .sort()

describe('the access matrix of the seed document', (it) => {
  const rows: [verb: string, resource: string, who: string[], why: string][] = [
    ['create', 'deploymenttargets', ['devsandbox-targets'], 'only a provisioner makes targets'],
    ['delete', 'deploymenttargets', ['target-lifecycle'], 'what goes with its claim goes through one door'],
    ['create', 'spacerequests', ['devsandbox-provisioner'], 'the sandbox provisioner asks for namespaces'],
    ['delete', 'deploymenttargetclaims', ['preview', 'workspace', 'workspace-pool'], 'each takes its own along'],
    ['delete', 'environments', ['preview'], 'it takes its own along; any other belongs to whoever made it'],
    ['delete', 'workspaces', ['workspace'], 'only the record of a terminated one, when its class says so'],
    ['create', 'namespaces', ['space-request'], 'namespaces are made in one place'],
    ['delete', 'namespaces', ['space-request'], 'and deleted in the same'],
  ]
  for (const [verb, resource, who, why] of rows)
    it(`lets ${who.join(' and ') || 'nobody'} ${verb} ${resource}: ${why}`, () => equal(whoMay(verb, resource), who))

  it('lets one controller write the status of a kind', () => {
    // Each run is one controller's: its spec.dryRun, which cannot change, says whose.
    // Of a class, one writes lastAdmitted, one warmPool, and one the rest.
    const shared = new Map([
      ['gitopsdeploymentsyncruns/status', 2],
      ['workspaceclasses/status', 3],
    ])
    const statuses = roles
      .flatMap(({ rules = [] }) => rules.flatMap(({ resources = [] }) => resources))
      .filter((name) => name.endsWith('/status'))
    for (const status of new Set(statuses))
      ok(whoMay('patch', status).length <= (shared.get(status) ?? 1), `${status}: ${whoMay('patch', status).join(', ')}`)
  })
  it('lets nobody write classes and tiers', () => {
    for (const kind of ['deploymenttargetclasses', 'workspaceclasses', 'spacetiers'])
      for (const verb of ['create', 'update', 'patch', 'delete']) equal(whoMay(verb, kind), [])
  })
  it('lets the controllers of Environments only read claims and targets', () => {
    for (const kind of ['deploymenttargetclaims', 'deploymenttargets'])
      for (const verb of ['create', 'update', 'patch', 'delete']) ok(!whoMay(verb, kind).includes('environment'))
  })
})
