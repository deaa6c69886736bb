import { create } from '@bufbuild/protobuf'
import * as assert from 'uvu/assert'
import { idOfInventoryKey, inventoryKeyOf } from '../../src/agent/gitops/inventory-key.ts'
import { projectsIn } from '../../src/agent/gitops/project.ts'
import { AgentConfigurationSchema } from '../../src/rpc/index.ts'
import { Failure } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'
import type { ConfigurationInit } from './foreign-kas.ts'

const projectsOf = (gitops: NonNullable<ConfigurationInit['gitops']>) =>
  projectsIn(create(AgentConfigurationSchema, { agentId: 1n, projectPath: 'team/config', gitops }))

const mistakeIn = (gitops: NonNullable<ConfigurationInit['gitops']>): string => {
  try {
    projectsOf(gitops)
  } catch (thrown) {
    return Failure.from(thrown).message
  }
  return ''
}

describe('the manifest projects of a configuration', (it) => {
  it('have the defaults of agentk', () => {
    const [project] = projectsOf({ manifestProjects: [{}] })
    assert.equal(project, {
      id: 'team/config',
      ref: { kind: 'default' },
      defaultNamespace: 'default',
      globs: ['**/*.{yaml,yml,json}'],
      kustomize: [],
      prune: true,
      propagation: 'Foreground',
      inventoryPolicy: 'must_match',
      dryRun: 'none',
      reconcileTimeout: 3_600_000,
      pruneTimeout: 3_600_000,
      deletion: 'orphan',
      namespaces: [],
      allowedKinds: [],
    })
  })

  it('take an impossible dry_run_strategy for the harmless one', () => {
    assert.is(projectsOf({ manifestProjects: [{ dryRunStrategy: 'sever' }] })[0]?.dryRun, 'client')
  })

  it('live in the first namespace where there are only some', () => {
    assert.is(projectsOf({ manifestProjects: [{}], namespaces: ['team-a', 'team-b'] })[0]?.defaultNamespace, 'team-a')
  })

  const MISTAKES = [
    { gitops: { manifestProjects: [{ id: 'a' }, { id: 'a' }] }, message: /duplicate source id/, why: 'two workers would fight' },
    {
      gitops: { manifestProjects: [{ inventoryPolicy: 'x' }] },
      message: /\[0\]\.inventory_policy is "x"/,
      why: 'it is no policy',
    },
    { gitops: { manifestProjects: [{ deletion: 'x' }] }, message: /deletion is "x"/, why: 'nobody may guess here' },
    { gitops: { manifestProjects: [{ paths: [{}] }] }, message: /paths\[0\] must have a glob/, why: 'it chooses nothing' },
    { gitops: { manifestProjects: [{ ref: {} }] }, message: /ref must name/, why: 'it names nothing' },
    {
      gitops: { manifestProjects: [{ defaultNamespace: 'A b' }] },
      message: /no name of a namespace/,
      why: 'it is part of a path',
    },
    {
      gitops: { manifestProjects: [{ defaultNamespace: 'x' }], namespaces: ['y'] },
      message: /not among gitops.namespaces/,
      why: 'the inventory would lie outside',
    },
  ]
  for (const { gitops, message, why } of MISTAKES)
    it(`are refused as a whole where ${message.source}`, () => assert.match(mistakeIn(gitops), message, why))
})

describe('a key of an inventory', (it) => {
  const PAIRS = [
    ['team_web_apps_Deployment', { group: 'apps', kind: 'Deployment', namespace: 'team', name: 'web' }],
    ['_team__Namespace', { group: '', kind: 'Namespace', name: 'team' }],
    [
      '_system__node_rbac.authorization.k8s.io_ClusterRole',
      { group: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node' },
    ],
  ] as const
  for (const [key, id] of PAIRS)
    it(`${key} is read and written as agentk does`, () => {
      assert.is(inventoryKeyOf(id), key)
      assert.equal(idOfInventoryKey(key), id)
    })

  it('names nothing where it is no key', () => {
    assert.equal(['', 'a', 'a_b', 'a_b_c', 'a__c_d', 'a_x_y_c_d'].map(idOfInventoryKey), [
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})
